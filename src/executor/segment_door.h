// SPDX-License-Identifier: Apache-2.0
// How a program that records a script gets the segment it writes: as an open descriptor, over a
// socket. The file itself is nowhere in its container or environment, so a script cannot reach it
// there, root or not.
#ifndef TENON_EXECUTOR_SEGMENT_DOOR_H_
#define TENON_EXECUTOR_SEGMENT_DOOR_H_

#include <functional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace tenon::executor {

// The side that gives, on the host. Its folder is mounted into the container; the socket in it goes
// with this object.
class SegmentDoor {
 public:
  static Result<SegmentDoor> Open(const std::string& folder);
  SegmentDoor(SegmentDoor&&) noexcept = default;
  SegmentDoor& operator=(SegmentDoor&&) = delete;
  ~SegmentDoor();

  // Waits for the one who asks and gives him a descriptor of `segment`. True when that was done;
  // false when `other_end`, the init's standard streams, said something or was closed first: the
  // init has a problem that it tells in its own way. kUnavailable after `limit_ms`.
  Result<bool> Give(const std::string& segment, int other_end, int limit_ms);

  // For any number of askers, each of which says a name (TakeNamed). Readable when somebody asks.
  int fd() const { return listener_.get(); }
  // Answers all who ask now. `find` says what one of that name is given; with an Error he gets
  // nothing. One who says no name within a second gets nothing either.
  struct Given {
    std::string segment;  // path
    std::string job;
  };
  void Serve(const std::function<Result<Given>(const std::string& name)>& find);

 private:
  SegmentDoor(std::string path, UniqueFd listener)
      : path_(std::move(path)), listener_(std::move(listener)) {}

  std::string path_;
  UniqueFd listener_;
};

// The side that asks. `folder` as it is seen there.
Result<UniqueFd> TakeSegment(const std::string& folder);
// The same of a door that serves many.
struct Taken {
  UniqueFd segment;
  std::string job;
};
Result<Taken> TakeNamed(const std::string& folder, const std::string& name);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_SEGMENT_DOOR_H_
