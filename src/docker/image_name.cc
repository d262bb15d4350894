// SPDX-License-Identifier: Apache-2.0
#include "docker/image_name.h"

namespace tenon::docker {

ImageName SplitImageName(std::string_view name) {
  const size_t at = name.find('@');
  const std::string_view rest = name.substr(0, at);
  const size_t slash = rest.rfind('/');
  // A colon before the last slash belongs to a port.
  const size_t colon = rest.find(':', slash == std::string_view::npos ? 0 : slash);
  ImageName parts;
  parts.repository = std::string(rest.substr(0, colon));
  if (at != std::string_view::npos) {
    parts.version = std::string(name.substr(at + 1));
  } else {
    parts.version =
        colon == std::string_view::npos ? "latest" : std::string(rest.substr(colon + 1));
  }
  return parts;
}

}  // namespace tenon::docker
