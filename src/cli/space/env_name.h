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

// Digits of a key that people are shown; any beginning that is unique is understood.
inline constexpr size_t kKeyDigits = 12;

// An environment, by its key or as a run has recorded it.
struct NamedEnvironment {
  std::string name;                              // for headings: the short key, or the run's id
  run::EnvironmentReady ready;                   // of the run where one was named
  std::optional<run::ListedEnvironment> listed;  // absent: it is not on this machine any more
  std::optional<journal::RunView> run;           // where one was named
};

// "KEY", "RUN" or "last". kNotFound for a run that had the user's own Python.
Result<NamedEnvironment> FindNamedEnvironment(Session& session, const std::string& name);

}  // namespace tenon::cli

#endif  // TENON_CLI_SPACE_ENV_NAME_H_
