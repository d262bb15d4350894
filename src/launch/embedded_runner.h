// SPDX-License-Identifier: Apache-2.0
// The runners that travel inside this program: that of the machine it was built for, and, where the
// build could make them, those of other kinds of machines.
#ifndef TENON_LAUNCH_EMBEDDED_RUNNER_H_
#define TENON_LAUNCH_EMBEDDED_RUNNER_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::launch {

// A stripped, static `tenon-runner`. Its members live in read-only memory for as long as the
// program runs.
struct EmbeddedProgram {
  std::string_view machine;  // as `uname -m` has it: "x86_64", "aarch64"
  std::string_view hash;     // SHA-256 of the file, 64 lower-case hex digits
  size_t size = 0;           // of the file
  std::string_view stored;   // the file's bytes, or a zstd frame of them
  bool packed = false;

  // The bytes of the executable file. A packed one is unpacked each time (some 10 ms). kCorrupt:
  // this very program's file is damaged.
  Result<std::string> Bytes() const;
};

// The one for such a machine; nullptr: this build has none. Any thread.
const EmbeddedProgram* FindEmbeddedRunner(std::string_view machine);

// The same as a pointer that is never null: kInvalid says which machines this build has runners
// for.
Result<const EmbeddedProgram*> EmbeddedRunnerFor(std::string_view machine);

// That of the machine this program was built for: the bytes of an executable file, and their
// SHA-256 in 64 lower-case hex digits, the name under which a host keeps them. Defined only in
// `tenon` and in test programs; the build generates the definition.
std::string_view EmbeddedRunner();
std::string_view EmbeddedRunnerHash();

// Those of other machines. The build generates the definition for `tenon`; elsewhere there are
// none.
std::span<const EmbeddedProgram> PackedRunners();

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_EMBEDDED_RUNNER_H_
