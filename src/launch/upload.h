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

// A tree that a host needs.
struct TreeToSend {
  const snapshot::ObjectStore* store = nullptr;  // that has the tree; nullptr: the host has it
  std::string root;                              // hex
  std::string base;  // hex: a tree that the host is known to have in full; "" = none
  // A request that begins a stream (transport::FrameLink), sent after `last`; empty: none. With
  // "if_ok" the host carries it out only if `last` succeeded. The caller reads and ends the stream.
  json::Object ahead;
  // Called often, with the bytes of contents that were sent so far and those to send in all.
  std::function<void(uint64_t done, uint64_t total)> on_progress;
};

// Makes sure that the host has the whole tree in <home>/objects, then has the host carry out the
// request `last`. Takes one round trip when the host lacks little or nothing, two when the host has
// to say what it lacks. Returns the answer to `last`. After a lost link (kUnavailable) it is not
// known whether `last` was carried out; a repeat sends only what is still missing. If the host
// itself refused (Error::answered), `last` was not carried out. An Error about our own store is
// marked (run::IsUnreadableHere); then nothing was started.
Result<Frame> SendTree(transport::FrameLink& link, const std::string& home, const TreeToSend& tree,
                       json::Object last, std::string_view last_body);

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_UPLOAD_H_
