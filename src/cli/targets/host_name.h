// SPDX-License-Identifier: Apache-2.0
// Which machine, and what of it: words that the commands about machines understand.
#ifndef TENON_CLI_TARGETS_HOST_NAME_H_
#define TENON_CLI_TARGETS_HOST_NAME_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/session.h"
#include "engine/context.h"
#include "engine/host/hosts.h"
#include "engine/host/machine.h"
#include "project/files/target.h"
#include "project/project.h"

namespace tenon::cli {

// Digits of a machine's id that people are shown; any beginning that is unique is understood.
inline constexpr size_t kHostDigits = 8;

// The machine a word means: a target of this project, the name of a target that `host list` shows,
// or the beginning of an id. kNotFound with what there is; kInvalid when several fit, or when it is
// this machine.
Result<engine::HostRecord> FindHost(Session& session, const std::string& word);
// The same without a look at the project's files, which may be wrong.
Result<engine::HostRecord> FindRecordedHost(Session& session, const std::string& word);

// Its id; "" for no word and for a target that is this machine.
Result<std::string> HostIdNamed(Session& session, const std::string& word);

// The same, to be worked with. Nothing is contacted that was reached before.
Result<engine::Machine*> MachineNamed(Session& session, const std::string& word);

// A target of the project with the shared folder that its runs get.
struct TargetFolder {
  std::string target;
  engine::Machine* machine = nullptr;
  std::string shared;  // may begin with `~`
};
// kInvalid: the target has no shared folder; the hint says what to write.
Result<TargetFolder> SharedFolderOf(Session& session, const std::string& target);

// "3 h ago"; "never" for 0.
std::string AgoWords(int64_t us, int64_t now_us);

// "2 × Tesla K80", "" when there is none or nobody has asked yet.
std::string GpuWords(const engine::HostRecord& host);

// What keeps a machine from being idle, as a JSON array of texts.
json::Array BusyJson(const std::vector<std::string>& busy);

// The name of the project that a machine was attached in.
std::string ProjectOf(const engine::HostRecord& host);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_HOST_NAME_H_
