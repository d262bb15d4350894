// SPDX-License-Identifier: Apache-2.0
#include "launch/embedded_runner.h"

#include "base/compress.h"

namespace tenon::launch {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kThisMachine = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kThisMachine = "aarch64";
#else
#error "no runner is known for this machine"
#endif

const EmbeddedProgram& OwnRunner() {
  static const EmbeddedProgram own = {kThisMachine, EmbeddedRunnerHash(), EmbeddedRunner().size(),
                                      EmbeddedRunner(), false};
  return own;
}

}  // namespace

__attribute__((weak)) std::span<const EmbeddedProgram> PackedRunners() { return {}; }

Result<std::string> EmbeddedProgram::Bytes() const {
  if (!packed) return std::string(stored);
  TENON_TRY(std::string bytes, Decompress(stored, size));
  if (bytes.size() == size) return bytes;
  return Corrupt("the runner for " + std::string(machine) + " inside this program is damaged");
}

const EmbeddedProgram* FindEmbeddedRunner(std::string_view machine) {
  if (machine == kThisMachine) return &OwnRunner();
  for (const EmbeddedProgram& program : PackedRunners()) {
    if (program.machine == machine) return &program;
  }
  return nullptr;
}

Result<const EmbeddedProgram*> EmbeddedRunnerFor(std::string_view machine) {
  if (const EmbeddedProgram* found = FindEmbeddedRunner(machine)) return found;
  std::string known(kThisMachine);
  for (const EmbeddedProgram& program : PackedRunners())
    known += ", " + std::string(program.machine);
  Error error = Invalid("this build has no runner for " + std::string(machine));
  error.hint = "it has runners for " + known;
  if (machine == "aarch64") error.hint += "; `scripts/install` makes one that has this, too";
  return error;
}

}  // namespace tenon::launch
