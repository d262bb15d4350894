// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_EXECUTOR_CONTAINER_EXECUTOR_H_
#define TENON_EXECUTOR_CONTAINER_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "docker/engine.h"
#include "executor/executor.h"

namespace tenon::executor {

// The script in a container that has been made for it. Its init (our runner) records what happens
// in there; this side starts it, waits for its end and ends it. The container goes on when we go.
//
// An engine that goes away is looked for again, once a second; the run is not over because of that.
class ContainerExecutor : public Executor {
 public:
  explicit ContainerExecutor(const Clock& clock = SystemClock()) : clock_(clock) {}

  Result<pid_t> Start(const ExecRequest& request) override;  // 0: a process number of elsewhere
  Status Adopt(const run::ContainerMade& container) override;
  bool has_own_init() const override { return true; }
  int event_fd() const override { return waiting_ ? waiting_->fd() : -1; }
  void Signal(int signal) override;
  std::optional<Exit> Reap() override;
  int64_t CountLeft() override { return 0; }  // all end with their init
  run::Proof EndAll(bool thorough) override;
  Status Release(const run::ContainerMade& container) override;
  pid_t pid() const override { return 0; }
  std::string cgroup() const override { return ""; }

 private:
  Status StartOnce(const ExecRequest& request);
  Result<docker::Engine*> Engine();
  // Begins to wait for the container's end, or finds that it has ended.
  void Watch();
  std::string LastWords();
  void NoteEnd(const std::optional<docker::Container>& container);

  const Clock& clock_;
  run::ContainerMade made_;
  std::optional<docker::Engine> engine_;
  docker::Stream stream_;  // its standard streams; open as long as we are
  std::unique_ptr<docker::Waiting> waiting_;
  int64_t look_again_us_ = 0;
  std::optional<Exit> exit_;  // found, not told yet
  bool told_ = false;
  bool we_killed_ = false;
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_CONTAINER_EXECUTOR_H_
