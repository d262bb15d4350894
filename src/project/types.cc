// SPDX-License-Identifier: Apache-2.0
#include "project/types.h"

#include <algorithm>

namespace tenon::project {
namespace {

using run::ExecutorKind;

// `docker` and `virtualmachine` are what `localdocker` and `remotedocker` were called in mid-2017.
constexpr TargetType kTypes[] = {
    {"local", HostKind::kHere, LaunchKind::kDirect, ExecutorKind::kProcess, true, true},
    {"localdocker", HostKind::kHere, LaunchKind::kDirect, ExecutorKind::kContainer, false, true},
    {"docker", HostKind::kHere, LaunchKind::kDirect, ExecutorKind::kContainer, false, true},
    {"remote", HostKind::kSsh, LaunchKind::kDirect, ExecutorKind::kProcess, true, true},
    {"remotedocker", HostKind::kSsh, LaunchKind::kDirect, ExecutorKind::kContainer, false, true},
    {"virtualmachine", HostKind::kSsh, LaunchKind::kDirect, ExecutorKind::kContainer, false, true},
    {"cluster", HostKind::kSsh, LaunchKind::kDirect, ExecutorKind::kSpark, false, false},
    {"slurm", HostKind::kHereOrSsh, LaunchKind::kSlurm, ExecutorKind::kProcess, false, false},
};

// A key that only files of one kind of executor have.
struct OwnKey {
  ExecutorKind executor;
  std::string_view key;
};
constexpr OwnKey kOwnKeys[] = {
    {ExecutorKind::kProcess, "pythonLocation"},  {ExecutorKind::kContainer, "baseDockerImage"},
    {ExecutorKind::kContainer, "sharedVolumes"}, {ExecutorKind::kContainer, "nvidiaDocker"},
    {ExecutorKind::kSpark, "yarnDeployMode"},
};

}  // namespace

bool TargetType::HasKey(std::string_view key) const {
  return std::ranges::any_of(
      kOwnKeys, [&](const OwnKey& own) { return own.key == key && own.executor == executor; });
}

std::span<const TargetType> TargetTypes() { return kTypes; }

const TargetType* FindTargetType(std::string_view name) {
  for (const TargetType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::vector<std::string> TargetTypeNames(bool supported_only) {
  std::vector<std::string> names;
  for (const TargetType& type : kTypes) {
    if (type.supported || !supported_only) names.emplace_back(type.name);
  }
  return names;
}

}  // namespace tenon::project
