// SPDX-License-Identifier: Apache-2.0
// An Error as one side of a conversation tells it to the other: {kind, message[, hint][, reason]}.
// Its words may have any bytes (json::EncodeBytes).
#ifndef TENON_BASE_ERROR_JSON_H_
#define TENON_BASE_ERROR_JSON_H_

#include "base/json.h"
#include "base/result.h"

namespace tenon {

json::Object ErrorToJson(const Error& error);
// Marked as answered. What is missing or unknown in it becomes kInternal and a message that says
// so.
Error ErrorFromJson(const json::Object& object);

}  // namespace tenon

#endif  // TENON_BASE_ERROR_JSON_H_
