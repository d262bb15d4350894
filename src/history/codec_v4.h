// SPDX-License-Identifier: Apache-2.0
// Folds and runs as version 4 of the schema stored them: members one after the other, without tags.
#ifndef TENON_HISTORY_CODEC_V4_H_
#define TENON_HISTORY_CODEC_V4_H_

#include <optional>
#include <string>
#include <string_view>

namespace tenon::history {

// Each makes the bytes of codec.h from those of version 4; nullopt when these are damaged.
std::optional<std::string> FoldFromVersion4(std::string_view bytes);
std::optional<std::string> RowFromVersion4(std::string_view bytes);
std::optional<std::string> DetailFromVersion4(std::string_view bytes);

}  // namespace tenon::history

#endif  // TENON_HISTORY_CODEC_V4_H_
