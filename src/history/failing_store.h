// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_HISTORY_FAILING_STORE_H_
#define TENON_HISTORY_FAILING_STORE_H_

#include <string>
#include <utility>
#include <vector>

#include "history/store.h"

namespace tenon::history {

// A store for tests: every call fails with the Error given to the constructor.
class FailingStore : public HistoryStore {
 public:
  explicit FailingStore(Error error = Unavailable("the history is made to fail"))
      : error_(std::move(error)) {}

  Result<journal::Place> PlaceOf(const std::string&) override { return Fail(); }
  Result<journal::Cursor> Ingest(const std::string&, const std::string&,
                                 const std::function<Result<std::optional<journal::Record>>()>&,
                                 const std::function<journal::Cursor()>&, uint64_t) override {
    return Fail();
  }
  Result<journal::RunView> Get(const std::string&) override { return Fail(); }
  Status Visit(const RunQuery&, const std::function<Status(const RunRow&)>&) override {
    return Fail();
  }
  Result<uint64_t> CountRuns(const RunQuery&) override { return Fail(); }
  Result<std::vector<std::string>> IdsWithPrefix(const std::string&, std::string_view,
                                                 size_t) override {
    return Fail();
  }
  Result<std::optional<std::string>> IdOfNumber(const std::string&, int64_t) override {
    return Fail();
  }
  Result<int64_t> LastNumber(const std::string&) override { return Fail(); }
  Status ReadMetrics(
      const std::string&, const std::string&,
      const std::function<Status(const std::string&, const run::MetricPoint&)>&) override {
    return Fail();
  }
  Status SetUnreadable(const std::string&, const std::string&, const journal::RunView&) override {
    return Fail();
  }
  Status Delete(const std::string&) override { return Fail(); }
  Status Clear() override { return Fail(); }
  Result<bool> NeedsRebuild() override { return Fail(); }
  Status MarkRebuilt() override { return Fail(); }
  Result<Seen> LastSeen() override { return Fail(); }
  Status MarkSeen(const Seen&, const std::optional<Seen>&) override { return Fail(); }

  int calls() const { return calls_; }

 private:
  Error Fail() {
    ++calls_;
    return error_;
  }

  Error error_;
  int calls_ = 0;
};

}  // namespace tenon::history

#endif  // TENON_HISTORY_FAILING_STORE_H_
