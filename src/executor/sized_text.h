// SPDX-License-Identifier: Apache-2.0
// How a container's first process is told what to do: "<length>\n<bytes>" on its standard input,
// so that it needs no end of file to know that it has all.
#ifndef TENON_EXECUTOR_SIZED_TEXT_H_
#define TENON_EXECUTOR_SIZED_TEXT_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::executor {

Status WriteSized(int fd, std::string_view text);
// Waits for all of it. kUnavailable when the stream ends early, kInvalid when there is no length.
Result<std::string> ReadSized(int fd);

}  // namespace tenon::executor

#endif  // TENON_EXECUTOR_SIZED_TEXT_H_
