// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_FEED_MIRROR_H_
#define TENON_ENGINE_FEED_MIRROR_H_

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
#include "engine/feed/run_feed.h"
#include "engine/host/machine.h"
#include "journal/reader.h"

namespace tenon::engine {

// Copies of a far run's segments in our own run folder, kept in step with the originals. The agent
// on the machine says which segments there are. Only whole records are copied: a half-written tail,
// which a killed writer left, may still be cut off and written anew on the machine. So a copy is
// always a beginning of the original, and going on at its end loses nothing and repeats nothing,
// whichever process stopped and when. The exception is a power cut on the machine, which may take
// back an end that was copied already. The host is the truth, so the copy is then cut back to where
// both are the same.
//
// One process of this home at a time copies (it locks the copy). Other processes see the copies
// grow.
class Mirror : public RunFeed {
 public:
  using OnRecords = decltype(FeedSink::on_records);

  // A stream that was requested together with the start of its run (AheadRequest()).
  struct Ahead {
    std::string run_id;  // "" = none
    int64_t stream = 0;
  };
  // Does nothing yet. `on_records` and `on_cut`: as in FeedSink. `ahead`: if it is the stream of
  // this run, the first request takes it over and clears `ahead`; null: there is none. `context`,
  // `far`, `ahead` and what the functions use must outlive this object.
  Mirror(Context& context, Machine& far, const std::string& run_id, OnRecords on_records = nullptr,
         std::function<void()> on_cut = nullptr, Ahead* ahead = nullptr);
  ~Mirror() override;

  // Fails with kUnavailable when the link is gone; the next call begins anew.
  Result<Heard> Wait(int64_t timeout_us) override;
  bool CaughtUp() const override { return waited_ && (writer_alive_.has_value() || !lock_); }
  Result<Heard> CatchUp() override;
  // Asks the host when another process of ours copies.
  Result<bool> IsWhole() override;
  Result<bool> TakeRest() override;
  int fd() const override;
  bool HasNews() const override { return stream_ != 0 && link().HasFrames(stream_); }
  bool MayMend(const Error& error) const override { return error.kind == ErrorKind::kUnavailable; }
  std::optional<Stopped> stopped() override { return stopped_; }
  int64_t SilentUs() const override;

  // The request that follows a run from its beginning. It is sent together with the start.
  static json::Object AheadRequest(const run::Home& far_home, const Ahead& ahead);

 private:
  struct Copy {
    std::string segment;
    std::string near_path, far_path;
    UniqueFd fd;
    journal::Decoder decoder;
    uint64_t length = 0;  // of the copy
    std::string pending;  // the beginning of the record after `length`
    bool there = false;   // the original exists
    int cuts = 0;         // how often CutBack()
  };

  Copy& AddCopy(std::string segment);
  // Adds the segments that this home has copies of.
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
  // Takes in one frame of the stream. Returns whether a copy has grown.
  Result<bool> TakeFrame(const Frame& frame);

  const Copy& hosts() const { return copies_.front(); }
  // Whether the host has, or had, this run.
  bool Known() const { return hosts().there || hosts().length > 0; }

  Context& context_;
  std::string run_id_;
  Machine& far_;
  OnRecords on_records_;
  std::function<void()> on_cut_;
  Ahead* ahead_;
  std::vector<journal::Record> records_;  // of the piece being taken in
  std::deque<Copy> copies_;               // the host's segment first
  std::optional<FileLock> lock_;
  int64_t stream_ = 0;  // stream under way; 0: none
  bool waited_ = false;
  bool begin_anew_ = false;  // a copy was cut back
  std::optional<bool> writer_alive_;
  std::optional<Stopped> stopped_;
  int64_t copier_us_ = 0;  // when LookAtCopier() last looked
  int64_t heard_us_ = 0;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_FEED_MIRROR_H_
