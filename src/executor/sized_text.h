// SPDX-License-Identifier: Apache-2.0
// How a container's first process is told what to do: "<length>\n<bytes>" on its standard input.
// The length says when the text is complete, so the stream may stay open.
#ifndef TENON_EXECUTOR_SIZED_TEXT_H_
#define TENON_EXECUTOR_SIZED_TEXT_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::executor {

Status WriteSized(int fd, std::string_view text);
// Waits for the whole text. Fails with kUnavailable when the stream ends early, with kInvalid when
// there is no length or one above 64 MiB.
Result<std::string> ReadSized(int fd);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_SIZED_TEXT_H_
