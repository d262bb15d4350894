// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_CONTAINER_CONTAINER_MAKER_H_
#define TENON_RUNNER_CONTAINER_CONTAINER_MAKER_H_

#include <atomic>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "executor/container_config.h"
#include "gpu/access.h"
#include "run/event.h"
#include "run/layout.h"
#include "runner/environment/environment_image.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// The container of one run: made, made again when the engine does not like it, and what its init
// is told.
class ContainerMaker {
 public:
  // `request` and `stop` must outlive this object.
  ContainerMaker(EngineContext context, const StartRequest& request, ImageEnvironment environment,
                 gpu::Access access, const std::atomic<bool>& stop);

  // The folders of the run that the container is given. Once, before all else.
  Status PrepareFolders();
  // Makes the container and, if the project is not shared with it, copies it in. An Error leaves no
  // container. kNotFound: the image has been removed meanwhile.
  Result<run::ContainerMade> Make();
  // After the engine has refused to start the last one: another one that it may like better;
  // nullopt if there is none.
  Result<std::optional<run::ContainerMade>> MakeAgain(const Error& refused);
  // What the init is told, for its standard input. Holds secrets.
  std::string Job() const;

 private:
  Status CreateAndFill(const json::Object& config, run::ContainerMade* made);
  Status PreparePycache();
  bool IsAboutTheGpu(const std::string& words) const;
  Result<executor::ContainerPlan> Plan();
  Status CopyIn(const std::string& id);

  EngineContext context_;
  const StartRequest& request_;
  const std::atomic<bool>& stop_;
  run::RunFolder folder_;
  ImageEnvironment environment_;
  gpu::Access access_;
  bool pinned_memory_ = true;
  std::string shim_, share_, pycache_, passwd_, group_;
};

// What an engine says of itself, for gpu::Decide().
gpu::EngineFacts FactsOf(const EngineContext& context);

// What a process of the run finds in its environment inside the container, over the image's own;
// without secrets and without what is the script's alone (its mark, its metrics).
Environment ContainerVariables(const StartRequest& request, const std::string& user_name);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_CONTAINER_CONTAINER_MAKER_H_
