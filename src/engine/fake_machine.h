// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_FAKE_MACHINE_H_
#define TENON_ENGINE_FAKE_MACHINE_H_

#include <utility>

#include "engine/context.h"
#include "engine/machine.h"

namespace tenon::engine {

// A machine put together from parts, for tests of what works with one.
class FakeMachine : public Machine {
 public:
  FakeMachine(Context& context, Parts parts, HostRecord known = {})
      : Machine(context.home, std::move(known)) {
    Use(std::move(parts));
  }

  void Open() override {}
  Handover Start(launch::StartRequest request, Reporter&) override {
    return {launch().Start(request)};
  }
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_FAKE_MACHINE_H_
