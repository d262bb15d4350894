// SPDX-License-Identifier: Apache-2.0
#include "base/error_json.h"

namespace tenon {

json::Object ErrorToJson(const Error& error) {
  json::Object object;
  object["kind"] = ErrorKindName(error.kind);
  object["message"] = json::EncodeBytes(error.message);
  if (!error.hint.empty()) object["hint"] = json::EncodeBytes(error.hint);
  if (!error.reason.empty()) object["reason"] = error.reason;
  return object;
}

Error ErrorFromJson(const json::Object& object) {
  static constexpr ErrorKind kKinds[] = {ErrorKind::kInvalid,     ErrorKind::kNotFound,
                                         ErrorKind::kUnavailable, ErrorKind::kDenied,
                                         ErrorKind::kCorrupt,     ErrorKind::kInternal};
  Error error;
  const std::string kind = json::GetString(object, "kind");
  for (const ErrorKind candidate : kKinds) {
    if (ErrorKindName(candidate) == kind) error.kind = candidate;
  }
  error.message =
      json::DecodeBytes(json::GetString(object, "message", "the other side gave no reason"));
  error.hint = json::DecodeBytes(json::GetString(object, "hint"));
  error.reason = json::GetString(object, "reason");
  error.answered = true;
  return error;
}

}  // namespace tenon
