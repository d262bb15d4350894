// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_ENVIRONMENT_CREDENTIALS_JSON_H_
#define TENON_RUNNER_ENVIRONMENT_CREDENTIALS_JSON_H_

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"

namespace tenon::runner {

// {"uid", "gid", "groups"}: who a container's first process is to become.
json::Object CredentialsToJson(const Credentials& user);
// kInvalid when one of the two numbers is missing: nobody becomes root because of that.
Result<Credentials> CredentialsFromJson(const json::Object* object);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_CREDENTIALS_JSON_H_
