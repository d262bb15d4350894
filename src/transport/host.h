// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_HOST_H_
#define TENON_TRANSPORT_HOST_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
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
// than the calls of Host. Requests may be sent ahead; answers come in their order. Beside them go
// streams, whose frames bear the number of their request: several at once, while other requests are
// made. After an Error everything that was under way is forgotten; the next Send() begins a new
// conversation. One thread at a time.
class FrameLink {
 public:
  virtual ~FrameLink() = default;
  virtual Status Send(const json::Object& head, std::string_view body) = 0;
  // The next answer; nullopt after `timeout_us`. kUnavailable: the link is gone.
  Result<std::optional<Frame>> Next(int64_t timeout_us);
  // The next answer; none in that time is kUnavailable, and the end of the conversation.
  Result<Frame> Receive(int64_t timeout_us);

  // A number for a stream, never 0: `id` of the request that begins it (Send()).
  int64_t NewStream();
  // Its next frame; nullopt after `timeout_us`. kUnavailable: the link is gone, or more of it has
  // come than is kept while nobody takes it; a new request may go on where it was.
  Result<std::optional<Frame>> NextOf(int64_t stream, int64_t timeout_us);
  // Frames of it wait here, whatever fd() says.
  bool HasFrames(int64_t stream) const;
  // Nothing more of it is wanted, whether it was begun or not.
  void EndStream(int64_t stream);

  // Ends the conversation, with its streams.
  void Close();
  // Readable when a frame may have come, for any of those who wait; -1: no conversation.
  virtual int fd() const { return -1; }
  // Costs nothing and contacts nobody.
  virtual LinkState state() const { return {}; }

 protected:
  // The next frame, whoever it is for.
  virtual Result<std::optional<Frame>> Take(int64_t timeout_us) = 0;
  virtual void HangUp() = 0;

 private:
  std::optional<Frame> PopFrom(std::deque<Frame>* frames);
  // Takes a frame and lays it where it belongs. False: none came in that time.
  Result<bool> Sort(int64_t timeout_us);
  template <typename Find>
  Result<std::optional<Frame>> SortUntil(const Find& find, int64_t timeout_us);
  void Forget();

  std::deque<Frame> answers_;
  std::map<int64_t, std::deque<Frame>> streams_;
  size_t kept_ = 0;  // bytes of all these
  int64_t last_stream_ = 0;
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
  // Readable when a file that was waited for last may have grown; -1: only waiting tells.
  virtual int growth_fd() const { return -1; }

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
