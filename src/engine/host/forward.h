// SPDX-License-Identifier: Apache-2.0
// Ports of machines, and of the containers of runs on them, on ports of 127.0.0.1 here. Nothing is
// printed.
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

// What is to be reached.
struct FarPort {
  Machine* machine = nullptr;
  std::string container_of;  // the run in whose container it is; "" = the machine's own
  int port = 0;

  // "port 6006 of my_dsvm"
  std::string Words() const;
  // The same address leads there from here, so nothing has to be forwarded.
  bool IsHere() const;
};
// A port of a run. kNotFound: it is over, or has no container yet.
Result<FarPort> PortOfRun(Context& context, const std::string& run_id, int port);

// A port of 127.0.0.1 that is ours; whoever comes waits to be let in.
struct LocalPort {
  UniqueFd fd;
  int port = 0;
};
// nullopt: it is taken, or not for us. 0: any that is free.
std::optional<LocalPort> TakeLocalPort(int port);

// Passes each connection on by a command of its own, which ends with us, however we end: nothing of
// a forward is left.
class Forward {
 public:
  // What is told while it goes on, each when it begins.
  struct News {
    std::function<void()> nobody_listens;                   // there, yet
    std::function<void(int code)> connection_lost;          // its command ended so
    std::function<void(const std::string& why)> link_lost;  // it is tried again
    std::function<void()> link_back;
  };

  // `own`: the environment of commands where the machine's way in has none of its own. Connects.
  // `local` listens from here on; Turn() lets in who comes.
  static Result<Forward> Open(FarPort far, LocalPort local, const Environment& own, News news);
  Forward(Forward&&) = default;
  Forward& operator=(Forward&&) = delete;
  ~Forward();

  // Waits a moment for somebody to come or go. kNotFound: the container is not there any more.
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
  UniqueFd nowhere_;  // its standard error
  size_t most_;       // connections at once; more wait until one ends
  std::vector<pid_t> going_;
  int said_ = 0;               // how the last command ended
  int64_t look_again_us_ = 0;  // at the link
  bool link_lost_ = false;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_FORWARD_H_
