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

// Makes the container of one run, makes another one if the engine refuses to start it, and writes
// the job for its init.
class ContainerMaker {
 public:
  // `request` and `stop` must outlive this object.
  ContainerMaker(EngineContext context, const StartRequest& request, ImageEnvironment environment,
                 gpu::Access access, const std::atomic<bool>& stop);

  // Makes the folders of the run that are mounted into the container. Called once, before Make().
  Status PrepareFolders();
  // Makes the container and, if the project is not shared with it, copies the project in. Leaves no
  // container after an Error. kNotFound: the image has been removed meanwhile.
  Result<run::ContainerMade> Make();
  // Called after the engine has refused to start the last container. Makes one in another way that
  // the engine may accept; nullopt when there is none left.
  Result<std::optional<run::ContainerMade>> MakeAgain(const Error& refused);
  // The job that the init reads from its standard input. Holds secrets.
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

// The engine's version, runtimes and devices, for gpu::Decide().
gpu::EngineFacts FactsOf(const EngineContext& context);

// Variables that a process of the run gets inside the container, in addition to the image's.
// Without secrets and without those for the script alone (the run's mark, the metrics folder).
Environment ContainerVariables(const StartRequest& request, const std::string& user_name);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_CONTAINER_CONTAINER_MAKER_H_
