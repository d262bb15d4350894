// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/conda_file.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "project/dependencies/wheel.h"

namespace tenon::project {
namespace {

using yaml::Kind;
using yaml::Node;

constexpr std::string_view kKeys[] = {"name", "channels", "dependencies", "prefix", "variables"};

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

size_t NameLength(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsNameChar(text[n])) ++n;
  return n;
}

bool HasScheme(std::string_view text) { return text.find("://") != std::string_view::npos; }

bool IsVersionControl(std::string_view text) {
  for (const std::string_view start : {"git+", "hg+", "svn+", "bzr+", "git://"}) {
    if (text.starts_with(start)) return true;
  }
  return false;
}

std::string_view WithoutQuery(std::string_view url) {
  return url.substr(0, url.find_first_of("?#"));
}

bool IsArchive(std::string_view path) {
  const std::string lower = ToLower(WithoutQuery(path));
  for (const std::string_view ending : {".whl", ".tar.gz", ".tar.bz2", ".zip", ".tgz"}) {
    if (lower.ends_with(ending)) return true;
  }
  return false;
}

bool IsPath(std::string_view text) {
  const bool drive = text.size() > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/');
  return text.starts_with('/') || text.starts_with('.') || text.starts_with('~') || drive ||
         text.find('\\') != std::string_view::npos || (!HasScheme(text) && IsArchive(text));
}

// "…/keras.git@master#egg=Keras" is named Keras; without the egg it is named keras.
std::string RepositoryName(std::string_view url) {
  if (const size_t egg = url.find("#egg="); egg != std::string_view::npos) {
    const std::string_view rest = url.substr(egg + 5);
    return std::string(rest.substr(0, NameLength(rest)));
  }
  std::string_view path = WithoutQuery(url);
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string_view last = path.substr(path.rfind('/') + 1);
  last = last.substr(0, last.find('@'));
  if (last.ends_with(".git")) last.remove_suffix(4);
  return std::string(last);
}

void ReadPlace(std::string_view text, Dependency* out) {
  out->url = text;
  if (IsVersionControl(text)) {
    out->kind = DependencyKind::kGit;
    if (out->name.empty()) out->name = RepositoryName(text);
    return;
  }
  const std::optional<WheelName> wheel = ParseWheelName(text);
  const bool local = !HasScheme(text) || text.starts_with("file://");
  out->kind = local   ? DependencyKind::kLocalFile
              : wheel ? DependencyKind::kWheelUrl
                      : DependencyKind::kUrl;
  if (wheel && out->name.empty()) out->name = wheel->name;
}

// "name [extras] constraint ; marker"
void ReadRequirement(std::string_view text, Dependency* out) {
  std::string_view rest = text;
  if (const size_t semicolon = rest.find(';'); semicolon != std::string_view::npos) {
    out->marker = Trim(rest.substr(semicolon + 1));
    rest = Trim(rest.substr(0, semicolon));
  }
  const size_t length = NameLength(rest);
  out->name = rest.substr(0, length);
  rest = Trim(rest.substr(length));
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close != std::string_view::npos) {
      out->extras = rest.substr(0, close + 1);
      rest = Trim(rest.substr(close + 1));
    }
  }
  if (rest.starts_with('@')) return ReadPlace(Trim(rest.substr(1)), out);
  out->constraint = rest;
}

void ReadOption(std::string_view text, Dependency* out) {
  const size_t end = text.find_first_of(" =\t");
  out->name = text.substr(0, end);
  std::string_view value = end == std::string_view::npos ? "" : Trim(text.substr(end + 1));
  if (out->name == "-e" || out->name == "--editable") {
    out->name.clear();
    return ReadPlace(value, out);
  }
  out->kind = DependencyKind::kPipOption;
  out->constraint = value;
}

void ReadPip(std::string_view text, Dependency* out) {
  out->kind = DependencyKind::kPip;
  if (text.starts_with('-')) return ReadOption(text, out);
  if (IsVersionControl(text) || IsPath(text)) return ReadPlace(text, out);
  const size_t scheme = text.find("://");
  const size_t at = text.find('@');
  if (scheme != std::string_view::npos && scheme < at) return ReadPlace(text, out);
  ReadRequirement(text, out);
}

// "channel::name=version=build", "name >=1.0"
void ReadConda(std::string_view text, Dependency* out) {
  out->kind = DependencyKind::kConda;
  if (HasScheme(text)) return ReadPlace(text, out);
  std::string_view rest = text;
  if (const size_t colons = rest.find("::"); colons != std::string_view::npos) {
    rest = rest.substr(colons + 2);
  }
  const size_t length = NameLength(rest);
  out->name = rest.substr(0, length);
  out->constraint = Trim(rest.substr(length));
}

class Reader {
 public:
  explicit Reader(yaml::Document document) : out_(std::move(document)) {}

  Result<CondaFile> Read() {
    const Node& top = out_.document.root();
    out_.marked_version_2 = IsMarked(out_.document.bytes());
    if (top.kind == Kind::kNull) return std::move(out_);
    if (top.kind != Kind::kMap) {
      return ErrorAt(top, "expected `dependencies`, found " + Found(top))
          .WithHint("write `dependencies:` and one `- name` per line below it");
    }
    for (const Node& node : top.children) NoteUnknown(node);
    TENON_TRY_VOID(ReadName());
    TENON_TRY_VOID(ReadChannels());
    TENON_TRY_VOID(ReadDependencies());
    NoteTwice();
    return std::move(out_);
  }

 private:
  static std::string Found(const Node& node) { return std::string(yaml::KindName(node.kind)); }

  Error ErrorAt(const Node& node, std::string_view what) const {
    return out_.document.ErrorAt(node.position, what);
  }

  void Notice(yaml::Position at, std::string_view text) {
    out_.notices.push_back(out_.document.ErrorAt(at, text).message);
  }

  // The marker is a comment, so that conda can still read the file.
  static bool IsMarked(std::string_view bytes) {
    for (const std::string& line : Split(bytes, '\n')) {
      std::string_view text = Trim(line);
      if (!text.starts_with('#')) continue;
      text = Trim(text.substr(1));
      if (!text.starts_with("[AzureMlVersion]")) continue;
      text = Trim(text.substr(16));
      if (text.starts_with('=') && Trim(text.substr(1)) == "2") return true;
    }
    return false;
  }

  void NoteUnknown(const Node& node) {
    if (std::find(std::begin(kKeys), std::end(kKeys), node.key) != std::end(kKeys)) return;
    const std::vector<std::string> names(std::begin(kKeys), std::end(kKeys));
    std::string text = "unknown key `" + ForTerminal(node.key) + "` is ignored";
    if (const auto near = DidYouMean(node.key, names)) text += "; did you mean `" + *near + "`?";
    Notice(node.key_position, text);
  }

  Status ReadName() {
    const Node* node = out_.document.root().Find("name");
    if (node == nullptr || node->kind == Kind::kNull) return {};
    if (!node->scalar()) {
      return ErrorAt(*node, "name: expected text, found " + Found(*node))
          .WithHint("write `name: project_environment`");
    }
    out_.name = node->text;
    return {};
  }

  Status ReadChannels() {
    const Node* list = out_.document.root().Find("channels");
    if (list == nullptr || list->kind == Kind::kNull) return {};
    if (list->kind != Kind::kList) {
      return ErrorAt(*list, "channels: expected a list, found " + Found(*list))
          .WithHint("write one `- conda-forge` per line below `channels:`");
    }
    for (const Node& item : list->children) {
      if (!item.scalar()) {
        return ErrorAt(item, "channels: expected the name of a channel, found " + Found(item))
            .WithHint("write `- conda-forge`");
      }
      out_.channels.push_back(
          {item.text, Origin::File(out_.file(), item.position.line, item.position.column)});
    }
    return {};
  }

  Status ReadDependencies() {
    const Node* list = out_.document.root().Find("dependencies");
    if (list == nullptr || list->kind == Kind::kNull) return {};
    if (list->kind != Kind::kList) {
      return ErrorAt(*list, "dependencies: expected a list, found " + Found(*list))
          .WithHint("write one `- name` per line below `dependencies:`");
    }
    for (size_t i = 0; i < list->children.size(); ++i) {
      const Node& item = list->children[i];
      const yaml::Path path = {"dependencies", std::to_string(i)};
      if (item.kind == Kind::kMap) {
        TENON_TRY_VOID(ReadPipPart(item, path));
      } else {
        TENON_TRY_VOID(Add(item, path, false));
      }
    }
    return {};
  }

  Status ReadPipPart(const Node& map, const yaml::Path& path) {
    const Node* list = map.Find("pip");
    if (list == nullptr || map.children.size() != 1) {
      const Node& odd = map.children.empty() ? map : *OddMember(map);
      const std::string hint =
          odd.scalar() ? "write `- " + ForTerminal(odd.key) + "=" + ForTerminal(odd.text) + "`"
                       : "write `- name=version`; only `- pip:` has items of its own";
      return out_.document
          .ErrorAt(odd.key.empty() ? odd.position : odd.key_position,
                   "dependencies: `" + ForTerminal(odd.key) + ":` is no package")
          .WithHint(hint);
    }
    yaml::Path inner = path;
    inner.push_back("pip");
    if (!out_.pip_list) out_.pip_list = inner;
    if (list->kind == Kind::kNull) return {};
    if (list->kind != Kind::kList) {
      return ErrorAt(*list, "pip: expected a list, found " + Found(*list))
          .WithHint("write one `- name` per line below `- pip:`");
    }
    for (size_t i = 0; i < list->children.size(); ++i) {
      inner.push_back(std::to_string(i));
      TENON_TRY_VOID(Add(list->children[i], inner, true));
      inner.pop_back();
    }
    return {};
  }

  static const Node* OddMember(const Node& map) {
    for (const Node& member : map.children) {
      if (member.key != "pip") return &member;
    }
    return &map;
  }

  Status Add(const Node& node, const yaml::Path& path, bool in_pip) {
    if (!node.scalar()) {
      return ErrorAt(node, (in_pip ? "pip: " : "dependencies: ") +
                               std::string("expected a package, found ") + Found(node))
          .WithHint("write `- name`, or take the line away");
    }
    Dependency item;
    if (in_pip) {
      item = ParsePipItem(node.text);
    } else {
      item.text = Trim(node.text);
      ReadConda(item.text, &item);
    }
    item.path = path;
    item.position = node.position;
    const bool named = item.kind == DependencyKind::kConda || item.kind == DependencyKind::kPip;
    if (named && item.constraint.find('#') != std::string::npos) {
      Notice(node.position, "`" + ForTerminal(item.text) +
                                "`: the `#` is part of the version; a comment needs a blank before "
                                "it");
    }
    out_.items.push_back(std::move(item));
    return {};
  }

  void NoteTwice() {
    std::map<std::string, const Dependency*> conda;
    for (const Dependency& item : out_.items) {
      if (item.name.empty() || item.kind == DependencyKind::kPipOption) continue;
      if (!item.in_pip) {
        conda.emplace(PackageKey(item.name), &item);
        continue;
      }
      const auto other = conda.find(PackageKey(item.name));
      if (other == conda.end()) continue;
      Notice(item.position, "`" + item.name + "` is in the conda part too (line " +
                                std::to_string(other->second->position.line) +
                                "); pip's comes last and wins");
    }
  }

  CondaFile out_;
};

}  // namespace

std::string_view DependencyKindName(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::kConda:
      return "conda";
    case DependencyKind::kPip:
      return "pip";
    case DependencyKind::kWheelUrl:
      return "wheel";
    case DependencyKind::kUrl:
      return "address";
    case DependencyKind::kGit:
      return "repository";
    case DependencyKind::kLocalFile:
      return "file";
    case DependencyKind::kPipOption:
      return "option";
  }
  return "conda";
}

Dependency ParsePipItem(std::string_view text) {
  Dependency item;
  item.in_pip = true;
  item.text = Trim(text);
  ReadPip(item.text, &item);
  return item;
}

std::string PackageKey(std::string_view name) {
  std::string key;
  for (const char c : ToLower(name)) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (!separator) {
      key += c;
    } else if (!key.empty() && key.back() != '-') {
      key += '-';
    }
  }
  return key;
}

std::string Dependency::ExactVersion() const {
  if (kind != DependencyKind::kConda && kind != DependencyKind::kPip) return "";
  std::string_view version = constraint;
  if (version.starts_with("==")) {
    version.remove_prefix(2);
  } else if (kind == DependencyKind::kConda && version.starts_with('=')) {
    version.remove_prefix(1);
  } else {
    return "";
  }
  version =
      Trim(version.substr(0, version.find_first_of("=#,")));  // no build, glued comment, range
  if (version.ends_with(".*")) version.remove_suffix(2);
  if (constraint.find(',') != std::string::npos || version.empty()) return "";
  return std::string(version);
}

const Dependency* CondaFile::Python() const {
  for (const Dependency& item : items) {
    if (item.kind == DependencyKind::kConda && ToLower(item.name) == "python") return &item;
  }
  return nullptr;
}

std::optional<std::pair<int, int>> CondaFile::PythonVersion() const {
  const Dependency* python = Python();
  return python == nullptr ? std::nullopt : MajorMinor(python->ExactVersion());
}

Result<CondaFile> ParseCondaFile(const std::string& file, std::string bytes) {
  TENON_TRY(yaml::Document document, yaml::Document::Parse(file, std::move(bytes)));
  return Reader(std::move(document)).Read();
}

Result<CondaFile> ReadCondaFile(const std::string& root, const std::string& file) {
  TENON_TRY(yaml::Document document, yaml::Document::Load(JoinPath(root, file), file));
  return Reader(std::move(document)).Read();
}

}  // namespace tenon::project
