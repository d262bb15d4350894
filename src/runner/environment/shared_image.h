// SPDX-License-Identifier: Apache-2.0
// Environment images that several homes on one engine share.
//
// Whoever makes an environment first gives its image the name tenon/env:<key>. Another home that
// wants the same one takes that image and adds a name of its own, tenon/env:<key>-<home>, so that
// the image stays until the last home has let go of it. A name is never taken from an image of
// another home. While an environment is made, its container is called tenon-build-<key>: the engine
// gives a name once, so a second home sees that it can wait.
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
inline constexpr const char* kLabelHome = "tenon.home";  // whose it is
inline constexpr const char* kLabelMade = "tenon.made";  // what is in it: MadeLabel()

struct SharedImage {
  std::string id;
  MadeEnvironment made;
};

std::string ImageName(const std::string& key);  // of the first home
std::string ImageNameOfHome(const std::string& key, const std::string& home);

// For the label of an image, and back; nullopt: not one of ours.
std::string MadeLabel(const MadeEnvironment& made);
std::optional<MadeEnvironment> ReadMadeLabel(const std::string& label);

// The image that has the environment's name, if it is whole and says what is in it.
Result<std::optional<SharedImage>> FindShared(docker::Engine& engine, const std::string& key);
// Gives an image of another home our own name too.
Status KeepShared(docker::Engine& engine, const std::string& id, const std::string& key,
                  const std::string& home);

// Names an image that was just made and has no name yet. Where another home was faster and `anew`
// is not set, returns that home's image, and ours is gone; else nullopt.
Result<std::optional<SharedImage>> NameImage(docker::Engine& engine, const std::string& id,
                                             const std::string& key, const std::string& home,
                                             bool anew);

// Waits while another home on this engine makes the environment; `on_wait` is called once if there
// is one. Gives up on one whose container has stopped and whose image does not come.
Status WaitForOtherHome(docker::Engine& engine, const std::string& key, const std::string& home,
                        const std::function<void()>& on_wait, const std::atomic<bool>& stop);
std::string BuildContainerName(const std::string& key);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_SHARED_IMAGE_H_
