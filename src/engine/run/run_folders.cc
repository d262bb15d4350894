// SPDX-License-Identifier: Apache-2.0
#include "engine/run/run_folders.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/disk_usage.h"
#include "base/file.h"
#include "base/json.h"
#include "engine/run/runs.h"
#include "run/script_folders.h"

namespace tenon::engine {
namespace {

constexpr int kWriterTries = 200;
constexpr std::chrono::milliseconds kWriterPause(10);

}  // namespace

std::string WhyOutputsStay(const std::string& run_id) {
  return "its outputs are not collected; `tenon runs collect " + run_id + "` does that";
}

Result<std::vector<std::string>> RunIds(const Context& context) {
  auto names = ListDir(context.home.runs());
  if (!names.ok()) {
    if (names.error().kind == ErrorKind::kNotFound) return std::vector<std::string>{};
    return std::move(names).error();
  }
  std::erase_if(*names, [](const std::string& name) { return !run::IsValidRunId(name); });
  std::sort(names->begin(), names->end());
  return names;
}

std::optional<run::RunSpec> SpecOf(const Context& context, const std::string& run_id) {
  if (!run::IsValidRunId(run_id)) return std::nullopt;  // the id may come from another machine
  auto text = ReadFile(run::RunFolder(context.home, run_id).spec());
  if (!text.ok()) {
    auto submitted = SubmittedSpec(context, run_id);
    if (!submitted.ok() || !*submitted || !(*submitted)->IsElsewhere()) return std::nullopt;
    return std::move(**submitted);
  }
  auto value = json::Parse(*text);
  if (!value.ok() || !value->is_object()) return std::nullopt;
  const json::Object* asked = json::GetObject(value->get_object(), "spec");
  if (asked == nullptr) return std::nullopt;
  auto spec = run::RunSpec::FromRecord(*asked);
  if (!spec.ok()) return std::nullopt;
  return std::move(*spec);
}

bool HasWriter(const run::RunFolder& folder) {
  auto names = ListDir(folder.path());
  if (!names.ok()) return false;
  for (const std::string& name : *names) {
    if (!name.ends_with(run::kSegmentSuffix)) continue;
    if (IsLockedByOther(JoinPath(folder.path(), name)).value_or(true)) return true;
  }
  return false;
}

bool WriterStays(const run::RunFolder& folder) {
  for (int tries = 0; HasWriter(folder); ++tries) {
    if (tries == kWriterTries) return true;
    std::this_thread::sleep_for(kWriterPause);
  }
  return false;
}

Result<uint64_t> RemoveWorkOf(const run::RunFolder& folder, bool dry_run) {
  const uint64_t bytes = DiskBytes(folder.work());
  if (!dry_run) TENON_TRY_VOID(run::RemoveWork(folder));
  return bytes;
}

}  // namespace tenon::engine
