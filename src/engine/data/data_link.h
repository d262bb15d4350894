// SPDX-License-Identifier: Apache-2.0
// How the files of a data set go over a link, or from one place on this disk to another. Used by
// far_files.cc and own_files.cc.
#ifndef TENON_ENGINE_DATA_DATA_LINK_H_
#define TENON_ENGINE_DATA_DATA_LINK_H_

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "engine/context.h"
#include "engine/data/data.h"
#include "engine/host/machine.h"
#include "engine/reporter.h"
#include "snapshot/data/data_folder.h"
#include "snapshot/data/data_pieces.h"

namespace tenon::engine {

inline constexpr int64_t kDataSilenceUs = 120'000'000;
// Placing a million files, or reading a large file again, takes long.
inline constexpr int64_t kDataLongUs = 1'800'000'000;

// Returns the answer to the last request, or the Error in it. Messages that come before the answer
// show that work goes on; they are reported as progress.
Result<Frame> AnswerTo(transport::FrameLink& link, int64_t timeout_us, Reporter& reporter);

// Sends everything that was scanned to the receiver that the request `begin` starts.
Result<Moved> SendOver(Machine& machine, const json::Object& begin, const DataScan& data,
                       Reporter& reporter);
// The same on this disk.
Result<Moved> SendHere(Context& context, const snapshot::DataPlace& to, const DataScan& data,
                       Reporter& reporter);

// Fetches what the set `to` on this machine lacks, with the request `get`. Reason kNotTaken: the
// data could not be stored on this machine, so the link was closed.
inline constexpr std::string_view kNotTaken = "not-taken";
Result<Moved> FetchOver(Context& context, Machine& machine, const json::Object& get,
                        const snapshot::DataPlace& to, snapshot::DataSet set, Reporter& reporter);

// The Error for a data set whose put was broken off.
Error NotWhole(const std::string& name);

// Calls `work`, and again after a lost link. What has arrived is not sent again.
template <typename Work>
Result<Moved> WithRetries(Machine& machine, Reporter& reporter, const Work& work) {
  constexpr int kTries = 4;
  constexpr int kPauseUs = 1'000'000;
  for (int tries = 1;; ++tries) {
    Result<Moved> result = work();
    const bool lost = !result.ok() && result.error().kind == ErrorKind::kUnavailable &&
                      !result.error().answered && result.error().reason != kNotTaken;
    const bool again = lost && !machine.link().stands && machine.link().heard && tries < kTries;
    if (!again) {
      if (tries > 1 && result.ok()) reporter.OnLink(0, "");
      return result;
    }
    reporter.OnLink(0, result.error().message);
    ::usleep(static_cast<useconds_t>(kPauseUs * tries));
  }
}

}  // namespace tenon::engine

#endif  // TENON_ENGINE_DATA_DATA_LINK_H_
