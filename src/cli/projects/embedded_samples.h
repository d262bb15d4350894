// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_PROJECTS_EMBEDDED_SAMPLES_H_
#define TENON_CLI_PROJECTS_EMBEDDED_SAMPLES_H_

#include <span>
#include <string_view>

namespace tenon::cli {

struct EmbeddedSampleFile {
  std::string_view path;  // relative to samples/, with '/': "iris/README.md"
  std::string_view bytes;
  bool executable;
};

// The files of samples/, sorted by path, in read-only memory. The build generates the definition.
std::span<const EmbeddedSampleFile> EmbeddedSampleFiles();

}  // namespace tenon::cli

#endif  // TENON_CLI_PROJECTS_EMBEDDED_SAMPLES_H_
