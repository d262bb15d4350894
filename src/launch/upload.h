// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_LAUNCH_UPLOAD_H_
#define TENON_LAUNCH_UPLOAD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/frames.h"
#include "base/json.h"
#include "base/result.h"
#include "snapshot/store/object_store.h"
#include "transport/host.h"

namespace tenon::launch {

// A tree that a host is to have.
struct TreeToSend {
  const snapshot::ObjectStore* store = nullptr;  // that has it; nullptr: the host has it already
  std::string root;                              // hex
  std::string base;  // hex: a tree the host was known to have whole; "" = none
  // Begins a stream (transport::FrameLink); sent behind `last`, to be carried out when that went
  // well; empty: nothing. The stream is left to the caller.
  json::Object ahead;
  // Bytes of contents so far and in all. Called often.
  std::function<void(uint64_t done, uint64_t total)> on_progress;
};

// Makes sure that the host has the whole tree in <home>/objects and has it carry out `last`, a
// request, in the same breath. One turn when the host lacks little or nothing, two when it has to
// say what it lacks. After a lost link (kUnavailable) a repeat goes on with what is still lacking;
// whether `last` was carried out is then not known. When the host itself says no (Error::answered)
// it was not. Returns the answer to `last`.
Result<Frame> SendTree(transport::FrameLink& link, const std::string& home, const TreeToSend& tree,
                       json::Object last, std::string_view last_body);

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_UPLOAD_H_
