// SPDX-License-Identifier: Apache-2.0
// How the init inside a container gets the segment it writes: as an open descriptor, over a socket.
// The file itself is nowhere in the container, so a script cannot reach it there, root or not.
#ifndef TENON_EXECUTOR_SEGMENT_DOOR_H_
#define TENON_EXECUTOR_SEGMENT_DOOR_H_

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

 private:
  SegmentDoor(std::string path, UniqueFd listener)
      : path_(std::move(path)), listener_(std::move(listener)) {}

  std::string path_;
  UniqueFd listener_;
};

// The side that asks, inside. `folder` as it is seen there.
Result<UniqueFd> TakeSegment(const std::string& folder);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_SEGMENT_DOOR_H_
