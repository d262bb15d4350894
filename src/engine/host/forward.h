// SPDX-License-Identifier: Apache-2.0
// Makes ports of machines, and of containers of runs on them, reachable as ports of 127.0.0.1 on
// this machine. Nothing is printed.
#ifndef TENON_ENGINE_HOST_FORWARD_H_
#define TENON_ENGINE_HOST_FORWARD_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/process.h"
#include "base/result.h"
#include "engine/context.h"
#include "engine/host/machine.h"

namespace tenon::engine {

// The port that is to be reached.
struct FarPort {
  Machine* machine = nullptr;
  std::string container_of;  // run whose container has the port; "" = the machine itself
  int port = 0;

  // Returns, for example, "port 6006 of my_dsvm".
  std::string Words() const;
  // Whether this machine reaches the port at the same address, so nothing has to be forwarded.
  bool IsHere() const;
};
// Returns a port of a run. Fails with kNotFound when the run is over or has no container yet.
Result<FarPort> PortOfRun(Context& context, const std::string& run_id, int port);

// A listening port of 127.0.0.1. Connections wait until Forward accepts them.
struct LocalPort {
  UniqueFd fd;
  int port = 0;
};
// Takes `port`, or any free port for 0. Returns nullopt when the port is taken or not allowed.
std::optional<LocalPort> TakeLocalPort(int port);

// Passes on each connection through a command of its own. The commands end with this process,
// however it ends, so nothing of a forward stays behind.
class Forward {
 public:
  // Called while the forward goes on, each when its condition begins.
  struct News {
    std::function<void()> nobody_listens;                   // nothing listens on the far port yet
    std::function<void(int code)> connection_lost;          // its command ended with this code
    std::function<void(const std::string& why)> link_lost;  // the link is tried again
    std::function<void()> link_back;
  };

  // Connects to the machine. `own`: the environment for the commands when the machine's way in has
  // none of its own. `local` listens already; Turn() accepts its connections.
  static Result<Forward> Open(FarPort far, LocalPort local, const Environment& own, News news);
  Forward(Forward&&) = default;
  Forward& operator=(Forward&&) = delete;
  ~Forward();

  // Waits a moment, accepts a connection and collects ended commands. Fails with kNotFound when the
  // container no longer exists.
  Status Turn();

 private:
  Forward(FarPort far, LocalPort local, News news, SpawnOptions command, UniqueFd nowhere,
          size_t most);
  Status Accept();
  Status TakeEnds();
  Status LookAtLink();

  FarPort far_;
  LocalPort local_;
  News news_;
  SpawnOptions command_;
  UniqueFd nowhere_;  // /dev/null, the standard error of the commands
  size_t most_;       // connections at once; more wait until one ends
  std::vector<pid_t> going_;
  int said_ = 0;               // exit code of the last command that ended
  int64_t look_again_us_ = 0;  // when to look at the link next
  bool link_lost_ = false;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_FORWARD_H_
