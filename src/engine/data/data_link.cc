// SPDX-License-Identifier: Apache-2.0
#include "engine/data/data_link.h"

#include <algorithm>

#include "transport/agent.h"

namespace tenon::engine {
namespace {

using snapshot::DataReceiver;
using snapshot::DataSet;

constexpr std::string_view kLooking = "looking at what is there";

// Counts the bytes that are transferred, for OnProgress.
class Meter {
 public:
  Meter(Reporter& reporter, std::string_view what, const DataSet& set,
        const std::vector<DataReceiver::Lack>& lacks)
      : reporter_(reporter), what_(what), set_(set) {
    for (const auto& lack : lacks) total_ += set.files[lack.file].size - lack.offset;
  }
  void Note(const json::Object& head) {
    const auto index = static_cast<size_t>(json::GetInt(head, "file"));
    const auto offset = static_cast<uint64_t>(json::GetInt(head, "offset"));
    if (index >= set_.files.size() || offset > set_.files[index].size) return;
    done_ += std::min<uint64_t>(snapshot::kDataPiece, set_.files[index].size - offset);
    reporter_.OnProgress(what_, std::min(done_, total_), total_);
  }
  uint64_t total() const { return total_; }

 private:
  Reporter& reporter_;
  std::string_view what_;
  const DataSet& set_;
  uint64_t total_ = 0, done_ = 0;
};

Status ReadPieces(const DataScan& data, const std::vector<DataReceiver::Lack>& lacks,
                  const snapshot::PutDataPiece& put) {
  for (const auto& lack : lacks) {
    TENON_TRY(const UniqueFd fd, data.Open(lack.file));
    TENON_TRY_VOID(
        snapshot::SendDataPieces(fd.get(), data.set.files[lack.file], lack.file, lack.offset, put));
  }
  return {};
}

Moved Described(const DataSet& set, size_t sent_files, uint64_t sent_bytes) {
  Moved moved;
  moved.fingerprint = set.Fingerprint().Hex();
  moved.files = set.files.size();
  moved.bytes = set.bytes();
  moved.sent_files = sent_files;
  moved.sent_bytes = sent_bytes;
  return moved;
}

Result<std::unique_ptr<DataReceiver>> BeginHere(const snapshot::DataPlace& to, DataSet set,
                                                Reporter& reporter) {
  return DataReceiver::Begin(to, std::move(set),
                             [&reporter, looked = uint64_t{0}](uint64_t bytes) mutable -> Status {
                               reporter.OnProgress(kLooking, looked += bytes, 0);
                               return {};
                             });
}

}  // namespace

Result<Frame> AnswerTo(transport::FrameLink& link, int64_t timeout_us, Reporter& reporter) {
  for (uint64_t looked = 0;;) {
    TENON_TRY(Frame frame, link.Receive(timeout_us));
    if (frame.head.contains("looked")) {
      looked += static_cast<uint64_t>(json::GetInt(frame.head, "looked"));
      reporter.OnProgress(kLooking, looked, 0);
      continue;
    }
    if (!json::GetBool(frame.head, "ok")) return transport::AnswerError(frame.head);
    return frame;
  }
}

Error NotWhole(const std::string& name) {
  return Unavailable("the data set " + name + " is not whole there: a put was broken off")
      .WithHint("put it again; what has come is not sent twice");
}

Result<Moved> SendOver(Machine& machine, const json::Object& begin, const DataScan& data,
                       Reporter& reporter) {
  transport::FrameLink& link = *machine.host().frames();
  TENON_TRY_VOID(link.Send(begin, snapshot::PackDataText(data.set.ToText())));
  TENON_TRY(const Frame begun, AnswerTo(link, kDataLongUs, reporter));
  TENON_TRY(const std::string text, snapshot::UnpackDataText(begun.body));
  TENON_TRY(const auto lacks, snapshot::LacksFromText(text, data.set));
  Meter meter(reporter, "sending data", data.set, lacks);
  auto sent =
      ReadPieces(data, lacks, [&](const json::Object& head, const std::string& body) -> Status {
        TENON_TRY_VOID(link.Send(head, body));
        meter.Note(head);
        // The host answers before data-done only when something went wrong.
        TENON_TRY(const auto trouble, link.Next(0));
        return trouble ? Status(transport::AnswerError(trouble->head)) : Status();
      });
  if (!sent.ok()) {
    link.Close();  // so that the next request does not read the answer to this one
    return std::move(sent).error();
  }
  TENON_TRY_VOID(link.Send({{"op", "data-done"}}, {}));
  TENON_TRY(const Frame done, AnswerTo(link, kDataLongUs, reporter));
  Moved moved = Described(data.set, lacks.size(), meter.total());
  moved.removed = static_cast<uint64_t>(json::GetInt(done.head, "removed"));
  return moved;
}

Result<Moved> SendHere(Context& context, const snapshot::DataPlace& to, const DataScan& data,
                       Reporter& reporter) {
  TENON_TRY(const auto receiver, BeginHere(to, data.set, reporter));
  Meter meter(reporter, "copying data", data.set, receiver->lacks());
  const auto take = [&](const json::Object& head, const std::string& body) -> Status {
    TENON_TRY_VOID(snapshot::TakeDataPiece(*receiver, head, body));
    meter.Note(head);
    return {};
  };
  TENON_TRY_VOID(ReadPieces(data, receiver->lacks(), take));
  Moved moved = Described(data.set, receiver->lacks().size(), meter.total());
  TENON_TRY(const auto done, receiver->Finish(context.clock->NowUs()));
  moved.removed = done.removed;
  return moved;
}

Result<Moved> FetchOver(Context& context, Machine& machine, const json::Object& get,
                        const snapshot::DataPlace& to, DataSet set, Reporter& reporter) {
  TENON_TRY(const auto receiver, BeginHere(to, std::move(set), reporter));
  Meter meter(reporter, "fetching data", receiver->set(), receiver->lacks());
  Moved moved = Described(receiver->set(), receiver->lacks().size(), meter.total());
  transport::FrameLink& link = *machine.host().frames();
  bool more = !receiver->lacks().empty();
  // What may still come: bytes, and pieces without bytes (empty files). A machine that sends more
  // would never come to an end.
  uint64_t bytes_left = meter.total(), empty_left = receiver->lacks().size();
  if (more) {
    TENON_TRY_VOID(
        link.Send(get, snapshot::PackDataText(snapshot::LacksToText(receiver->lacks()))));
  }
  while (more) {
    TENON_TRY(const Frame frame, link.Receive(kDataSilenceUs));
    more = frame.head.contains("op");
    if (!more && !json::GetBool(frame.head, "ok")) return transport::AnswerError(frame.head);
    if (!more) break;
    auto taken = snapshot::TakeDataPiece(*receiver, frame.head, frame.body);
    if (taken.ok()) {
      uint64_t& left = *taken == 0 ? empty_left : bytes_left;
      const uint64_t came = std::max<uint64_t>(*taken, 1);
      if (left < came) taken = Corrupt("the machine sends more than was asked for");
      left -= std::min(left, came);
    }
    if (!taken.ok()) {
      link.Close();
      return std::move(taken).error().WithReason(kNotTaken);
    }
    meter.Note(frame.head);
  }
  TENON_TRY_VOID(receiver->Finish(context.clock->NowUs()));
  return moved;
}

}  // namespace tenon::engine
