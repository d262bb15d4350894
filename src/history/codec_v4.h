// SPDX-License-Identifier: Apache-2.0
// Reads folds and runs as version 4 of the schema stored them: members one after the other, without
// tags.
#ifndef TENON_HISTORY_CODEC_V4_H_
#define TENON_HISTORY_CODEC_V4_H_

#include <optional>
#include <string>
#include <string_view>

namespace tenon::history {

// Each converts bytes of version 4 to those of codec.h; nullopt when they are damaged.
std::optional<std::string> FoldFromVersion4(std::string_view bytes);
std::optional<std::string> RowFromVersion4(std::string_view bytes);
std::optional<std::string> DetailFromVersion4(std::string_view bytes);

}  // namespace tenon::history

#endif  // TENON_HISTORY_CODEC_V4_H_
