// SPDX-License-Identifier: Apache-2.0
#include "engine/host/local_machine.h"

#include "base/file.h"

namespace tenon::engine {

LocalMachine::LocalMachine(Context& context)
    : Machine(context.home, {}), runs_(context), files_(context) {
  Use({context.host, context.launch, context.services, context.home});
}

Result<json::Object> LocalMachine::Probe() { return services().Probe(); }

bool LocalMachine::MayHave(const std::string& path) const { return Exists(path); }

Handover LocalMachine::Start(launch::StartRequest request, Reporter& /*reporter*/) {
  return {launch().Start(request)};
}

}  // namespace tenon::engine
