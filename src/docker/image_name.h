// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_DOCKER_IMAGE_NAME_H_
#define TENON_DOCKER_IMAGE_NAME_H_

#include <string>
#include <string_view>

namespace tenon::docker {

struct ImageName {
  std::string repository;  // "localhost:5000/a/b"
  std::string version;     // a tag or "sha256:…"; "latest" when the name has neither
};

// Splits "a", "a:1", "host:5000/a@sha256:…", "a:1@sha256:…" (where the digest is the version).
ImageName SplitImageName(std::string_view name);

}  // namespace tenon::docker

#endif  // TENON_DOCKER_IMAGE_NAME_H_
