// SPDX-License-Identifier: Apache-2.0
// What a host keeps about an environment that it made, and what listings show of it.
#ifndef TENON_RUN_ENVIRONMENT_RECORD_H_
#define TENON_RUN_ENVIRONMENT_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "run/event.h"
#include "run/packages.h"

namespace tenon::run {

class Members;

struct EnvironmentRecord {
  EnvironmentReady ready;  // `reused` has no meaning here
  Packages packages;       // what the project asked for
  std::string image_id;    // id of the image; "" for a folder
  std::string socket;      // socket of the engine that has the image
  int64_t created_us = 0;
  int64_t duration_us = 0;  // how long it took to make

  json::Object ToJson() const;
  static Result<EnvironmentRecord> FromJson(const json::Object& object);
};

struct ListedEnvironment {
  EnvironmentRecord record;
  int64_t last_used_us = 0;
  std::vector<std::string> runs;  // runs that used it and still have a folder, oldest first
  bool in_use = false;            // a live run uses it

  json::Object ToJson() const;  // the record's members and the three above
  static Result<ListedEnvironment> FromJson(const json::Object& object);
};

// For run/described.h.
json::Value ToJsonValue(const std::vector<ListedEnvironment>& listed);
void ReadValue(Members& in, std::string_view key, std::vector<ListedEnvironment>& out);

// Whether a text can be the key of an environment: 1 to 64 lower-case hex digits.
bool IsEnvironmentKey(std::string_view text);

}  // namespace tenon::run

#endif  // TENON_RUN_ENVIRONMENT_RECORD_H_
