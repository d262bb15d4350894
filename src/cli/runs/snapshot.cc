// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/print/terminal_reporter.h"
#include "engine/run/freeze_now.h"
#include "project/files/password.h"
#include "project/project.h"

namespace tenon::cli {
namespace {

struct Options {
  bool files = false;
};

// The folder that `submit` would freeze.
Result<std::string> FolderToFreeze(const Session& session) {
  TENON_TRY(const std::string current, CurrentFolder());
  std::optional<std::string> given;
  if (!session.globals.project.empty()) given = session.globals.project;
  TENON_TRY(const project::Project found, project::OpenProject(current, given));
  return found.root;
}

std::string ModeText(uint32_t mode) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%04o", mode & 07777);
  return buffer;
}

Result<json::Array> FilesToJson(engine::Context& context, const std::string& tree) {
  json::Array files;
  TENON_TRY_VOID(engine::ListTree(context, tree, [&](const engine::FrozenFile& file) {
    json::Object object{{"path", json::EncodeBytes(file.path)}, {"kind", file.kind}};
    object["mode"] = ModeText(file.mode);
    if (file.kind != "folder") object["size"] = file.size;
    object["hash"] = file.hash;
    if (file.kind == "symlink") object["target"] = json::EncodeBytes(file.target);
    files.push_back(std::move(object));
    return Status();
  }));
  return files;
}

json::Object ToJson(const engine::FrozenNow& frozen, const std::string& folder) {
  json::Object object{{"folder", json::EncodeBytes(folder)}, {"root", frozen.kept_tree}};
  object["host_root"] = frozen.tree;
  object["commit_id"] = frozen.kept_tree.substr(0, 40);
  object["files"] = frozen.files;
  object["bytes"] = frozen.bytes;
  object["files_read"] = frozen.files_read;
  object["bytes_read"] = frozen.bytes_read;
  object["ignored"] = frozen.ignored;
  json::Array skipped;
  for (const std::string& path : frozen.skipped) skipped.emplace_back(json::EncodeBytes(path));
  object["skipped"] = std::move(skipped);
  json::Array left_out;
  for (const std::string& path : frozen.left_out) left_out.emplace_back(json::EncodeBytes(path));
  object["left_out"] = std::move(left_out);
  object["duration"] = FormatDuration(frozen.duration_us);
  return object;
}

Status PrintFiles(const Session& session, engine::Context& context, const std::string& tree) {
  Table table({{"Mode"}, {"Size", true}, {"Path"}});
  TENON_TRY_VOID(engine::ListTree(context, tree, [&](const engine::FrozenFile& file) {
    std::string path = OneLine(file.path);
    if (file.kind == "folder") path += "/";
    if (file.kind == "symlink") path += " -> " + OneLine(file.target);
    table.Add({ModeText(file.mode), file.kind == "folder" ? "" : std::to_string(file.size), path});
    return Status();
  }));
  PrintListing(session, nullptr, table);
  return {};
}

void PrintSummary(const engine::FrozenNow& frozen) {
  PrintOut(frozen.kept_tree + "\n");
  FlushOut();
  std::string text = Count(frozen.files, "file", "files") + ", " + HumanBytes(frozen.bytes) + "; " +
                     std::to_string(frozen.files_read) + " read again (" +
                     HumanBytes(frozen.bytes_read) + ")";
  if (frozen.ignored > 0) text += ", " + std::to_string(frozen.ignored) + " ignored";
  PrintErr(text + "; " + HumanDuration(frozen.duration_us) + "\n");
  for (const std::string& path : frozen.skipped) {
    PrintErr("left out, because it is no file, folder or symlink: " + OneLine(path) + "\n");
  }
  for (const auto& [path, size] : frozen.large) {
    PrintErr("large: " + OneLine(path) + ", " + HumanBytes(size) + "\n");
  }
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const std::string folder, FolderToFreeze(session));
  engine::FrozenNow frozen;
  {
    TerminalReporter reporter({});
    TENON_TRY(frozen, engine::FreezeNow(*context, {folder, project::RedactPassword}, reporter));
  }
  if (session.WantsJson()) {
    json::Object object = ToJson(frozen, folder);
    if (options.files) {
      TENON_TRY(object["tree"], FilesToJson(*context, frozen.kept_tree));
    }
    PrintListing(session, object, Table({}));
    return 0;
  }
  if (options.files) {
    TENON_TRY_VOID(PrintFiles(session, *context, frozen.kept_tree));
  } else {
    PrintSummary(frozen);
  }
  return 0;
}

}  // namespace

Command SnapshotCommand() {
  return {{{"snapshot"}},
          "Freeze the project's files now, without running anything",
          "Prints the root hash. The snapshot is kept for 30 days; `tenon restore HASH DIR` writes "
          "it out.",
          {"tenon snapshot", "tenon snapshot --files", "tenon snapshot --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Flag("--files", &options->files, "List what is in it");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
