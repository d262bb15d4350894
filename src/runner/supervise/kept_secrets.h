// SPDX-License-Identifier: Apache-2.0
// Keeps the secrets of a run for the process that writes its record if its runner is gone. That
// process must mask the secrets in names of metrics and outputs, and nobody else has the values.
//
// They are kept in two halves. The file <run folder>/masks holds random bytes. A file in memory
// (tmpfs) holds the values, each byte XORed with one of the random bytes. Either half alone is
// noise, so no disk holds a secret, and neither does a copy of the memory. The secrets are lost
// when the machine restarts, or when it has no file system in memory. Then names that might hold a
// secret are withheld (docs/decisions/0015-secrets-after-the-runner.md).
#ifndef TENON_RUNNER_SUPERVISE_KEPT_SECRETS_H_
#define TENON_RUNNER_SUPERVISE_KEPT_SECRETS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/mask.h"
#include "base/process.h"
#include "run/spec.h"
#include "runner/verbs/request.h"

namespace tenon::runner {

// Keeps the secrets of a request until ForgetSecrets(). Writes nothing when there are none. If they
// can't be kept, the run goes on all the same, and names may have to be withheld later.
void KeepSecrets(const StartRequest& request);
// Removes both halves. May be repeated.
void ForgetSecrets(const run::RunFolder& folder, const std::string& run_key);

// What is known of a run's secrets.
struct KnownSecrets {
  Environment values;
  bool all = true;      // every secret of the run is in `values`
  size_t shortest = 0;  // shortest text to mask, in bytes; only if not `all`
};
// Reads the secrets that KeepSecrets() kept. Never fails: what could not be read is not in
// `values`.
KnownSecrets SecretsOf(const run::RunFolder& folder, const run::RunSpec& spec);
// The secrets of a request. It has all of them, unless its run was adopted.
KnownSecrets SecretsOf(const StartRequest& request);
std::vector<std::string> ValuesOf(const Environment& secrets);

// Turns names that a script chose into names that may be written down. One object per run.
class SafeNames {
 public:
  explicit SafeNames(const KnownSecrets& known);

  // Returns `name` with all known secrets masked. If not all secrets are known, a name long enough
  // to hold one becomes "withheld-N". The same name always gives the same answer.
  std::string operator()(std::string_view name);
  // False: the run has no secrets, and every name is safe.
  bool changes_any() const { return !masker_.empty() || !know_all_; }
  // Whether every secret is known, so that texts can be masked.
  bool know_all() const { return know_all_; }
  uint64_t withheld() const { return withheld_.size(); }  // how many names so far

 private:
  Masker masker_;
  bool know_all_;
  size_t shortest_;
  std::map<std::string, std::string, std::less<>> withheld_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_KEPT_SECRETS_H_
