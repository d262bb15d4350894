// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_EMBEDDED_SHIM_H_
#define TENON_RUNNER_SUPERVISE_EMBEDDED_SHIM_H_

#include <span>
#include <string_view>

namespace tenon::runner {

struct EmbeddedFile {
  std::string_view
      path;  // relative, with '/', never with ".." in it; for example "tenon/__init__.py"
  std::string_view bytes;
};

// The files of python/, sorted by path, in read-only memory. The build generates the definition.
std::span<const EmbeddedFile> EmbeddedShim();

// SHA-256 over all paths and bytes, 64 lower-case hex digits. It changes exactly when a file does,
// so a folder named by it can be made once and reused.
std::string_view EmbeddedShimHash();

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_EMBEDDED_SHIM_H_
