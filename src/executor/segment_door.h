// SPDX-License-Identifier: Apache-2.0
// Hands the segment of the journal to the program that records a script: as an open descriptor,
// over a socket. The file itself is not in the container or the environment of that program, so a
// script there cannot reach it, not even as root.
#ifndef TENON_EXECUTOR_SEGMENT_DOOR_H_
#define TENON_EXECUTOR_SEGMENT_DOOR_H_

#include <functional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace tenon::executor {

// The giving side, on the host. Its folder is mounted into the container. The destructor removes
// the socket in it.
class SegmentDoor {
 public:
  static Result<SegmentDoor> Open(const std::string& folder);
  SegmentDoor(SegmentDoor&&) noexcept = default;
  SegmentDoor& operator=(SegmentDoor&&) = delete;
  ~SegmentDoor();

  // Waits until the init asks and sends it a descriptor of `segment`. Returns true when that was
  // done, false when `other_end`, the init's standard streams, has something to read or is closed
  // first: the init has a problem and reports it there. Fails with kUnavailable after `limit_ms`.
  Result<bool> Give(const std::string& segment, int other_end, int limit_ms);

  // For a door with several askers, each of which sends a name (TakeNamed). Readable when one asks;
  // then call Serve().
  int fd() const { return listener_.get(); }
  // Answers all who ask now, without waiting for more. `find` returns what the asker of that name
  // gets; on an Error it gets nothing. An asker that sends no name within a second gets nothing
  // either.
  struct Given {
    std::string segment;  // path; made if it is missing
    std::string job;
  };
  void Serve(const std::function<Result<Given>(const std::string& name)>& find);

 private:
  SegmentDoor(std::string path, UniqueFd listener)
      : path_(std::move(path)), listener_(std::move(listener)) {}

  std::string path_;
  UniqueFd listener_;
};

// The asking side. `folder` is the door's folder as the asker sees it.
Result<UniqueFd> TakeSegment(const std::string& folder);
// The same at a door that calls Serve().
struct Taken {
  UniqueFd segment;
  std::string job;
};
Result<Taken> TakeNamed(const std::string& folder, const std::string& name);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_SEGMENT_DOOR_H_
