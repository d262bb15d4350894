// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_COMPRESS_H_
#define TENON_BASE_COMPRESS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon {

// zstd, one frame, size inside.
std::string Compress(std::string_view bytes, int level = 1);
// kCorrupt when the frame is damaged or claims more than `limit` bytes.
Result<std::string> Decompress(std::string_view frame, size_t limit);

}  // namespace tenon

#endif  // TENON_BASE_COMPRESS_H_
