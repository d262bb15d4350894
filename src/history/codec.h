// SPDX-License-Identifier: Apache-2.0
// Folds and runs as bytes, for the index alone: nothing outside this folder sees them, and the
// journal can always make them again. JSON would do, but a listing of 1,000 runs then spends most
// of its time parsing (and JSON has no NaN, which is what a failed training logs). Members are
// written one after the other without names: a member added to one of these structs does not
// compile until the codec knows it, and then the schema's version goes up.
#ifndef TENON_HISTORY_CODEC_H_
#define TENON_HISTORY_CODEC_H_

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

}  // namespace tenon::history

#endif  // TENON_HISTORY_CODEC_H_
