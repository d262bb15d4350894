// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_EXECUTOR_FAKE_SCRIPT_H_
#define TENON_EXECUTOR_FAKE_SCRIPT_H_

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "executor/process_script.h"

namespace tenon::executor {

// A Script in memory, for tests. Its plan says what it writes, how long it runs, how it ends and
// what it leaves behind. It starts no process, and time passes on the clock it is given. No SIGCHLD
// comes: the test calls Reap().
class FakeScript : public Script {
 public:
  struct Plan {
    std::optional<Error> start_error;  // Start() fails with this
    std::string to_stdout, to_stderr;  // written when it starts
    int64_t runs_us = 0;               // then it ends by itself; -1: never
    ExitStatus status;                 // how it then ends
    bool ignores_term = false;
    int64_t leaves = 0;  // processes that outlive it
    bool they_ignore_term = false;
    int64_t unkillable = 0;  // how many of these EndAll() can't end
  };

  explicit FakeScript(Plan plan, const Clock& clock = SystemClock());

  Result<pid_t> Start(const ProcessRequest& request);
  void Signal(int signal) override;
  std::optional<Exit> Reap() override;
  int64_t CountLeft() override;
  run::Proof EndAll(bool thorough) override;
  pid_t pid() const { return started_ ? 4242 : 0; }

  // The request and the signals it got.
  const std::optional<ProcessRequest>& request() const { return request_; }
  const std::vector<int>& signals() const { return signals_; }

 private:
  bool Running() const;  // not ended yet, by itself or by a signal

  Plan plan_;
  const Clock& clock_;
  std::optional<ProcessRequest> request_;
  std::vector<int> signals_;
  bool started_ = false;
  int64_t start_us_ = 0;
  std::optional<ExitStatus> killed_;
  bool reaped_ = false;
  int64_t left_ = 0;
  int64_t ended_ = 0;
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_FAKE_SCRIPT_H_
