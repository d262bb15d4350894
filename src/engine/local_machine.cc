// SPDX-License-Identifier: Apache-2.0
#include "engine/local_machine.h"

namespace tenon::engine {

LocalMachine::LocalMachine(Context& context) : Machine(context.home, {}), runs_(context) {
  Use({context.host, context.launch, context.services, context.home});
}

Handover LocalMachine::Start(launch::StartRequest request, Reporter& /*reporter*/) {
  return {launch().Start(request)};
}

}  // namespace tenon::engine
