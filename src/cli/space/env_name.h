// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_SPACE_ENV_NAME_H_
#define TENON_CLI_SPACE_ENV_NAME_H_

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/session.h"
#include "journal/fold.h"
#include "run/environment_record.h"

namespace tenon::cli {

// Number of digits of a key that are shown. Any unique beginning of a key is accepted.
inline constexpr size_t kKeyDigits = 12;

// An environment, named by its key or by a run.
struct NamedEnvironment {
  std::string name;                              // for headings: the short key or the run's id
  run::EnvironmentReady ready;                   // as the run recorded it, if a run was named
  std::optional<run::ListedEnvironment> listed;  // absent: this machine no longer has it
  std::optional<journal::RunView> run;           // the run, if one was named
};

// Finds an environment by "KEY", "RUN" or "last". kNotFound: there is no such run or key, or no
// environment is recorded with the run, for example because it used the user's own Python.
// kUnavailable: the run has no environment yet.
Result<NamedEnvironment> FindNamedEnvironment(Session& session, const std::string& name);

}  // namespace tenon::cli

#endif  // TENON_CLI_SPACE_ENV_NAME_H_
