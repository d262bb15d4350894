// SPDX-License-Identifier: Apache-2.0
#include "engine/host/machine.h"

#include <utility>

namespace tenon::engine {

Machine::Machine(run::Home near_home, HostRecord known)
    : known_(std::move(known)), near_home_(std::move(near_home)) {}

transport::LinkState Machine::link() const {
  const transport::FrameLink* link = host().frames();
  return link != nullptr ? link->state() : transport::LinkState{};
}

Status Machine::Remember(const std::function<void(HostRecord&)>& change) {
  change(known_);
  return UpdateHost(near_home_, known_.id, change);
}

}  // namespace tenon::engine
