// SPDX-License-Identifier: Apache-2.0
// Folds and runs as bytes, for the index alone: nothing outside this folder sees them, and the
// journal can always make them again. JSON would do, but a listing of 1,000 runs then spends most
// of its time parsing (and JSON has no NaN, which is what a failed training logs). Members carry
// their tags (base/field_codec.h): one that is added needs no other version of the schema, and rows
// that were written without it have its default.
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

// A run in two parts: what listings show, and what only its own page needs (steps, notices,
// packages).
std::string EncodeRow(const journal::RunView& view);
std::string EncodeDetail(const journal::RunView& view);
// Each fills its part of `view`. kCorrupt.
Status DecodeRow(std::string_view bytes, journal::RunView& view);
Status DecodeDetail(std::string_view bytes, journal::RunView& view);

// The contents of any of these, decompressed into `space` where needed; nullopt when they are
// damaged.
std::optional<std::string_view> SealedContents(std::string_view bytes, std::string* space);

}  // namespace tenon::history

#endif  // TENON_HISTORY_CODEC_H_
