// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_COMPRESS_H_
#define TENON_BASE_COMPRESS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon {

// Returns one zstd frame, which states the size of its contents.
std::string Compress(std::string_view bytes, int level = 1);
// Fails with kCorrupt when the frame is damaged, does not state its size, claims more than `limit`
// bytes, or has bytes behind it.
Result<std::string> Decompress(std::string_view frame, size_t limit);

// Compresses the pieces of a stream that is sent, each by itself, where that makes the piece a
// tenth smaller. After a few pieces for which it did not, only one in many is tried.
class PieceCompressor {
 public:
  explicit PieceCompressor(int level = 1) : level_(level) {}
  // nullopt: send the piece as it is.
  std::optional<std::string> Try(std::string_view piece);

 private:
  int level_;
  unsigned not_paid_ = 0;  // pieces in a row that stayed as they are; small ones are not counted
};

}  // namespace tenon

#endif  // TENON_BASE_COMPRESS_H_
