// SPDX-License-Identifier: Apache-2.0
// The secrets of a run for whoever has to write its record when its runner is gone: names of
// metrics and outputs must be masked then too, and nobody else has the values.
//
// They are kept in two halves. The file <run folder>/masks has random bytes, and a file in memory
// (tmpfs) has the values, each byte changed by one of those. Either half alone is noise: no disk
// has a secret, and neither has a copy of the memory. A restart of the machine, or a file system
// without memory, loses them; then names that might hold a secret are withheld
// (docs/decisions/0015-secrets-after-the-runner.md).
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

// Keeps the secrets of a request until ForgetSecrets. No secrets: nothing is written. Where they
// cannot be kept the run goes on all the same; what cannot be had back is withheld later.
void KeepSecrets(const StartRequest& request);
// May be repeated.
void ForgetSecrets(const run::RunFolder& folder, const std::string& run_key);

// What is known of a run's secrets.
struct KnownSecrets {
  Environment values;
  bool all = true;      // every secret of the run is in `values`
  size_t shortest = 0;  // of what must be masked; shorter names are safe. Only if not `all`.
};
KnownSecrets SecretsOf(const run::RunFolder& folder, const run::RunSpec& spec);
// The values of a request, which has them, unless it is that of an adopted run.
KnownSecrets SecretsOf(const StartRequest& request);
std::vector<std::string> ValuesOf(const Environment& secrets);

// Names that a script chose, as they may be written down. One object per run.
class SafeNames {
 public:
  explicit SafeNames(const KnownSecrets& known);

  // Masked. Where that can't be done because not all secrets are known: as it is if it is too short
  // to hold one, else "withheld-N". The same name gives the same answer.
  std::string operator()(std::string_view name);
  // False: the run has no secrets, and every name is safe.
  bool changes_any() const { return !masker_.empty() || !know_all_; }
  // Whether texts can be masked.
  bool know_all() const { return know_all_; }
  uint64_t withheld() const { return withheld_.size(); }  // names so far

 private:
  Masker masker_;
  bool know_all_;
  size_t shortest_;
  std::map<std::string, std::string, std::less<>> withheld_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_KEPT_SECRETS_H_
