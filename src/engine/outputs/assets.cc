// SPDX-License-Identifier: Apache-2.0
#include "engine/outputs/assets.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "engine/outputs/artifacts.h"
#include "engine/run/write_tree.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::engine {
namespace {

constexpr size_t kLongestName = 200;
constexpr std::string_view kSuffix = ".json";

std::string Root(const Context& context) { return JoinPath(context.home.root(), "assets"); }

// Ids come from users' files. An id that can't be a folder's name is hashed.
std::string ProjectFolderName(std::string_view id) {
  const bool plain =
      !id.empty() && id.size() <= 100 &&
      id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
  return plain ? std::string(id) : "id-" + Sha256Of(id).Hex().substr(0, 32);
}

std::string NameFolder(const Context& context, std::string_view project_id, std::string_view name) {
  return JoinPath(JoinPath(Root(context), ProjectFolderName(project_id)), name);
}

std::string FileOf(const Context& context, const Asset& asset) {
  return JoinPath(NameFolder(context, asset.project_id, asset.name),
                  std::to_string(asset.version) + std::string(kSuffix));
}

int64_t ToVersion(std::string_view text) {
  int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() && version > 0 ? version : 0;
}

// A folder that does not exist is empty.
Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  auto names = ListDir(folder);
  if (!names.ok()) {
    if (names.error().kind == ErrorKind::kNotFound) return std::vector<std::string>{};
    return std::move(names).error();
  }
  std::sort(names->begin(), names->end());
  return names;
}

Result<std::vector<int64_t>> VersionsIn(const std::string& folder) {
  TENON_TRY(const auto names, NamesIn(folder));
  std::vector<int64_t> versions;
  for (std::string_view name : names) {
    if (!name.ends_with(kSuffix)) continue;
    name.remove_suffix(kSuffix.size());
    if (const int64_t version = ToVersion(name)) versions.push_back(version);
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

Result<Asset> ReadAsset(const std::string& path) {
  constexpr const char* kHint =
      "delete it to give the asset up; `tenon history promote` makes it again";
  const auto text = ReadFile(path, 1u << 20);
  if (!text.ok()) return Error(text.error()).WithHint(kHint);
  auto value = json::Parse(*text);
  auto asset = value.ok() && value->is_object()
                   ? Asset::FromJson(value->as_object())
                   : Result<Asset>(Corrupt("not the record of an asset"));
  if (asset.ok()) return asset;
  return std::move(asset).error().Wrap(path).WithHint(kHint);
}

std::string Plain(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  while (path.starts_with("./")) path.erase(0, 2);
  while (path.size() > 1 && path.ends_with("/")) path.pop_back();
  return path;
}

bool IsLog(std::string_view path) { return !path.starts_with("outputs/") && path != "outputs"; }

// Puts a log into the store: until now it is no object, only records.
Status KeepLog(Context& context, const journal::RunView& run, Asset* asset) {
  const std::string temporary = JoinPath(context.home.root(), "promote-" + RandomHex(8));
  auto status = [&]() -> Status {
    TENON_TRY(auto fd, OpenFile(temporary, O_RDWR | O_CREAT | O_EXCL, 0600));
    TENON_TRY_VOID(ReadArtifact(context, run, asset->artifact, [&](std::string_view bytes) {
      asset->size += bytes.size();
      return WriteAll(fd.get(), bytes);
    }));
    TENON_TRY(auto again, OpenFile(temporary, O_RDONLY));
    TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
    TENON_TRY(const Hash hash, objects->PutFile(again.get(), asset->size));
    TENON_TRY_VOID(objects->Flush());
    asset->hash = hash.Hex();
    return {};
  }();
  (void)RemoveFile(temporary).ok();
  return status;
}

// Keeps the file or folder of the run's outputs: its objects are marked as used now.
Status KeepOutput(Context& context, const journal::RunView& run, Asset* asset) {
  const auto root = Hash::FromHex(run.outputs_tree);
  if (!root) return NoSuchArtifact(run, asset->artifact);
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  if (asset->artifact == "outputs") {
    asset->folder = true;
    asset->mode = 0755;
    asset->hash = run.outputs_tree;
  } else {
    auto entry = snapshot::Find(*objects, *root,
                                asset->artifact.substr(std::string_view("outputs/").size()));
    if (!entry.ok()) {
      if (entry.error().kind == ErrorKind::kNotFound) return NoSuchArtifact(run, asset->artifact);
      return std::move(entry).error();
    }
    if (entry->type == snapshot::EntryType::kSymlink) {
      return Invalid(ForTerminal(asset->artifact) + " is a symbolic link to " +
                     ForTerminal(entry->target))
          .WithHint("promote what it points to");
    }
    asset->folder = entry->type == snapshot::EntryType::kFolder;
    asset->mode = entry->mode;
    asset->hash = entry->hash.Hex();
    asset->size = asset->folder ? 0 : entry->size;
  }
  const auto hash = Hash::FromHex(asset->hash);
  if (!asset->folder) {
    if (objects->Keep(*hash, asset->size)) return {};
    return Corrupt("the contents of " + ForTerminal(asset->artifact) + " are not in the store");
  }
  asset->files = 0;
  return snapshot::Walk(*objects, *hash, [&](const snapshot::Entry& entry) -> Status {
    TENON_EXPECT_PEER(
        entry.type != snapshot::EntryType::kSymlink,
        "the outputs have a symbolic link, " + ForTerminal(entry.path) + ", which no run records");
    if (entry.type != snapshot::EntryType::kFile) return {};
    ++asset->files;
    asset->size += entry.size;
    if (objects->Keep(entry.hash, entry.size)) return {};
    return Corrupt("the contents of " + ForTerminal(entry.path) + " are not in the store");
  });
}

Error NotHere(const AssetLink& link, const std::vector<Asset>& all) {
  auto error = NotFound("the asset " + ForTerminal(link.name) + ", version " +
                        ForTerminal(link.version) + ", is not on this machine");
  std::set<std::string> versions;
  for (const Asset& asset : all) {
    if (asset.name == link.name) versions.insert(std::to_string(asset.version));
  }
  if (!versions.empty()) {
    const std::vector<std::string> list(versions.begin(), versions.end());
    return std::move(error).WithHint("there are versions " + Join(list, ", ") +
                                     " of it; the number is in the link file");
  }
  return std::move(error).WithHint(
      "what was promoted elsewhere stayed there; make it again from a run here: tenon history "
      "promote -r RUN -ap outputs/FILE -n " +
      ForTerminal(link.name));
}

}  // namespace

json::Object Asset::ToJson() const {
  return json::Object{{"name", json::EncodeBytes(name)},
                      {"version", version},
                      {"kind", folder ? "folder" : "file"},
                      {"hash", hash},
                      {"mode", mode},
                      {"size", size},
                      {"files", files},
                      {"artifact", json::EncodeBytes(artifact)},
                      {"run_id", json::EncodeBytes(run_id)},
                      {"project", json::EncodeBytes(project)},
                      {"project_id", json::EncodeBytes(project_id)},
                      {"created_us", created_us}};
}

Result<Asset> Asset::FromJson(const json::Object& object) {
  Asset asset;
  asset.name = json::DecodeBytes(json::GetString(object, "name"));
  asset.version = json::GetInt(object, "version");
  asset.folder = json::GetString(object, "kind") == "folder";
  asset.hash = json::GetString(object, "hash");
  asset.mode = static_cast<uint32_t>(json::GetInt(object, "mode", 0644));
  asset.size = static_cast<uint64_t>(json::GetInt(object, "size"));
  asset.files = static_cast<uint64_t>(json::GetInt(object, "files", 1));
  asset.artifact = json::DecodeBytes(json::GetString(object, "artifact"));
  asset.run_id = json::DecodeBytes(json::GetString(object, "run_id"));
  asset.project = json::DecodeBytes(json::GetString(object, "project"));
  asset.project_id = json::DecodeBytes(json::GetString(object, "project_id"));
  asset.created_us = json::GetInt(object, "created_us");
  if (!CheckAssetName(asset.name).ok() || asset.version <= 0 || !Hash::FromHex(asset.hash)) {
    return Corrupt("the record of an asset is damaged");
  }
  return asset;
}

std::string LinkText(const AssetLink& link) {
  return json::Print(json::Object{{"assetSource", "azureml"},
                                  {"name", json::EncodeBytes(link.name)},
                                  {"version", json::EncodeBytes(link.version)}});
}

Result<AssetLink> ParseLink(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  auto value = json::Parse(text);
  if (!value.ok()) return Invalid("this is no link file: " + value.error().message);
  AssetLink link;
  if (value->is_object()) {
    const json::Object& object = value->as_object();
    link.name = json::DecodeBytes(json::GetString(object, "name"));
    link.version = json::GetString(object, "version");
    if (link.version.empty()) {  // a number is accepted, too
      const int64_t number = json::GetInt(object, "version");
      if (number > 0) link.version = std::to_string(number);
    }
  }
  if (link.name.empty() || link.version.empty()) {
    return Invalid("this is no link file: it needs a name and a version")
        .WithHint(R"(such as {"assetSource":"azureml","name":"model.pkl","version":"1"})");
  }
  TENON_TRY_VOID(CheckAssetName(link.name));
  return link;
}

Status CheckAssetName(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
                    name.find_first_of("/\\") == std::string_view::npos && IsUtf8(name) &&
                    ForTerminal(name) == name &&
                    name.find_first_of("\n\t") == std::string_view::npos;
  if (good) return {};
  return Invalid("`" + ForTerminal(name) + "` cannot be the name of an asset")
      .WithHint("it becomes a file's name: up to 200 bytes, no slashes; for example model.pkl");
}

Result<Asset> Promote(Context& context, const journal::RunView& run, const std::string& artifact,
                      const std::string& name, int64_t at_least) {
  TENON_TRY_VOID(CheckAssetName(name));
  Asset asset;
  asset.name = name;
  asset.artifact = Plain(artifact);
  asset.run_id = run.spec.id;
  asset.project = run.spec.project;
  asset.project_id = run.spec.project_id;
  asset.created_us = context.clock->NowUs();
  if (!run::IsFinal(run.state)) {
    return Invalid("the run " + run.spec.id + " is " + std::string(run::StateName(run.state)) +
                   "; its outputs are collected when it ends")
        .WithHint("tenon logs -f " + run.spec.id + " waits for it");
  }
  if (IsLog(asset.artifact)) {
    const std::vector<std::string> names = ArtifactNames(run);
    if (std::find(names.begin(), names.end(), asset.artifact) == names.end()) {
      return NoSuchArtifact(run, asset.artifact);
    }
    TENON_TRY_VOID(KeepLog(context, run, &asset));
  } else {
    TENON_TRY_VOID(KeepOutput(context, run, &asset));
  }
  // After this the contents are in the store and marked as used now. Only the asset's record is
  // missing.
  const std::string folder = NameFolder(context, asset.project_id, asset.name);
  TENON_TRY_VOID(MakeDirs(folder, 0700));
  TENON_TRY(auto lock, FileLock::Take(JoinPath(folder, ".lock"), /*wait=*/true));
  TENON_TRY(const auto versions, VersionsIn(folder));
  asset.version = std::max(versions.empty() ? 0 : versions.back(), at_least) + 1;
  TENON_TRY_VOID(WriteFileAtomically(FileOf(context, asset),
                                     json::PrintPretty(asset.ToJson()) + "\n", 0600,
                                     Durability::kPowerLoss));
  return asset;
}

Result<std::vector<Asset>> ListAssets(Context& context, const std::string& project_id,
                                      std::vector<Error>* unreadable) {
  std::vector<std::string> projects;
  if (project_id.empty()) {
    TENON_TRY(projects, NamesIn(Root(context)));
  } else {
    projects.push_back(ProjectFolderName(project_id));
  }
  std::vector<Asset> assets;
  for (const std::string& project : projects) {
    const std::string folder = JoinPath(Root(context), project);
    TENON_TRY(const auto names, NamesIn(folder));
    for (const std::string& name : names) {
      const std::string of_name = JoinPath(folder, name);
      TENON_TRY(const auto versions, VersionsIn(of_name));
      for (const int64_t version : versions) {
        auto asset = ReadAsset(JoinPath(of_name, std::to_string(version) + std::string(kSuffix)));
        if (asset.ok()) {
          assets.push_back(*std::move(asset));
        } else if (unreadable != nullptr) {
          unreadable->push_back(std::move(asset).error());
        } else {
          return std::move(asset).error();
        }
      }
    }
  }
  return assets;
}

Result<Asset> FindAsset(Context& context, const std::string& project_id, const AssetLink& link) {
  std::vector<Error> unreadable;  // of other assets, or this one
  TENON_TRY(const auto all, ListAssets(context, "", &unreadable));
  std::vector<const Asset*> others;
  for (const Asset& asset : all) {
    if (asset.name != link.name || asset.version != ToVersion(link.version)) continue;
    if (asset.project_id == project_id) return asset;
    others.push_back(&asset);
  }
  if (others.empty() && !unreadable.empty()) return std::move(unreadable.front());
  if (others.empty()) return NotHere(link, all);
  if (others.size() == 1) return *others.front();
  std::vector<std::string> projects;
  for (const Asset* asset : others) projects.push_back(ForTerminal(asset->project));
  return Invalid("several projects have an asset " + ForTerminal(link.name) + ", version " +
                 ForTerminal(link.version) + ": " + Join(projects, ", "))
      .WithHint("--project DIR says which one is meant");
}

Result<std::vector<std::string>> DownloadAsset(Context& context, const Asset& asset,
                                               const std::string& folder,
                                               const std::string& link_name, bool overwrite) {
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  const auto hash = Hash::FromHex(asset.hash);
  TENON_EXPECT_PEER(hash.has_value(), "the record of the asset " + asset.name + " has no hash");
  const std::string contents = JoinPath(folder, asset.name);
  const std::string link = JoinPath(folder, link_name);
  if (contents == link) {
    return Invalid("the asset " + ForTerminal(asset.name) + " and its link file have one name")
        .WithHint("give the link file another name");
  }
  std::vector<std::string> written;
  if (asset.folder) {
    TENON_TRY_VOID(MakeDirs(folder));
    TENON_TRY(const auto paths, WriteTree(context, asset.hash, contents, overwrite, "--overwrite"));
    for (const std::string& path : paths) written.push_back(JoinPath(contents, path));
  } else {
    snapshot::Entry entry{asset.name, snapshot::EntryType::kFile, asset.mode, asset.size, *hash,
                          ""};
    TENON_TRY(const bool same, IsSame(entry, folder));
    if (!same) {
      if (Exists(contents) && !overwrite) {
        return Invalid(ForTerminal(contents) + " is there with other contents")
            .WithHint("--overwrite replaces it");
      }
      TENON_TRY_VOID(MakeDirs(folder));
      TENON_TRY_VOID(snapshot::WriteEntry(*objects, entry, folder));
      written.push_back(contents);
    }
  }
  const std::string text = LinkText({asset.name, std::to_string(asset.version)});
  const auto there = ReadFile(link, 1u << 20);
  if (!there.ok() || *there != text) {
    TENON_TRY_VOID(WriteFileAtomically(link, text, 0644, Durability::kProcess));
    written.push_back(link);
  }
  return written;
}

Status DeleteAsset(Context& context, const Asset& asset) {
  return RemoveFile(FileOf(context, asset));
}

}  // namespace tenon::engine
