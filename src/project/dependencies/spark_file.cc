// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/spark_file.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace tenon::project {
namespace {

using yaml::Kind;
using yaml::Node;

constexpr std::string_view kKeys[] = {"configuration", "repositories", "packages", "version"};
constexpr std::string_view kPackageKeys[] = {"group", "artifact", "version"};

class Reader {
 public:
  explicit Reader(yaml::Document document) : out_(std::move(document)) {}

  Result<SparkFile> Read() {
    const Node& top = out_.document.root();
    if (top.kind == Kind::kNull) return std::move(out_);
    if (top.kind != Kind::kMap) {
      return ErrorAt(top,
                     "expected `configuration`, `repositories` and `packages`, found " + Found(top))
          .WithHint("write `configuration:` and one `key: value` per line below it");
    }
    for (const Node& node : top.children) NoteUnknown(node, kKeys);
    TENON_TRY_VOID(ReadConfiguration());
    TENON_TRY_VOID(ReadRepositories());
    TENON_TRY_VOID(ReadPackages());
    TENON_TRY_VOID(ReadVersion());
    return std::move(out_);
  }

 private:
  static std::string Found(const Node& node) { return std::string(yaml::KindName(node.kind)); }

  Error ErrorAt(const Node& node, std::string_view what) const {
    return out_.document.ErrorAt(node.position, what);
  }

  Origin OriginOf(const Node& node) const {
    return Origin::File(out_.file(), node.position.line, node.position.column);
  }

  template <size_t N>
  void NoteUnknown(const Node& node, const std::string_view (&keys)[N]) {
    if (std::find(std::begin(keys), std::end(keys), node.key) != std::end(keys)) return;
    const std::vector<std::string> names(std::begin(keys), std::end(keys));
    std::string text = "unknown key `" + ForTerminal(node.key) + "` is ignored";
    if (const auto near = DidYouMean(node.key, names)) text += "; did you mean `" + *near + "`?";
    out_.notices.push_back(out_.document.ErrorAt(node.key_position, text).message);
  }

  // The list with the key `key`; nullptr when there is none.
  Result<const Node*> List(std::string_view key, std::string_view example) const {
    const Node* list = out_.document.root().Find(key);
    if (list == nullptr || list->kind == Kind::kNull) return static_cast<const Node*>(nullptr);
    if (list->kind != Kind::kList) {
      return ErrorAt(*list, std::string(key) + ": expected a list, found " + Found(*list))
          .WithHint("write one `- " + std::string(example) + "` per line below `" +
                    std::string(key) + ":`");
    }
    return list;
  }

  Status ReadConfiguration() {
    const Node* map = out_.document.root().Find("configuration");
    if (map == nullptr || map->kind == Kind::kNull) return {};
    if (map->kind != Kind::kMap) {
      return ErrorAt(*map, "configuration: expected names with values, found " + Found(*map))
          .WithHint("write one `\"spark.executor.cores\": 2` per line below `configuration:`");
    }
    for (const Node& node : map->children) {
      if (!node.scalar() && node.kind != Kind::kNull) {
        return ErrorAt(node, "configuration: " + ForTerminal(node.key) + ": expected text, found " +
                                 Found(node))
            .WithHint("put the value in quotes");
      }
      out_.configuration.emplace_back(node.key, Setting<std::string>{node.text, OriginOf(node)});
    }
    return {};
  }

  Status ReadRepositories() {
    TENON_TRY(const Node* list, List("repositories", "\"https://repo.maven.apache.org/maven2\""));
    if (list == nullptr) return {};
    for (const Node& item : list->children) {
      if (!item.scalar()) {
        return ErrorAt(item, "repositories: expected an address, found " + Found(item))
            .WithHint("write `- \"https://repo.maven.apache.org/maven2\"`");
      }
      out_.repositories.push_back({item.text, OriginOf(item)});
    }
    return {};
  }

  Status ReadPackages() {
    TENON_TRY(const Node* list, List("packages", "group: name"));
    if (list == nullptr) return {};
    for (const Node& item : list->children) {
      if (item.kind != Kind::kMap) {
        return ErrorAt(item, "packages: expected group, artifact and version, found " + Found(item))
            .WithHint("write `- {group: \"g\", artifact: \"a\", version: \"1.0\"}`");
      }
      for (const Node& member : item.children) NoteUnknown(member, kPackageKeys);
      SparkPackage package;
      package.origin = OriginOf(item);
      TENON_TRY(package.group, PackagePart(item, "group"));
      TENON_TRY(package.artifact, PackagePart(item, "artifact"));
      TENON_TRY(package.version, PackagePart(item, "version"));
      out_.packages.push_back(std::move(package));
    }
    return {};
  }

  Result<std::string> PackagePart(const Node& package, std::string_view key) const {
    const Node* node = package.Find(key);
    const std::string name(key);
    if (node == nullptr || node->kind == Kind::kNull) {
      return ErrorAt(node ? *node : package, "packages: `" + name + "` is missing")
          .WithHint("write `" + name + ": \"value\"`");
    }
    if (!node->scalar()) {
      return ErrorAt(*node, "packages: " + name + ": expected text, found " + Found(*node))
          .WithHint("write `" + name + ": \"value\"`");
    }
    return node->text;
  }

  Status ReadVersion() {
    const Node* node = out_.document.root().Find("version");
    if (node == nullptr || node->kind == Kind::kNull) return {};
    const bool digits = node->scalar() && !node->text.empty() && node->text.size() < 6 &&
                        std::all_of(node->text.begin(), node->text.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) {
      return ErrorAt(*node, "version: expected a whole number").WithHint("write `version: 2`");
    }
    out_.version = std::stoi(node->text);
    return {};
  }

  SparkFile out_;
};

}  // namespace

Result<SparkFile> ParseSparkFile(const std::string& file, std::string bytes) {
  TENON_TRY(yaml::Document document, yaml::Document::Parse(file, std::move(bytes)));
  return Reader(std::move(document)).Read();
}

Result<SparkFile> ReadSparkFile(const std::string& root, const std::string& file) {
  TENON_TRY(yaml::Document document, yaml::Document::Load(JoinPath(root, file), file));
  return Reader(std::move(document)).Read();
}

}  // namespace tenon::project
