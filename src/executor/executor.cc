// SPDX-License-Identifier: Apache-2.0
#include "executor/executor.h"

#include "executor/container_executor.h"
#include "executor/process_executor.h"

namespace tenon::executor {
namespace {

struct Row {
  run::ExecutorKind kind;
  const char* what;
  std::unique_ptr<Executor> (*make)();  // nullptr: not in this version
};

const Row kTable[] = {
    {run::ExecutorKind::kProcess, "as a process",
     []() -> std::unique_ptr<Executor> { return std::make_unique<ProcessExecutor>(); }},
    {run::ExecutorKind::kContainer, "in a container",
     []() -> std::unique_ptr<Executor> { return std::make_unique<ContainerExecutor>(); }},
    {run::ExecutorKind::kSpark, "through spark-submit", nullptr},
};

}  // namespace

Status Executor::Adopt(const run::ContainerMade&) {
  return Invalid("what this runner started has ended with it");
}

Status Executor::Release(const run::ContainerMade&) { return {}; }

Result<std::unique_ptr<Executor>> MakeExecutor(run::ExecutorKind kind) {
  for (const Row& row : kTable) {
    if (row.kind != kind) continue;
    if (row.make != nullptr) return row.make();
    return Invalid(std::string("running a script ") + row.what + ": not in this version");
  }
  return Invalid("running a script: this runner does not know how the target wants it started");
}

}  // namespace tenon::executor
