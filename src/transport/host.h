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

// The state of a link. The defaults are those of a host that needs no link.
struct LinkState {
  bool stands = true;  // a conversation is under way
  bool heard = true;   // the host has answered at least once
  bool sent = true;    // something was sent to it, answered or not
};

// Frames to the agent on a host and back (docs/runner.md § serve), for requests that Host has no
// call for. One thread at a time.
//
// Several requests may be sent before the first answer comes; answers come in the order of the
// requests. A request with a stream number begins a stream: the frames of that stream bear its
// number. Several streams may go on at once, and other requests beside them.
//
// When the link fails, all answers and streams under way are dropped. The next Send() begins a new
// conversation.
class FrameLink {
 public:
  virtual ~FrameLink() = default;
  // Sends a frame and does not wait for its answer. Begins a conversation if none is under way.
  virtual Status Send(const json::Object& head, std::string_view body) = 0;
  // Returns the next answer, nullopt after `timeout_us`. Fails with kUnavailable when the link is
  // gone, with kCorrupt when too many unread answers pile up.
  Result<std::optional<Frame>> Next(int64_t timeout_us);
  // Like Next(), but no answer in that time is kUnavailable and ends the conversation.
  Result<Frame> Receive(int64_t timeout_us);

  // Returns the number of a new stream, never 0. The caller sends it as `id` of the request that
  // begins the stream.
  int64_t NewStream();
  // Returns the next frame of the stream, nullopt after `timeout_us`. Fails with kUnavailable when
  // the link is gone, or when the stream was dropped because too much was waiting unread. The
  // caller may then go on where the stream stopped, with a new request.
  //
  // Callers take the answers to their requests before they wait for a stream. So a refusal without
  // a number that is still unread then is meant for the stream: NextOf() fails with it and ends the
  // conversation, instead of waiting for a host that will send nothing.
  Result<std::optional<Frame>> NextOf(int64_t stream, int64_t timeout_us);
  // Whether frames of the stream have been read from the link already: fd() does not tell of these.
  bool HasFrames(int64_t stream) const;
  // Ends the stream and drops its frames. The stream need not have been begun. May be repeated.
  void EndStream(int64_t stream);

  // Ends the conversation and all its streams.
  void Close();
  // Readable when a frame may have come, an answer or one of any stream. -1: no conversation.
  virtual int fd() const { return -1; }
  // Returns at once and does not contact the host.
  virtual LinkState state() const { return {}; }

 protected:
  // Returns the next frame, an answer or one of any stream; nullopt after `timeout_us`.
  virtual Result<std::optional<Frame>> Take(int64_t timeout_us) = 0;
  // Ends the connection to the agent, if there is one.
  virtual void HangUp() = 0;

 private:
  std::optional<Frame> PopFrom(std::deque<Frame>* frames);
  // Takes one frame and puts it with the answers or with its stream. False: none came in that time.
  Result<bool> Sort(int64_t timeout_us);
  template <typename Find>
  Result<std::optional<Frame>> SortUntil(const Find& find, int64_t timeout_us);
  // Fails with the first refusal among the unread answers.
  Status LookForRefusal();
  void Forget();

  std::deque<Frame> answers_;
  std::map<int64_t, std::deque<Frame>> streams_;
  size_t kept_ = 0;  // bytes of all frames in answers_ and streams_
  int64_t last_stream_ = 0;
};

// A machine we can reach: this one, or one over SSH. Runs commands, writes files, reads files from
// an offset. Bytes are opaque: a Host knows nothing of journals or runners.
//
// Paths are absolute on the host. Calls block. One thread at a time per object. kUnavailable means
// that the host or the link failed and that a repeat may work. The caller then does not know
// whether a command ran, so every command must be safe to repeat.
class Host {
 public:
  virtual ~Host() = default;

  // Runs a program to its end with `input` on its standard input. Fails with kNotFound when the
  // program does not exist. A program that ends badly is a result, not an Error. After `timeout_ms`
  // (0: never) the program is killed, and the result says so. Its descendants may live on.
  virtual Result<CaptureResult> Run(const std::vector<std::string>& argv, const std::string& input,
                                    int timeout_ms) = 0;

  // Writes a whole file and replaces an old one of that name. Makes missing folders. Readers see
  // the old bytes or the new ones, never a mix. When this returns, the file survives a power cut.
  virtual Status PutFile(const std::string& path, std::string_view bytes, mode_t mode) = 0;

  // Returns up to `max` bytes from `offset`, none at or beyond the end. kNotFound: no such file.
  virtual Result<std::string> ReadFrom(const std::string& path, uint64_t offset, size_t max) = 0;

  // Returns true when one of the files is longer than known or was replaced or removed meanwhile,
  // false after `timeout_us`. A file that does not exist yet is waited for. Fails with kNotFound
  // when none of the files exists.
  virtual Result<bool> WaitForGrowth(const std::vector<KnownLength>& files, int64_t timeout_us) = 0;
  // Readable when a file of the last WaitForGrowth() may have grown. -1: only waiting tells.
  virtual int growth_fd() const { return -1; }

  // Whether a process on the host holds an flock on the file, as the writer of a journal does while
  // it lives. kNotFound: no such file.
  virtual Result<bool> IsLocked(const std::string& path) = 0;

  // The link to a host that does not share our disk; the host owns it. nullptr: this machine. While
  // answers on the link are still to come, the calls above must not be used.
  virtual FrameLink* frames() { return nullptr; }

  // For messages: "this machine", "gpu1 (ssh)".
  virtual std::string Describe() const = 0;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_HOST_H_
