// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/package_list.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "project/dependencies/requirements_file.h"
#include "project/dependencies/wheel.h"
#include "project/script_path.h"
#include "project/upgrade/upgrade_table.h"
#include "run/pypi_names.h"

namespace tenon::project {
namespace {

constexpr size_t kMostRequirements = 4u << 20;

// A line as shown in messages: without the query, which may hold a signature, and without a
// password.
std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, text.find('?')));
  const size_t scheme = shown.find("://");
  if (scheme != std::string::npos) {
    const size_t end = shown.find('/', scheme + 3);
    const size_t at = shown.rfind('@', end);
    const bool password = at != std::string::npos && at > scheme;
    if (password) shown.replace(scheme + 3, at - scheme - 3, "…");
  }
  return "`" + ForTerminal(shown) + "`";
}

bool IsUrl(std::string_view text) { return text.find("://") != std::string_view::npos; }

bool IsWindowsPath(std::string_view text) {
  return text.size() > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/');
}

bool IsArchive(std::string_view name) {
  const std::string lower = ToLower(name);
  for (const std::string_view ending : {".whl", ".tar.gz", ".tar.bz2", ".zip", ".tgz"}) {
    if (lower.ends_with(ending)) return true;
  }
  return false;
}

// Whether the wheel is only for Windows or macOS.
bool IsForOtherSystem(const WheelName& wheel) {
  return std::all_of(
      wheel.platform_tags.begin(), wheel.platform_tags.end(),
      [](const std::string& tag) { return tag.starts_with("win") || tag.starts_with("macosx"); });
}

// Splits an option into its long name and its value: "-rfile", "-i URL", "--pypi-url=URL".
std::pair<std::string, std::string> LongOption(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"-r", "--requirement"}, {"-c", "--constraint"}, {"-e", "--editable"},
      {"-i", "--index-url"},   {"-f", "--find-links"},
  };
  for (const auto& [shorter, longer] : kShort) {
    if (!text.starts_with(shorter)) continue;
    std::string_view value = text.substr(2);
    if (value.starts_with('=')) value.remove_prefix(1);
    return {std::string(longer), std::string(Trim(value))};
  }
  const size_t end = text.find_first_of(" =\t");
  if (end == std::string_view::npos) return {std::string(text), ""};
  std::string name(text.substr(0, end));
  if (name == "--pypi-url") name = "--index-url";
  return {std::move(name), std::string(Trim(text.substr(end + 1)))};
}

std::string RealPath(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) == nullptr ? std::string() : std::string(resolved);
}

}  // namespace

Result<std::string> HashOfFile(const std::string& path) {
  TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY));
  Sha256 hash;
  std::array<char, 64 * 1024> buffer;
  for (uint64_t offset = 0;;) {
    TENON_TRY(const size_t n, ReadAt(fd.get(), buffer, offset));
    if (n == 0) break;
    hash.Update({buffer.data(), n});
    offset += n;
  }
  return hash.Finish().Hex();
}

Status PackageList::AddFile(const std::string& path) {
  if (files_.contains(path)) return {};
  TENON_TRY_VOID(CheckReallyInside(path, ForTerminal(path)));
  Result<std::string> hash = HashOfFile(JoinPath(root_, path));
  if (!hash.ok()) return std::move(hash).error().Wrap("reading " + ForTerminal(path));
  files_[path] = std::move(hash).value();
  return {};
}

Status PackageList::AddFile(const std::string& path, std::string_view what_counts) {
  TENON_TRY_VOID(CheckReallyInside(path, path));
  files_[path] = Sha256Of(what_counts).Hex();
  return {};
}

run::Packages PackageList::Take() {
  for (auto& [path, hash] : files_) packages_.files.push_back({path, std::move(hash)});
  files_.clear();
  run::SetPypiNames(&packages_);
  return std::move(packages_);
}

void PackageList::NotePassword(std::string_view text, const std::string& where) {
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return;
  const std::string_view rest = text.substr(scheme + 3);
  const std::string_view login = rest.substr(0, std::min(rest.find('@'), rest.find('/')));
  if (login.size() == rest.size() || rest[login.size()] != '@') return;
  const size_t colon = login.find(':');
  if (colon == std::string_view::npos || login.substr(colon + 1).starts_with("${")) return;
  Notice(where +
         ": a password in this line is kept with every run; write ${NAME} in its place and give "
         "it with `--secret NAME`");
}

// ---- The upgrade table ----------------------------------------------------------------------

UpgradeThing PackageList::ThingOf(const Dependency& item) const {
  UpgradeThing thing{UpgradeSubject::kPackage, item.url, "", kClassic, 6};
  if (old_python_) thing.facts |= kOldPython;
  if (item.kind == DependencyKind::kPipOption) {
    const auto [name, value] = LongOption(item.text);
    thing.subject = UpgradeSubject::kPipOption;
    thing.text = name + " " + value;
  } else if (ParseWheelName(item.url)) {
    thing.subject = UpgradeSubject::kWheel;
  } else if (item.kind != DependencyKind::kConda && item.kind != DependencyKind::kPip) {
    thing.subject = UpgradeSubject::kPlace;
  } else {
    thing.text = PackageKey(item.name);
  }
  return thing;
}

bool PackageList::Dropped(const Dependency& item, const Line& line) {
  UpgradeThing thing = ThingOf(item);
  const UpgradeRow* row = FindUpgrade(thing);
  if (row == nullptr || row->action != UpgradeAction::kDrop) {
    // Without kModern, the table keeps packages of services that no longer exist. No run needs
    // them: the shim answers their imports.
    thing.facts |= kModern;
    row = FindUpgrade(thing);
  }
  if (row == nullptr || row->action != UpgradeAction::kDrop) return false;
  Notice(line.where() + ": " + Shown(line.text) + " is left out: " + std::string(row->reason));
  return true;
}

// For hosts that no longer answer: the line stays, and a notice says what will happen.
void PackageList::NoteGone(const Dependency& item, const Line& line) {
  const UpgradeThing thing = ThingOf(item);
  if (thing.subject != UpgradeSubject::kWheel && thing.subject != UpgradeSubject::kPlace) return;
  const UpgradeRow* row = FindUpgrade(thing);
  if (row == nullptr || row->action != UpgradeAction::kReplace) return;
  const std::string instead = line.conda_file ? "`tenon config upgrade` offers a replacement"
                                              : "write `" + std::string(row->write) + "`";
  Notice(line.where() + ": " + Shown(line.text) + ": " + std::string(row->reason) + "; " + instead);
}

// ---- Conda items ---------------------------------------------------------------------------

void PackageList::AddPython(const Dependency& item, const Line& line) {
  std::string constraint;
  for (const char c : item.constraint) {
    if (c != ' ' && c != '\t') constraint += c;
  }
  if (constraint.starts_with('=') && !constraint.starts_with("==")) {
    constraint = constraint.substr(0, constraint.find('=', 1));  // drops the build
  } else if (!constraint.empty() && constraint[0] >= '0' && constraint[0] <= '9') {
    constraint.insert(0, "=");  // "python 3.6"
  }
  if (constraint.empty()) constraint = ">=3";
  if (packages_.python.empty()) {
    packages_.python = constraint;
    packages_.python_where = line.where();
  } else if (packages_.python != constraint) {
    packages_.python += "," + constraint;
  }
}

Status PackageList::AddItem(const Dependency& item, const std::string& file) {
  const Line line{item.text, file, item.position.line, true};
  if (item.in_pip) return AddPip(line);
  NotePassword(item.text, line.where());
  if (item.kind == DependencyKind::kConda) {
    if (item.name.empty() || item.name.find_first_not_of('.') == std::string::npos) {
      return Invalid(line.where() + ": " + Shown(item.text) + " is no package of conda")
          .WithHint("write `- name=version`; files and addresses belong below `- pip:`");
    }
    if (Dropped(item, line)) return {};
    if (ToLower(item.name) == "python") {
      AddPython(item, line);
    } else {
      packages_.conda.push_back({item.text, ToLower(item.name), line.where()});
    }
    return {};
  }
  const std::string path = ToLower(item.url.substr(0, item.url.find_first_of("?#")));
  if (path.ends_with(".tar.bz2") || path.ends_with(".conda")) {
    packages_.conda.push_back({item.text, "", line.where()});
    return {};
  }
  const size_t before = packages_.pip.size();
  TENON_TRY_VOID(AddPip(line));
  if (packages_.pip.size() > before) {
    Notice(line.where() + ": " + Shown(item.text) +
           " is no package of conda; it is installed by pip");
  }
  return {};
}

// ---- Lines of pip --------------------------------------------------------------------------

Status PackageList::AddPip(const Line& line) {
  NotePassword(line.text, line.where());
  if (line.text.starts_with('-')) return AddOption(line);
  const RequirementParts parts = SplitRequirement(line.text);
  Dependency item = ParsePipItem(parts.head);
  if (Dropped(item, line)) return {};
  if (IsWindowsPath(item.url)) {
    return Invalid(line.where() + ": " + Shown(line.text) + " is a path of Windows")
        .WithHint("copy the file into the project and write its path from there: `./wheels/…`");
  }
  const std::optional<WheelName> wheel = ParseWheelName(item.url);
  const bool marked = parts.tail.find(';') != std::string_view::npos || !item.marker.empty();
  if (wheel && IsForOtherSystem(*wheel) && !marked) {
    std::string hint = "`tenon config upgrade` shows what to write instead";
    if (!line.conda_file) {
      hint = run::IsKnownOnPypi(wheel->name) ? "write `" + wheel->name + "==" + wheel->version + "`"
                                             : "name a wheel of the same project for Linux";
    }
    return Invalid(line.where() + ": " + Shown(line.text) + " is a wheel for " +
                   WheelSystem(*wheel) + ", but the run is on Linux")
        .WithHint(std::move(hint));
  }
  if (item.kind == DependencyKind::kLocalFile && !item.url.starts_with("file://")) {
    return AddLocalFile(item, line, parts.tail);
  }
  std::string text = line.text;
  constexpr std::string_view kOldProtocol = "git+git://github.com/";
  if (const size_t at = text.find(kOldProtocol); at != std::string::npos) {
    text.replace(at, kOldProtocol.size(), "git+https://github.com/");
    Notice(line.where() + ": " + Shown(line.text) +
           ": GitHub answers no git:// any more; https:// is used");
  } else {
    NoteGone(item, line);
  }
  packages_.pip.push_back({std::move(text), PackageKey(item.name), line.where()});
  return {};
}

Status PackageList::AddOption(const Line& line) {
  const auto [name, value] = LongOption(line.text);
  if (name == "--editable") return AddEditable(line, value);
  if (name == "--requirement") return Include(line, value);
  if (name == "--constraint") return AddConstraints(line, value);
  Dependency item;
  item.kind = DependencyKind::kPipOption;
  item.text = line.text;
  if (Dropped(item, line)) return {};
  if (name == "--find-links" && !IsUrl(value) && !value.starts_with('/') &&
      !value.starts_with("${")) {
    return AddFindLinks(line, value);
  }
  packages_.pip_options.push_back({value.empty() ? name : name + " " + value, "", line.where()});
  return {};
}

Status PackageList::AddEditable(const Line& line, std::string_view place) {
  const Dependency item = ParsePipItem(SplitRequirement(place).head);
  if (item.kind != DependencyKind::kGit) {
    return Invalid(line.where() + ": " + Shown(line.text) +
                   ": an environment cannot hold a folder that changes")
        .WithHint(
            "the project's own modules can be imported without this line; of another package make "
            "a wheel (`pip wheel --no-deps FOLDER`) and name that");
  }
  Notice(line.where() + ": " + Shown(line.text) + " is installed without -e");
  Line plain = line;
  plain.text = place;
  return AddPip(plain);
}

Status PackageList::AddConstraints(const Line& line, const std::string& typed) {
  if (IsUrl(typed)) {
    packages_.pip_options.push_back({"--constraint " + typed, "", line.where()});
    return {};
  }
  TENON_TRY(const std::string path, FindFile(line, typed, false));
  Result<std::string> bytes = ReadFile(JoinPath(root_, path), kMostRequirements);
  if (!bytes.ok()) return std::move(bytes).error().Wrap(line.where());
  TENON_TRY(const std::vector<RequirementLine> lines, ParseRequirements(path, *bytes));
  std::string counts;
  for (const RequirementLine& entry : lines) counts += entry.text + "\n";
  TENON_TRY_VOID(AddFile(path, counts));
  packages_.pip_options.push_back({"--constraint ./" + path, "", line.where()});
  return {};
}

Status PackageList::AddFindLinks(const Line& line, const std::string& typed) {
  TENON_TRY(const std::string path, FindFile(line, typed, false));
  if (!IsDirectory(JoinPath(root_, path))) {
    TENON_TRY_VOID(AddFile(path));
  } else {
    TENON_TRY(const std::vector<std::string> names, ListDir(JoinPath(root_, path)));
    for (const std::string& name : names) {
      const std::string file = path.empty() ? name : JoinPath(path, name);
      if (!IsArchive(name) || IsDirectory(JoinPath(root_, file))) continue;
      TENON_TRY_VOID(AddFile(file));
    }
  }
  packages_.pip_options.push_back({"--find-links ./" + path, "", line.where()});
  return {};
}

Status PackageList::Include(const Line& line, const std::string& typed) {
  if (IsUrl(typed)) {
    return Invalid(line.where() + ": " + Shown(line.text) + " is not in the project")
        .WithHint("copy that file into the project");
  }
  TENON_TRY(const std::string path, FindFile(line, typed, false));
  if (std::find(including_.begin(), including_.end(), path) != including_.end()) {
    return Invalid(line.where() + ": " + ForTerminal(path) + " includes itself")
        .WithHint("take this line away");
  }
  if (included_.contains(path)) return {};
  Result<std::string> bytes = ReadRequirements(path);
  if (!bytes.ok()) return std::move(bytes).error().Wrap(line.where());
  return AddRequirementLines(path, *bytes);
}

Result<std::string> PackageList::ReadRequirements(const std::string& file) const {
  Result<std::string> bytes = ReadFile(JoinPath(root_, file), kMostRequirements);
  if (!bytes.ok()) return std::move(bytes).error().Wrap("reading " + ForTerminal(file));
  return bytes;
}

Status PackageList::AddRequirements(const std::string& file) {
  TENON_TRY(const std::string bytes, ReadRequirements(file));
  return AddRequirementLines(file, bytes);
}

Status PackageList::AddRequirementLines(const std::string& file, const std::string& bytes) {
  TENON_TRY(const std::vector<RequirementLine> lines, ParseRequirements(file, bytes));
  included_.insert(file);
  including_.push_back(file);
  for (const RequirementLine& line : lines) {
    TENON_TRY_VOID(AddPip({line.text, file, line.line, false}));
  }
  including_.pop_back();
  return {};
}

// ---- Files of the project ------------------------------------------------------------------

Status PackageList::AddLocalFile(const Dependency& item, const Line& line, std::string_view tail) {
  std::string path = item.url;
  std::string extras;
  if (path.ends_with(']')) {
    const size_t open = path.rfind('[');
    if (open != std::string::npos) {
      extras = path.substr(open);
      path.resize(open);
    }
  }
  path.resize(std::min(path.find('#'), path.size()));
  if (path.starts_with('/') && !path.starts_with(root_ + "/")) {
    packages_.pip.push_back({line.text, PackageKey(item.name), line.where()});
    return {};
  }
  if (path.starts_with('~')) {
    return Invalid(line.where() + ": " + Shown(line.text) + ": `~` is not the same everywhere")
        .WithHint("copy the file into the project and write its path from there: `./wheels/…`");
  }
  TENON_TRY(const std::string found, FindFile(line, path, true));
  if (IsDirectory(JoinPath(root_, found))) {
    return Invalid(line.where() + ": " + Shown(line.text) + " is a folder")
        .WithHint("make a wheel of it (`pip wheel --no-deps FOLDER`) and name that");
  }
  TENON_TRY_VOID(AddFile(found));
  const std::optional<WheelName> wheel = ParseWheelName(path);
  const std::string name = item.name.empty() && wheel ? wheel->name : item.name;
  packages_.pip.push_back(
      {"./" + found + extras + std::string(tail), PackageKey(name), line.where()});
  return {};
}

Result<std::string> PackageList::FindFile(const Line& line, const std::string& typed,
                                          bool root_first) const {
  const std::string beside = JoinPath(root_, DirName(line.file));
  std::vector<std::string> folders{beside, root_};
  if (root_first) std::swap(folders[0], folders[1]);
  std::optional<Error> first;
  for (const std::string& folder : folders) {
    Result<std::string> found = FileInProject(root_, folder, typed, "the file");
    // FileInProject refuses folders; some callers accept one.
    const std::string as_folder = RealPath(JoinPath(folder, typed));
    if (!found.ok() && IsDirectory(as_folder) && (as_folder + "/").starts_with(root_ + "/")) {
      return as_folder == root_ ? std::string() : as_folder.substr(root_.size() + 1);
    }
    if (found.ok()) {
      TENON_TRY_VOID(CheckReallyInside(*found, line.where()));
      return found;
    }
    if (!first) first = std::move(found).error();
  }
  return std::move(*first).Wrap(line.where());
}

// A link that leads out of the project would be broken on another machine.
Status PackageList::CheckReallyInside(const std::string& path, const std::string& where) const {
  const std::string real = RealPath(JoinPath(root_, path));
  if (real.empty() || real.starts_with(RealPath(root_) + "/")) return {};
  return Invalid(where + ": `" + ForTerminal(path) + "` is a link that leads out of the project")
      .WithHint("copy the file into the project: only the project's folder is taken along");
}

}  // namespace tenon::project
