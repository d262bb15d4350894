// SPDX-License-Identifier: Apache-2.0
// How files of a set go over a link, or from one place on this disk to another. For far_files.cc
// and own_files.cc.
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
// Placing a million files, or reading a large one again, takes its time.
inline constexpr int64_t kDataLongUs = 1'800'000'000;

// The answer to what was sent, or the Error in it; what comes before it shows that work goes on.
Result<Frame> AnswerTo(transport::FrameLink& link, int64_t timeout_us, Reporter& reporter);

// Everything that was scanned, to the receiver that `begin` asks for.
Result<Moved> SendOver(Machine& machine, const json::Object& begin, const DataScan& data,
                       Reporter& reporter);
// The same on this disk.
Result<Moved> SendHere(Context& context, const snapshot::DataPlace& to, const DataScan& data,
                       Reporter& reporter);

// What a receiver here lacks of a set, from the one that `get` asks. kNotTaken: what came could not
// be put down here, and the link was closed for it.
inline constexpr std::string_view kNotTaken = "not-taken";
Result<Moved> FetchOver(Context& context, Machine& machine, const json::Object& get,
                        const snapshot::DataPlace& to, snapshot::DataSet set, Reporter& reporter);

// What to say of a data set of which a put was broken off.
Error NotWhole(const std::string& name);

// Does it, and after a lost link again: what has come does not come twice.
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
