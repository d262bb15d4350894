// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_ENVIRONMENT_CREDENTIALS_JSON_H_
#define TENON_RUNNER_ENVIRONMENT_CREDENTIALS_JSON_H_

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"

namespace tenon::runner {

// {"uid", "gid", "groups"}: the user that a container's first process becomes.
json::Object CredentialsToJson(const Credentials& user);
// kInvalid when uid or gid is missing, so that a missing number never means root.
Result<Credentials> CredentialsFromJson(const json::Object* object);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_CREDENTIALS_JSON_H_
