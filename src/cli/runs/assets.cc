// SPDX-License-Identifier: Apache-2.0
#include "engine/outputs/assets.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/runs/run_option.h"
#include "cli/runs/run_project.h"

namespace tenon::cli {
namespace {

constexpr size_t kLargestLink = 1u << 16;

json::Object ToJson(const engine::Asset& asset) {
  return json::Object{{"name", json::EncodeBytes(asset.name)},
                      {"version", std::to_string(asset.version)},
                      {"kind", asset.folder ? "folder" : "file"},
                      {"size", asset.size},
                      {"files", asset.files},
                      {"artifact_path", json::EncodeBytes(asset.artifact)},
                      {"run_id", json::EncodeBytes(asset.run_id)},
                      {"project", json::EncodeBytes(asset.project)},
                      {"created_utc", FormatUtc(asset.created_us)}};
}

// The version in the project's link file, which may be older than Tenon; 0 if there is none.
int64_t PresentVersion(const std::string& path) {
  const auto text = ReadFile(path, kLargestLink);
  if (!text.ok()) return 0;
  const auto link = engine::ParseLink(*text);
  int64_t version = 0;
  if (link.ok()) {
    std::from_chars(link->version.data(), link->version.data() + link->version.size(), version);
  }
  return std::max<int64_t>(version, 0);
}

struct PromoteOptions {
  RunOption run;
  std::string artifact, name;
};

Result<int> Promote(Session& session, const PromoteOptions& options) {
  if (options.artifact.empty()) {
    return Invalid("which artifact?").WithHint("-ap PATH names it: -ap outputs/model.pkl");
  }
  if (options.name.empty()) {
    return Invalid("what is the asset to be called?").WithHint("-n NAME says it");
  }
  TENON_TRY_VOID(engine::CheckAssetName(options.name));
  TENON_TRY(const journal::RunView run, options.run.Get(session, ""));
  TENON_TRY(const std::string root, RootForRun(session, run));
  TENON_TRY(engine::Context * context, session.Context());
  const std::string file = "assets/" + options.name + ".link";
  const std::string path = JoinPath(root, file);
  TENON_TRY(const engine::Asset asset,
            engine::Promote(*context, run, options.artifact, options.name, PresentVersion(path)));
  TENON_TRY_VOID(MakeDirs(DirName(path)));
  TENON_TRY_VOID(WriteFileAtomically(path,
                                     engine::LinkText({asset.name, std::to_string(asset.version)}),
                                     0644, Durability::kPowerLoss));
  if (session.WantsJson()) {
    json::Object object = ToJson(asset);
    object["link_file"] = json::EncodeBytes(file);
    PrintValue(session, object);
    return 0;
  }
  PrintOut(OneLine(file) + "\n");
  FlushOut();
  PrintErr(OneLine(asset.name) + ", version " + std::to_string(asset.version) + ": " +
           OneLine(asset.artifact) + " of " + asset.run_id + ", " +
           (asset.folder ? Count(asset.files, "file", "files") + ", " : "") +
           HumanBytes(asset.size) + "\n");
  return 0;
}

struct DownloadOptions {
  std::string link, folder;
  bool overwrite = false;
};

Result<int> Download(Session& session, const DownloadOptions& options) {
  if (options.link.empty()) {
    return Invalid("which asset?").WithHint("-l assets/NAME.link names its link file");
  }
  if (options.folder.empty()) {
    return Invalid("into which folder?").WithHint("-d DIR names it; it is made if needed");
  }
  std::string path = options.link;
  if (!Exists(path)) {  // as typed on Windows
    std::string forward = path;
    std::replace(forward.begin(), forward.end(), '\\', '/');
    if (Exists(forward)) path = forward;
  }
  auto text = ReadFile(path, kLargestLink);
  if (!text.ok()) {
    if (text.error().kind != ErrorKind::kNotFound) return std::move(text).error();
    return NotFound("there is no link file " + OneLine(path))
        .WithHint("`tenon history promote` makes one in assets/");
  }
  auto link = engine::ParseLink(*text);
  if (!link.ok()) return std::move(link).error().Wrap(OneLine(path));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const auto project, session.FindProject());
  TENON_TRY(const engine::Asset asset,
            engine::FindAsset(*context, project ? project->id : "", *link));
  if (project && asset.project_id != project->id) {
    PrintErr("note: this project has no such asset; it is taken from the project " +
             OneLine(asset.project) + "\n");
  }
  TENON_TRY(const auto written,
            engine::DownloadAsset(*context, asset, options.folder, std::string(BaseName(path)),
                                  options.overwrite));
  if (session.WantsJson()) {
    json::Array list;
    for (const std::string& file : written) list.emplace_back(json::EncodeBytes(file));
    json::Object object = ToJson(asset);
    object["path"] = json::EncodeBytes(JoinPath(options.folder, asset.name));
    object["written"] = std::move(list);
    PrintValue(session, object);
    return 0;
  }
  for (const std::string& file : written) PrintOut(OneLine(file) + "\n");
  FlushOut();
  if (written.empty()) PrintErr("nothing to do: it is all there\n");
  return 0;
}

Result<int> List(Session& session) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const std::string project_id, session.ProjectId());
  std::vector<Error> unreadable;
  TENON_TRY(const auto assets, engine::ListAssets(*context, project_id, &unreadable));
  for (const Error& error : unreadable) {
    PrintErr("warning: " + OneLine(error.message) + " (" + error.hint + ")\n");
  }
  json::Array list;
  Table table({{"Name"}, {"Version"}, {"Size"}, {"Artifact"}, {"Run"}});
  for (const engine::Asset& asset : assets) {
    list.push_back(ToJson(asset));
    table.Add({asset.name, std::to_string(asset.version), HumanBytes(asset.size), asset.artifact,
               asset.run_id});
  }
  PrintListing(session, list, table);
  return 0;
}

struct DeleteOptions {
  std::string name, version;
};

Result<int> Delete(Session& session, const DeleteOptions& options) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const auto project, session.FindProject());
  if (!project) {
    return Invalid("this is no project's folder").WithHint("--project DIR says whose asset it is");
  }
  TENON_TRY(const engine::Asset asset,
            engine::FindAsset(*context, project->id, {options.name, options.version}));
  if (asset.project_id != project->id) {
    return NotFound("this project has no asset " + OneLine(options.name) + ", version " +
                    OneLine(options.version))
        .WithHint("the project " + OneLine(asset.project) + " has one");
  }
  TENON_TRY_VOID(engine::DeleteAsset(*context, asset));
  if (session.WantsJson()) {
    PrintValue(session, ToJson(asset));
    return 0;
  }
  PrintOut("deleted " + OneLine(asset.name) + ", version " + std::to_string(asset.version) + "\n");
  PrintErr(
      "link files are left as they are; contents that nothing else has are removed by "
      "`tenon gc`\n");
  return 0;
}

}  // namespace

Command HistoryPromoteCommand() {
  return {{{"history", "promote"}},
          "Keep an output of a run under a name, as an asset",
          "A file or a folder of the run's outputs. Its contents stay when the run is deleted; "
          "assets/NAME.link in the project names it. Promoting under the same name again gives the "
          "next version.",
          {"tenon history promote -r last -ap outputs/model.pkl -n model.pkl",
           "tenon history promote -r 12 --artifact-path outputs/saved_model --name classifier"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<PromoteOptions>();
            AddRunOption(table, &options->run);
            table
                .Add("--artifact-path,--ap", &options->artifact,
                     "The artifact, as history lists it; -ap for short")
                .Type("PATH");
            table.Add("-n,--name", &options->name, "What to call it").Type("NAME");
            return [options](Session& session) { return Promote(session, *options); };
          }};
}

Command AssetDownloadCommand() {
  return {{{"asset", "download"}},
          "Write an asset and a copy of its link file into a folder",
          "azureml.assets.get_local_path('DIR/NAME.link') in a script then gives the path of the "
          "contents. Prints the files it wrote.",
          {"tenon asset download -l assets/model.pkl.link -d models"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<DownloadOptions>();
            table.Add("-l,--link-file", &options->link, "The asset's link file").Type("FILE");
            table.Add("-d,--output-directory", &options->folder, "The folder; made if needed")
                .Type("DIR");
            table.Flag("--overwrite", &options->overwrite,
                       "Replace files that are there with other contents");
            return [options](Session& session) { return Download(session, *options); };
          }};
}

Command AssetListCommand() {
  return {{{"asset", "list"}},
          "Show the assets of this project",
          "Outside of a project: of all projects.",
          {"tenon asset list", "tenon asset list --json"},
          [](OptionTable&, const std::vector<std::string>&) -> Action { return List; }};
}

Command AssetDeleteCommand() {
  return {{{"asset", "delete"}},
          "Forget a version of an asset",
          "",
          {"tenon asset delete model.pkl 1"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<DeleteOptions>();
            table.Add("NAME", &options->name, "The asset").Required();
            table.Add("VERSION", &options->version, "Its version").Required();
            return [options](Session& session) { return Delete(session, *options); };
          }};
}

}  // namespace tenon::cli
