// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/executor.h"

#include "runner/container/container_executor.h"
#include "runner/supervise/process_executor.h"

namespace tenon::runner {
namespace {

template <typename T>
std::unique_ptr<Executor> Make(const StartRequest& request, const Facts& facts) {
  return std::make_unique<T>(request, facts);
}

struct Row {
  run::ExecutorKind kind;
  const char* what;
  std::unique_ptr<Executor> (*make)(const StartRequest&,
                                    const Facts&);  // nullptr: not in this version
};

const Row kTable[] = {
    {run::ExecutorKind::kProcess, "as a process", Make<ProcessExecutor>},
    {run::ExecutorKind::kContainer, "in a container", Make<ContainerExecutor>},
    {run::ExecutorKind::kSpark, "through spark-submit", nullptr},
};

}  // namespace

Result<std::unique_ptr<Executor>> MakeExecutor(const StartRequest& request, const Facts& facts) {
  // A power cut may lose the spec. A container on record then tells the kind.
  const run::ExecutorKind kind =
      facts.container ? run::ExecutorKind::kContainer : request.spec.executor;
  for (const Row& row : kTable) {
    if (row.kind != kind) continue;
    if (row.make != nullptr) return row.make(request, facts);
    return Invalid(std::string("running a script ") + row.what + ": not in this version");
  }
  return Invalid("running a script: this runner does not know how the target wants it started");
}

}  // namespace tenon::runner
