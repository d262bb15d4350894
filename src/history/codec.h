// SPDX-License-Identifier: Apache-2.0
// Encodes folds and runs as bytes for the index. Nothing outside this folder reads these bytes, and
// they can always be made again from the journal. JSON was rejected: a listing of 1,000 runs would
// spend most of its time parsing, and JSON has no NaN, which a failed training logs. Each member
// carries a tag (base/field_codec.h), so a new member needs no new version of the schema; rows
// written without it get its default.
#ifndef TENON_HISTORY_CODEC_H_
#define TENON_HISTORY_CODEC_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "journal/fold.h"

namespace tenon::history {

std::string EncodeFold(const journal::SegmentFold& fold);
Result<journal::SegmentFold> DecodeFold(std::string_view bytes);  // kCorrupt

// A run is stored in two parts: what listings show, and what only the page of one run needs (steps,
// notices, environment, container).
std::string EncodeRow(const journal::RunView& view);
std::string EncodeDetail(const journal::RunView& view);
// Each fills its part of `view`. kCorrupt when the bytes are damaged.
Status DecodeRow(std::string_view bytes, journal::RunView& view);
Status DecodeDetail(std::string_view bytes, journal::RunView& view);

// The contents of bytes that any Encode function above made. Compressed contents are decompressed
// into `*space`; otherwise the result points into `bytes`. nullopt when the bytes are damaged.
std::optional<std::string_view> SealedContents(std::string_view bytes, std::string* space);

}  // namespace tenon::history

#endif  // TENON_HISTORY_CODEC_H_
