// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_MIRROR_H_
#define TENON_ENGINE_RUN_MIRROR_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/frames.h"
#include "base/json.h"
#include "base/result.h"
#include "engine/context.h"
#include "engine/host/machine.h"
#include "engine/run/run_feed.h"
#include "journal/reader.h"

namespace tenon::engine {

// The copies of a far run's segments in our own run folder, kept in step with the originals; of
// which there are, the agent there tells. What
// is copied is whole records only: a tail that a killed writer left half-written may still be cut
// off and written anew over there. A copy is therefore always a beginning of the original, and
// going on where it ends loses nothing and repeats nothing, whoever stopped when. The exception is
// a power cut over there, which may take an end from the original that was copied already: the host
// is the truth, so the copy is cut back to where both are the same.
//
// One process of this home at a time copies (a lock on the copy); others see the copies grow.
class Mirror : public RunFeed {
 public:
  using OnRecords = decltype(FeedSink::on_records);

  // A stream that was asked for with the start of its run, as AheadRequest() does.
  struct Ahead {
    std::string run_id;  // "" = none
    int64_t stream = 0;
  };
  // Nothing happens yet. `on_records` and `on_cut`: as in FeedSink. `ahead`: the Mirror of that run
  // takes the stream over and makes it none. Null: none. All that is given must outlive this
  // object.
  Mirror(Context& context, Machine& far, const std::string& run_id, OnRecords on_records = nullptr,
         std::function<void()> on_cut = nullptr, Ahead* ahead = nullptr);
  ~Mirror() override;

  // kUnavailable: the link is gone; the next call begins anew.
  Result<Heard> Wait(int64_t timeout_us) override;
  bool CaughtUp() const override { return waited_ && (writer_alive_.has_value() || !lock_); }
  Result<Heard> CatchUp() override;
  // Asks the host, while another process of ours copies.
  Result<bool> IsWhole() override;
  Result<bool> TakeRest() override;
  int fd() const override;
  bool HasNews() const override { return stream_ != 0 && link().HasFrames(stream_); }
  bool MayMend(const Error& error) const override { return error.kind == ErrorKind::kUnavailable; }
  std::optional<Stopped> stopped() override { return stopped_; }
  int64_t SilentUs() const override;

  // The request that follows a run from its beginning, to be sent ahead with its start.
  static json::Object AheadRequest(const run::Home& far_home, const Ahead& ahead);

 private:
  struct Copy {
    std::string segment;
    std::string near_path, far_path;
    UniqueFd fd;
    journal::Decoder decoder;
    uint64_t length = 0;  // of the copy
    std::string pending;  // the beginning of the record after it
    bool there = false;   // the original exists
    int cuts = 0;         // how often CutBack()
  };

  Copy& AddCopy(std::string segment);
  // Those whose copies are here.
  void AddKnownCopies();
  Status AddTold(const Frame& frame);
  Result<bool> TakeLock();
  void LookAtCopier();
  Status OpenCopy(Copy* copy);
  void DropPending(Copy* copy);
  Result<bool> Take(Copy* copy, std::string_view bytes);
  Result<bool> TakeInPieces(Copy* copy, std::string_view bytes);
  transport::FrameLink& link() const { return *far_.host().frames(); }
  Status BeginFollowing();
  bool TakeAhead();
  void EndStream();
  Status CutBack(Copy* copy);
  // One frame of the stream. True: a copy has grown.
  Result<bool> TakeFrame(const Frame& frame);

  const Copy& hosts() const { return copies_.front(); }
  // The host has, or had, such a run.
  bool Known() const { return hosts().there || hosts().length > 0; }

  Context& context_;
  std::string run_id_;
  Machine& far_;
  OnRecords on_records_;
  std::function<void()> on_cut_;
  Ahead* ahead_;
  std::vector<journal::Record> records_;  // of one piece
  std::deque<Copy> copies_;               // the host's first
  std::optional<FileLock> lock_;
  int64_t stream_ = 0;  // that is under way; 0: none is
  bool waited_ = false;
  bool begin_anew_ = false;  // a copy was cut back
  std::optional<bool> writer_alive_;
  std::optional<Stopped> stopped_;
  int64_t copier_us_ = 0;  // when LookAtCopier() last looked
  int64_t heard_us_ = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_MIRROR_H_
