// SPDX-License-Identifier: Apache-2.0
#include "transport/host.h"

namespace tenon::transport {

Result<Frame> FrameLink::Receive(int64_t timeout_us) {
  TENON_TRY(auto frame, Next(timeout_us));
  if (frame) return std::move(*frame);
  Close();
  return Unavailable("the host does not answer");
}

}  // namespace tenon::transport
