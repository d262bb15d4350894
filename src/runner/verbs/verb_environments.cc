// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/verb_environments.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "docker/engine.h"
#include "runner/environment/environment_image.h"
#include "runner/environment/environments.h"

namespace tenon::runner {
namespace {

constexpr const char* kInUse = "a run that goes on uses it";

class Remover {
 public:
  Remover(const std::string& home, const run::EnvironmentsRequest& request)
      : home_(home), request_(request), environments_(home) {}

  void Remove(const std::string& key) {
    auto why = TryRemove(key);
    if (!why) {
      answer_.removed.push_back(key);
    } else {
      answer_.kept.push_back({key, *why});
    }
  }

  run::EnvironmentsAnswer Take() { return std::move(answer_); }

 private:
  // Returns why the environment stays; nullopt: it is gone.
  std::optional<std::string> TryRemove(const std::string& key) {
    auto record = environments_.Find(key);
    if (!record.ok()) return record.error().message;
    if (!*record) return std::nullopt;
    auto lock = FileLock::Take(environments_.folder(key) + ".lock", /*wait=*/false);
    if (!lock.ok()) {
      return lock.error().kind == ErrorKind::kUnavailable ? "it is being made anew"
                                                          : lock.error().message;
    }
    if (environments_.InUse(key)) return kInUse;
    if (!request_.dry_run) {
      if (auto aside = environments_.SetAside(key); !aside.ok()) return aside.error().message;
      auto why = RemoveUnseen(key, **record);
      if (why) {
        (void)environments_.Restore(key).ok();
        return why;
      }
      if (auto gone = environments_.Remove(key); !gone.ok()) return gone.error().message;
    }
    answer_.bytes_freed += (*record)->ready.bytes;
    return std::nullopt;
  }

  // No run finds the environment any more. A run that found it a moment ago has marked its use, so
  // InUse() is asked again.
  std::optional<std::string> RemoveUnseen(const std::string& key, const EnvironmentRecord& record) {
    if (environments_.InUse(key)) return kInUse;
    if (record.socket.empty()) return std::nullopt;
    auto removed = RemoveImage(record);
    return removed.ok() ? std::nullopt : std::optional(removed.error().message);
  }

  // Removes the image, and older images of this environment that have lost their name to it.
  Status RemoveImage(const EnvironmentRecord& record) {
    TENON_TRY(docker::Engine engine, docker::Engine::Connect(record.socket));
    TENON_TRY(const auto images,
              engine.ListImages(std::string(kLabelKey) + "=" + record.ready.key));
    const std::string own_name = ImageNameOfHome(record.ready.key, home_);
    for (const docker::Image& image : images) {
      // Of an image that another home has made, only our own name is removed.
      const bool ours = docker::LabelOf(image.labels, kLabelHome) == home_;
      if (ours && image.tags.empty()) TENON_TRY_VOID(engine.RemoveImage(image.id));
      for (const std::string& tag : image.tags) {
        if (tag != own_name && !(ours && tag == record.ready.name)) continue;
        TENON_TRY_VOID(engine.RemoveImage(tag));
      }
    }
    return {};
  }

  const std::string& home_;
  const run::EnvironmentsRequest& request_;
  Environments environments_;
  run::EnvironmentsAnswer answer_;
};

}  // namespace

Result<run::EnvironmentsAnswer> AnswerEnvironments(const std::string& home,
                                                   const run::EnvironmentsRequest& request) {
  Remover remover(home, request);
  for (const std::string& key : request.remove) remover.Remove(key);
  run::EnvironmentsAnswer answer = remover.Take();
  const Environments environments(home);
  if (!request.remove.empty() && !request.dry_run) environments.TidyUp();
  TENON_TRY(answer.environments, environments.List());
  return answer;
}

}  // namespace tenon::runner
