// SPDX-License-Identifier: Apache-2.0
// An environment that was made on a host, as the host keeps it and as listings show it.
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
  EnvironmentReady ready;  // `reused` means nothing here
  Packages packages;       // what was asked for
  std::string image_id;    // of an image
  std::string socket;      // of the engine that has it
  int64_t created_us = 0;
  int64_t duration_us = 0;  // of making it

  json::Object ToJson() const;
  static Result<EnvironmentRecord> FromJson(const json::Object& object);
};

struct ListedEnvironment {
  EnvironmentRecord record;
  int64_t last_used_us = 0;
  std::vector<std::string> runs;  // that are still known there, oldest first
  bool in_use = false;            // by a run that goes on

  json::Object ToJson() const;  // the record's members and these
  static Result<ListedEnvironment> FromJson(const json::Object& object);
};

// For run/described.h.
json::Value ToJsonValue(const std::vector<ListedEnvironment>& listed);
void ReadValue(Members& in, std::string_view key, std::vector<ListedEnvironment>& out);

// Whether a text can be the key of an environment: lower-case hex digits alone.
bool IsEnvironmentKey(std::string_view text);

}  // namespace tenon::run

#endif  // TENON_RUN_ENVIRONMENT_RECORD_H_
