// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_COMPRESS_H_
#define TENON_BASE_COMPRESS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon {

// zstd, one frame, size inside.
std::string Compress(std::string_view bytes, int level = 1);
// kCorrupt when the frame is damaged or claims more than `limit` bytes.
Result<std::string> Decompress(std::string_view frame, size_t limit);

// For pieces of one stream that travel: each is compressed where that makes it a tenth smaller.
// After a few for which it did not, only now and then one is tried.
class PieceCompressor {
 public:
  explicit PieceCompressor(int level = 1) : level_(level) {}
  // nullopt: send it as it is.
  std::optional<std::string> Try(std::string_view piece);

 private:
  int level_;
  unsigned not_paid_ = 0;  // one after the other
};

}  // namespace tenon

#endif  // TENON_BASE_COMPRESS_H_
