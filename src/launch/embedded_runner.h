// SPDX-License-Identifier: Apache-2.0
// The runners inside this program: the one for the machine that the program was built for, and, if
// the build could make them, those for other kinds of machines.
#ifndef TENON_LAUNCH_EMBEDDED_RUNNER_H_
#define TENON_LAUNCH_EMBEDDED_RUNNER_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::launch {

// A stripped, static `tenon-runner`. Its members point into read-only memory that stays valid until
// the program ends.
struct EmbeddedProgram {
  std::string_view machine;  // as `uname -m` prints it: "x86_64", "aarch64"
  std::string_view hash;     // SHA-256 of the file, 64 lower-case hex digits
  size_t size = 0;           // of the file
  std::string_view stored;   // the file's bytes, or a zstd frame of them
  bool packed = false;

  // Returns the bytes of the executable file. Unpacks a packed one on every call (some 10 ms).
  // Fails with kCorrupt when the file of this program is damaged.
  Result<std::string> Bytes() const;
};

// Returns the runner for this kind of machine, or nullptr if this build has none. May be called
// from any thread.
const EmbeddedProgram* FindEmbeddedRunner(std::string_view machine);

// Like FindEmbeddedRunner(), but never null: fails with kInvalid, and a hint that lists the
// machines for which this build has runners.
Result<const EmbeddedProgram*> EmbeddedRunnerFor(std::string_view machine);

// The runner for the machine that this program was built for: the bytes of an executable file, and
// their SHA-256 as 64 lower-case hex digits. Hosts keep the runner under a name made from that
// hash. Defined only in `tenon` and in test programs; the build generates the definition.
std::string_view EmbeddedRunner();
std::string_view EmbeddedRunnerHash();

// The runners for other machines. The build generates the definition for `tenon`; other programs
// get an empty list.
std::span<const EmbeddedProgram> PackedRunners();

}  // namespace tenon::launch

#endif  // TENON_LAUNCH_EMBEDDED_RUNNER_H_
