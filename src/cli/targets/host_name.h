// SPDX-License-Identifier: Apache-2.0
// Finds the machine that a word names, and describes machines in words.
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

// Number of digits of a machine's id that are shown. Any unique beginning of an id is accepted.
inline constexpr size_t kHostDigits = 8;

// Finds the machine by a word: a target of this project, a target name that `host list` shows, or
// the beginning of an id. kNotFound: no match. kInvalid: several match, or it is this machine.
// kDenied: nobody has agreed to the machine's host key.
Result<engine::HostRecord> FindHost(Session& session, const std::string& word);
// The same without reading the project's files, which may have errors.
Result<engine::HostRecord> FindRecordedHost(Session& session, const std::string& word);

// The id of the machine; "" if `word` is empty or names a target on this machine.
Result<std::string> HostIdNamed(Session& session, const std::string& word);

// As FindHost(), as an object to work with. Contacts the machine only if it was never reached
// before.
Result<engine::Machine*> MachineNamed(Session& session, const std::string& word);

// A target of the project and the shared folder of its runs.
struct TargetFolder {
  std::string target;
  engine::Machine* machine = nullptr;
  std::string shared;  // may begin with `~`
};
// kInvalid if the target has no shared folder; the hint says how to give it one.
Result<TargetFolder> SharedFolderOf(Session& session, const std::string& target);

// "3 h ago"; "never" for 0.
std::string AgoWords(int64_t us, int64_t now_us);

// "2 × Tesla K80"; "" if the machine has no GPU or was not asked yet.
std::string GpuWords(const engine::HostRecord& host);

// What keeps a machine from being idle, as a JSON array of strings.
json::Array BusyJson(const std::vector<std::string>& busy);

// The name of the project in which the machine was attached.
std::string ProjectOf(const engine::HostRecord& host);

}  // namespace tenon::cli

#endif  // TENON_CLI_TARGETS_HOST_NAME_H_
