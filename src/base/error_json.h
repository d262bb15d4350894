// SPDX-License-Identifier: Apache-2.0
// An Error as one side of a conversation sends it to the other: {kind, message[, hint][, reason]}.
// Its texts may have any bytes (json::EncodeBytes).
#ifndef TENON_BASE_ERROR_JSON_H_
#define TENON_BASE_ERROR_JSON_H_

#include "base/json.h"
#include "base/result.h"

namespace tenon {

json::Object ErrorToJson(const Error& error);
// Marks the Error as answered. A kind that is missing or unknown becomes kInternal; a missing
// message becomes a text that says so.
Error ErrorFromJson(const json::Object& object);

}  // namespace tenon

#endif  // TENON_BASE_ERROR_JSON_H_
