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
  std::string input;             // for its init's standard input; holds secrets
  std::string segment;           // file that its init writes, handed over by a SegmentDoor
  std::string door;              // folder of that SegmentDoor
  // Called when the container could not be started. Returns another container to try; nullopt:
  // there is none.
  std::function<Result<std::optional<run::ContainerMade>>(const Error& refused)> remake;
};

// What the init of a container has written to its segment.
class Init {
 public:
  struct Word {
    int64_t start_us = 0;  // when the script started, wall clock; 0: not yet
    std::optional<run::ScriptEnded> ended;
  };
  virtual ~Init() = default;
  virtual bool IsGone() const = 0;  // the init has ended; called often
  virtual Word Read() const = 0;    // what it has recorded so far
};

// A script in a container that was made for it. The container's init (our runner) records what
// happens inside. This object starts the container, waits for its end and ends it. The container
// goes on when this object is destroyed.
//
// When the engine does not answer, it is asked again once a second, and the run goes on. When the
// init is gone and the engine has not answered for a minute, the run is over.
class ContainerScript : public Script {
 public:
  // `init` must outlive this object. `keep_on_fail`: when the script fails and nobody has asked it
  // to end, the container is kept. Reap() then returns an Exit with `kept`, and EndAll() does not
  // end the container.
  ContainerScript(const Init& init, bool keep_on_fail, const Clock& clock = SystemClock())
      : init_(init), keep_on_fail_(keep_on_fail), clock_(clock) {}

  // Starts the container. Called once. On an Error the script does not run.
  Status Start(const ContainerRequest& request);
  // Takes over a container that another runner has started. Called instead of Start().
  void Adopt(const run::ContainerMade& container);
  // Removes a container of the run, also one that was never given to Start(). The caller has
  // fetched what it needs from it. May be repeated. After an Error the container may still exist.
  Status Remove(const run::ContainerMade& container);

  int event_fd() const override { return waiting_ ? waiting_->fd() : -1; }
  void Signal(int signal) override;
  std::optional<Exit> Reap() override;
  int64_t CountLeft() override { return 0; }  // all processes end with the init
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
  docker::Stream stream_;  // the container's standard streams
  std::unique_ptr<docker::Waiting> waiting_;
  int64_t look_again_us_ = 0;
  int64_t lost_since_us_ = 0;  // monotonic; 0: the engine or the init still tells of it
  std::optional<Exit> exit_;   // known; Reap() returns it
  bool told_ = false;          // Reap() has returned it
  bool asked_ = false;         // Signal() or EndAll() was called
  bool we_killed_ = false;
  bool kept_ = false;
  bool lost_ = false;
};

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_CONTAINER_SCRIPT_H_
