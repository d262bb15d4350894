// SPDX-License-Identifier: Apache-2.0
// Data sets in the shared folder of a target: put, list, get, remove.
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "cli/projects/config_files.h"
#include "cli/targets/host_name.h"
#include "engine/data/data.h"

namespace tenon::cli {
namespace {

constexpr size_t kFingerprintShown = 12;

struct Options {
  std::string target = "local", name, folder;
  bool force = false, yes = false;
};

void AddTarget(OptionTable& table, Options* options) {
  table.Add("-t,--target", &options->target, "The target whose shared folder it is (local)")
      .Type("NAME");
}

json::Object ToJson(const engine::Moved& moved, const std::string& name) {
  return {{"name", name},
          {"fingerprint", moved.fingerprint},
          {"files", moved.files},
          {"bytes", moved.bytes},
          {"sent_files", moved.sent_files},
          {"sent_bytes", moved.sent_bytes},
          {"removed_files", moved.removed}};
}

// The folder's own name. It is not changed to a valid one: two folders could then become the same
// data set, and the second put would delete the first.
Result<std::string> NameFor(std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  std::string name(BaseName(folder));
  Status good = engine::CheckDataName(name);
  if (!good.ok()) return std::move(good).error().WithHint("give it one: `--name NAME`");
  return name;
}

Result<int> Put(Session& session, Options options) {
  TENON_TRY(const TargetFolder folder, SharedFolderOf(session, options.target));
  TENON_TRY(engine::Context * context, session.Context());
  if (!IsDirectory(options.folder)) {
    return NotFound(OneLine(options.folder) + " is no folder")
        .WithHint("a data set is a folder; `tenon cp` copies single files");
  }
  engine::Moved moved;
  {
    TerminalReporter reporter({});
    TENON_TRY(const engine::DataScan scan, engine::ScanHere(*context, options.folder, reporter));
    if (options.name.empty()) {
      TENON_TRY(options.name, NameFor(scan.root));
    }
    TENON_TRY_VOID(engine::CheckDataName(options.name));
    TENON_TRY(moved, engine::PutData(*folder.machine, folder.shared, options.name, scan, reporter));
  }
  if (session.WantsJson()) {
    PrintValue(session, ToJson(moved, options.name));
    return 0;
  }
  PrintOut(options.name + " " + moved.fingerprint.substr(0, kFingerprintShown) + ": " +
           Count(moved.files, "file", "files") + ", " + HumanBytes(moved.bytes) + "; " +
           std::to_string(moved.sent_files) + " sent (" + HumanBytes(moved.sent_bytes) + ")" +
           (moved.removed > 0 ? ", " + std::to_string(moved.removed) + " removed" : "") + "\n");
  FlushOut();
  PrintErr("scripts find it in $AZUREML_NATIVE_SHARE_DIRECTORY/" + options.name + "\n");
  return 0;
}

std::string StateOf(const engine::DataHeader& set) {
  if (!set.next_fingerprint.empty()) return "a put has not ended";
  return set.complete ? "whole" : "incomplete";
}

Result<int> List(Session& session, const Options& options) {
  TENON_TRY(const TargetFolder folder, SharedFolderOf(session, options.target));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const engine::DataThere there, folder.machine->files().ListSets(folder.shared));
  json::Array list;
  Table table({{"Name"}, {"Fingerprint"}, {"Files", true}, {"Size"}, {"Put"}, {"State"}});
  const int64_t now_us = context->clock->NowUs();
  for (const engine::DataHeader& set : there.sets) {
    json::Object object = set.ToJson();
    object["path"] = json::EncodeBytes(JoinPath(there.shared, set.name));
    list.push_back(std::move(object));
    table.Add({set.name, set.fingerprint.substr(0, kFingerprintShown), std::to_string(set.files),
               HumanBytes(set.bytes), AgoWords(set.put_us, now_us), StateOf(set)});
  }
  PrintListing(session, list, table);
  if (there.sets.empty() && !session.WantsJson()) {
    FlushOut();
    PrintErr("no data set in " + OneLine(there.shared) + "; `tenon data put DIR -t " +
             ShellQuote(options.target) + "` brings one there\n");
  }
  return 0;
}

// Does not overwrite the user's files unless --force is given. State of an interrupted get does not
// count as a file.
Status CheckEmpty(const std::string& folder, bool force) {
  if (force || !Exists(folder)) return {};
  TENON_TRY(const auto names, ListDir(folder));
  for (const std::string& name : names) {
    if (name.starts_with(engine::kCopyState)) continue;
    return Invalid(OneLine(folder) + " is there already and not empty")
        .WithHint("--force writes the files of the data set into it");
  }
  return {};
}

Result<int> Get(Session& session, Options options) {
  TENON_TRY_VOID(engine::CheckDataName(options.name));
  if (options.folder.empty()) options.folder = options.name;
  while (options.folder.size() > 1 && options.folder.ends_with('/')) options.folder.pop_back();
  TENON_TRY_VOID(CheckEmpty(options.folder, options.force));
  TENON_TRY(const TargetFolder folder, SharedFolderOf(session, options.target));
  engine::Moved moved;
  {
    TerminalReporter reporter({});
    TENON_TRY(moved, engine::GetData(*folder.machine, folder.shared, options.name, options.folder,
                                     reporter));
  }
  if (session.WantsJson()) {
    PrintValue(session, ToJson(moved, options.name));
  } else {
    PrintOut(OneLine(options.folder) + ": " + Count(moved.files, "file", "files") + ", " +
             HumanBytes(moved.bytes) + "\n");
  }
  return 0;
}

Result<int> Remove(Session& session, const Options& options) {
  TENON_TRY_VOID(engine::CheckDataName(options.name));
  TENON_TRY(const TargetFolder folder, SharedFolderOf(session, options.target));
  if (!options.yes) {
    TENON_TRY(const bool yes, AskYes("remove the data set " + options.name + " from " +
                                         OneLine(options.target) + "?",
                                     "--yes"));
    if (!yes) return 1;
  }
  TENON_TRY(const auto removed, engine::RemoveData(*folder.machine, folder.shared, options.name));
  if (session.WantsJson()) {
    PrintValue(session, json::Object{{"name", options.name},
                                     {"files", removed.files},
                                     {"others_left", removed.others_left}});
    return 0;
  }
  PrintOut("removed " + options.name + ", " + Count(removed.files, "file", "files") + "\n");
  FlushOut();
  if (removed.others_left) PrintErr("files that no put has brought are still in its folder\n");
  return 0;
}

}  // namespace

Command DataPutCommand() {
  return {
      {{"data", "put"}},
      "Bring a folder of data to a target, for all runs of the project",
      "It lands in the project's shared folder there "
      "($AZUREML_NATIVE_SHARE_DIRECTORY/NAME), and every run records its fingerprint. Only "
      "files that are not there yet are sent; a put that was cut off goes on where it stopped. "
      "Put again, it holds what DIR holds: files that are gone from DIR go away there too. "
      "Symlinks to files are sent as files; empty folders are not kept.",
      {"tenon data put ~/faces -t my_dsvm", "tenon data put images -t my_dsvm --name faces"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<Options>();
        table.Add("DIR", &options->folder, "The folder").Required();
        AddTarget(table, options.get());
        table.Add("--name", &options->name, "What it is called (the folder's name)").Type("NAME");
        return [options](Session& session) { return Put(session, *options); };
      }};
}

Command DataListCommand() {
  return {{{"data", "list"}},
          "List the data sets of a target",
          "",
          {"tenon data list -t my_dsvm", "tenon data list -t my_dsvm --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            AddTarget(table, options.get());
            return [options](Session& session) { return List(session, *options); };
          }};
}

Command DataGetCommand() {
  return {{{"data", "get"}},
          "Bring a data set back from a target",
          "",
          {"tenon data get faces -t my_dsvm", "tenon data get faces ~/copy -t my_dsvm"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("NAME", &options->name, "The data set").Required();
            table.Add("DIR", &options->folder, "Where to (a folder of its name)");
            AddTarget(table, options.get());
            table.Flag("--force", &options->force, "Write into a folder that is not empty");
            return [options](Session& session) { return Get(session, *options); };
          }};
}

Command DataRemoveCommand() {
  return {{{"data", "remove"}},
          "Remove a data set from a target",
          "Files in its folder that no `data put` has brought stay. Asks first.",
          {"tenon data remove faces -t my_dsvm"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("NAME", &options->name, "The data set").Required();
            AddTarget(table, options.get());
            table.Flag("-y,--yes", &options->yes, "Don't ask");
            return [options](Session& session) { return Remove(session, *options); };
          }};
}

}  // namespace tenon::cli
