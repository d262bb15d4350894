// SPDX-License-Identifier: Apache-2.0
#include "history/codec.h"

#include <utility>
#include <variant>

#include "base/compress.h"
#include "base/field_codec.h"
#include "history/database.h"
#include "run/artifact_name.h"

namespace tenon::history {
namespace {

// Enumerators and variant alternatives are stored as numbers, which must not change.
static_assert(static_cast<int>(run::State::kNotStarted) == 0);
static_assert(static_cast<int>(run::State::kNotResponding) == 10);
static_assert(static_cast<int>(run::ExecutorKind::kSpark) == 2);
static_assert(static_cast<int>(run::Level::kError) == 2);
static_assert(std::variant_size_v<run::MetricValue> == 5);
// Rows and details are stored apart, so each list of fields must be right by itself.
static_assert(ListsEveryMember<journal::RunView>() && TagsDiffer(journal::RunView::Fields()) &&
              TagsAscend(journal::RunView::RowFields()) &&
              TagsAscend(journal::RunView::DetailFields()));

// The first byte of stored data. A fold with ten thousand artifacts is worth compressing; the usual
// kilobyte is not.
constexpr char kPlain = 1;
constexpr char kCompressed = 2;
constexpr size_t kWorthCompressing = 16u << 10;
constexpr size_t kLargest = size_t{64} << 20;  // journal::kMaxHeld keeps sizes far below this

std::string Seal(std::string bytes) {
  if (bytes.size() >= kWorthCompressing) return kCompressed + Compress(bytes);
  bytes.insert(bytes.begin(), kPlain);
  return bytes;
}

Error Damaged() {
  return Corrupt("the history index holds bytes that are not a run").WithHint(kRebuildHint);
}

// Calls `decode` on the contents. kCorrupt when the bytes are damaged.
template <typename F>
Status Unseal(std::string_view bytes, F decode) {
  std::string space;
  const auto contents = SealedContents(bytes, &space);
  if (!contents) return Damaged();
  FieldDecoder decoder(*contents);
  decode(decoder);
  if (!decoder.ok() || !decoder.at_end()) return Damaged();
  return {};
}

}  // namespace

std::optional<std::string_view> SealedContents(std::string_view bytes, std::string* space) {
  if (bytes.empty()) return std::nullopt;
  const std::string_view body = bytes.substr(1);
  if (bytes[0] == kPlain) return body;
  if (bytes[0] != kCompressed) return std::nullopt;
  auto decompressed = Decompress(body, kLargest);
  if (!decompressed.ok()) return std::nullopt;
  *space = std::move(*decompressed);
  return *space;
}

std::string EncodeFold(const journal::SegmentFold& fold) { return Seal(Pack(fold)); }

Result<journal::SegmentFold> DecodeFold(std::string_view bytes) {
  journal::SegmentFold fold;
  TENON_TRY_VOID(Unseal(bytes, [&](FieldDecoder& decoder) { decoder.Get(fold); }));
  // Older releases stored artifacts of any name in the index.
  run::DropForeignNames(&fold.artifacts);
  return fold;
}

std::string EncodeRow(const journal::RunView& view) {
  FieldEncoder encoder;
  encoder.PutFields(view, journal::RunView::RowFields());
  return Seal(encoder.Take());
}

std::string EncodeDetail(const journal::RunView& view) {
  FieldEncoder encoder;
  encoder.PutFields(view, journal::RunView::DetailFields());
  return Seal(encoder.Take());
}

Status DecodeRow(std::string_view bytes, journal::RunView& view) {
  TENON_TRY_VOID(Unseal(bytes, [&](FieldDecoder& decoder) {
    decoder.GetFields(view, journal::RunView::RowFields());
  }));
  run::DropForeignNames(&view.artifacts);
  return {};
}

Status DecodeDetail(std::string_view bytes, journal::RunView& view) {
  return Unseal(bytes, [&](FieldDecoder& decoder) {
    decoder.GetFields(view, journal::RunView::DetailFields());
  });
}

}  // namespace tenon::history
