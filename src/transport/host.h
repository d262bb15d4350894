// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_HOST_H_
#define TENON_TRANSPORT_HOST_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/frames.h"
#include "base/process.h"
#include "base/result.h"

namespace tenon::transport {

// A file and the length it had when it was last read.
struct KnownLength {
  std::string path;
  uint64_t size = 0;
};

// How a link is and was. What needs no link always stands.
struct LinkState {
  bool stands = true;  // a conversation is under way
  bool heard = true;   // the host has answered at least once
  bool sent = true;    // something was sent to it, heard or not
};

// Frames to the agent of a host and back (docs/runner.md § serve), for those who have more to say
// than the calls of Host. Requests may be sent ahead; answers come in their order. After an Error
// everything that was under way is forgotten; the next Send() begins a new conversation.
class FrameLink {
 public:
  virtual ~FrameLink() = default;
  virtual Status Send(const json::Object& head, std::string_view body) = 0;
  // The next frame; nullopt after `timeout_us`. kUnavailable: the link is gone.
  virtual Result<std::optional<Frame>> Next(int64_t timeout_us) = 0;
  // The next frame; none in that time is kUnavailable, and the end of the conversation.
  Result<Frame> Receive(int64_t timeout_us);
  // Ends the conversation.
  virtual void Close() = 0;
  // Costs nothing and contacts nobody.
  virtual LinkState state() const { return {}; }
};

// A machine we can reach: this one, or one over SSH. Runs commands, puts files, reads files
// from an offset. Bytes are opaque here: no host knows what a journal or a runner is.
//
// Paths are absolute on the host. Calls block; one thread at a time per object. An Error of kind
// kUnavailable means that the host or the link did not do its part and a repeat may work; after it
// the caller does not know whether a command ran, so commands given here must bear repeating.
class Host {
 public:
  virtual ~Host() = default;

  // Runs a program to its end with `input` on its standard input. The program not being there is
  // kNotFound; a program that ends badly is a result, not an Error. Killed after `timeout_ms` (0:
  // never), which the result says. The program's descendants may live on.
  virtual Result<CaptureResult> Run(const std::vector<std::string>& argv, const std::string& input,
                                    int timeout_ms) = 0;

  // Makes a file appear whole, replacing an old one of that name; missing folders are made. Readers
  // see the old bytes or the new ones. It survives a power cut when this returns.
  virtual Status PutFile(const std::string& path, std::string_view bytes, mode_t mode) = 0;

  // Up to `max` bytes from `offset`; empty at or beyond the end. kNotFound: no such file.
  virtual Result<std::string> ReadFrom(const std::string& path, uint64_t offset, size_t max) = 0;

  // Returns true when one of the files is longer than known or was replaced or removed meanwhile,
  // false after `timeout_us`. A file that is not there has no length; kNotFound: none is there.
  virtual Result<bool> WaitForGrowth(const std::vector<KnownLength>& files, int64_t timeout_us) = 0;

  // Whether some process on the host holds an flock on the file: a journal's writer is alive.
  // kNotFound: no such file.
  virtual Result<bool> IsLocked(const std::string& path) = 0;

  // Of a host that does not share our disk; nullptr: this machine. Not to be used beside the calls
  // above while answers are still to come.
  virtual FrameLink* frames() { return nullptr; }

  // For messages: "this machine", "gpu1 (ssh)".
  virtual std::string Describe() const = 0;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_HOST_H_
