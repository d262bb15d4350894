// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_EXECUTOR_CONTAINER_SCRIPT_H_
#define TENON_EXECUTOR_CONTAINER_SCRIPT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "docker/engine.h"
#include "executor/script.h"

namespace tenon::executor {

struct ContainerRequest {
  run::ContainerMade container;  // made and not started
  std::string input;             // what its init is told, on its standard input; holds secrets
  std::string segment;           // the file that its init writes, given to it at the folder `door`
  std::string door;
  // The engine has refused to start it: another one that it may like better, if there is one.
  std::function<Result<std::optional<run::ContainerMade>>(const Error& refused)> remake;
};

// The init of a container, by the segment that it writes.
class Init {
 public:
  struct Word {
    int64_t start_us = 0;  // of the script, wall clock; 0: not yet
    std::optional<run::ScriptEnded> ended;
  };
  virtual ~Init() = default;
  virtual bool IsGone() const = 0;  // it writes no more; asked often
  virtual Word Read() const = 0;    // what it has recorded so far
};

// The script in a container that has been made for it. Its init (our runner) records what happens
// in there; this side starts it, waits for its end and ends it. The container goes on when we go.
//
// An engine that goes away is looked for again, once a second; the run is not over because of that.
// If it stays away after the init has gone, it is over after a minute.
class ContainerScript : public Script {
 public:
  // `init` must outlive this object. `keep_on_fail`: a container whose script failed by itself does
  // not end with it; that is an exit all the same, and EndAll() lets the container be.
  ContainerScript(const Init& init, bool keep_on_fail, const Clock& clock = SystemClock())
      : init_(init), keep_on_fail_(keep_on_fail), clock_(clock) {}

  // Once. An Error means that nothing runs.
  Status Start(const ContainerRequest& request);
  // Takes over what another runner has started; instead of Start().
  void Adopt(const run::ContainerMade& container);
  // Removes a container of the run, also one that was made and never given to Start(): everything
  // has been fetched from it, or it will not be started. Repeatable. An Error: it may still be
  // there.
  Status Remove(const run::ContainerMade& container);

  int event_fd() const override { return waiting_ ? waiting_->fd() : -1; }
  void Signal(int signal) override;
  std::optional<Exit> Reap() override;
  int64_t CountLeft() override { return 0; }  // all end with their init
  run::Proof EndAll(bool thorough) override;
  bool is_kept() const { return kept_; }  // Exit::kept

 private:
  Status StartOnce(const ContainerRequest& request);
  Result<docker::Engine*> Engine();
  // Begins to wait for the container's end, or finds that it has ended.
  void Watch();
  void AskEngine();
  std::string LastWords();
  void NoteEnd(const std::optional<docker::Container>& container);
  void NoteKept();
  void NoteLost();
  void TakeInitsWord();

  const Init& init_;
  const bool keep_on_fail_;
  const Clock& clock_;
  run::ContainerMade made_;
  std::optional<docker::Engine> engine_;
  docker::Stream stream_;  // its standard streams; open as long as we are
  std::unique_ptr<docker::Waiting> waiting_;
  int64_t look_again_us_ = 0;
  int64_t lost_since_us_ = 0;  // monotonic; 0: somebody knows of the container
  std::optional<Exit> exit_;   // found, not told yet
  bool told_ = false;
  bool asked_ = false;  // to end
  bool we_killed_ = false;
  bool kept_ = false;
  bool lost_ = false;
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_CONTAINER_SCRIPT_H_
