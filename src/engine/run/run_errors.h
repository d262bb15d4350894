// SPDX-License-Identifier: Apache-2.0
// Errors about a run that several files of this folder make or tell apart.
#ifndef TENON_ENGINE_RUN_RUN_ERRORS_H_
#define TENON_ENGINE_RUN_RUN_ERRORS_H_

#include <string>

#include "base/result.h"

namespace tenon::engine {

// Whether the Error is about the contents of a run's folder.
bool IsDamage(const Error& error);
// kCorrupt, with the way to remove the run.
Error Unreadable(const std::string& run_id, const std::string& why);
// kNotFound, with the ways to name a run.
Error NoSuchRun(const std::string& name);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_RUN_ERRORS_H_
