// SPDX-License-Identifier: Apache-2.0
// Environment images that several homes on one engine share.
//
// The home that makes an environment first gives its image the name tenon/env:<key>. Another home
// that wants the same environment uses that image and adds its own name, tenon/env:<key>-<home>, so
// that the image stays until the last home has removed its name. A home never takes a name from
// another home's image. While an environment is made, its container is called tenon-build-<key>.
// The engine allows each name once, so a second home notices that it can wait.
#ifndef TENON_RUNNER_ENVIRONMENT_SHARED_IMAGE_H_
#define TENON_RUNNER_ENVIRONMENT_SHARED_IMAGE_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "docker/engine.h"
#include "runner/environment/make_environment.h"

namespace tenon::runner {

inline constexpr const char* kImageRepository = "tenon/env";
inline constexpr const char* kLabelKind = "tenon.kind";  // "run", "build", "environment"
inline constexpr const char* kLabelRun = "tenon.run";    // run id
inline constexpr const char* kLabelKey = "tenon.key";    // of the environment
inline constexpr const char* kLabelHome = "tenon.home";  // the home that made it
inline constexpr const char* kLabelMade = "tenon.made";  // its contents: MadeLabel()

struct SharedImage {
  std::string id;
  MadeEnvironment made;
};

std::string ImageName(const std::string& key);  // given by the first home
std::string ImageNameOfHome(const std::string& key, const std::string& home);

// The text of an image's kLabelMade, and back; nullopt: not a valid label of ours.
std::string MadeLabel(const MadeEnvironment& made);
std::optional<MadeEnvironment> ReadMadeLabel(const std::string& label);

// The image with the environment's name. nullopt when there is none or its labels are not valid.
Result<std::optional<SharedImage>> FindShared(docker::Engine& engine, const std::string& key);
// Adds this home's name to an image of another home.
Status KeepShared(docker::Engine& engine, const std::string& id, const std::string& key,
                  const std::string& home);

// Names an image that was just made and has no name yet. If another home was faster and `anew` is
// not set, removes our image and returns that home's; else returns nullopt.
Result<std::optional<SharedImage>> NameImage(docker::Engine& engine, const std::string& id,
                                             const std::string& key, const std::string& home,
                                             bool anew);

// Waits while another home on this engine makes the environment. Calls `on_wait` once if it has to
// wait. Gives up when that home's container has stopped and has not become an image two minutes
// later.
Status WaitForOtherHome(docker::Engine& engine, const std::string& key, const std::string& home,
                        const std::function<void()>& on_wait, const std::atomic<bool>& stop);
std::string BuildContainerName(const std::string& key);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_SHARED_IMAGE_H_
