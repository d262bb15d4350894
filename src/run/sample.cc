// SPDX-License-Identifier: Apache-2.0
#include "run/sample.h"

#include "base/check.h"
#include "run/packed.h"

namespace tenon::run {
namespace {

constexpr size_t kMaxBody = 16u << 20;
constexpr size_t kMaxValues = 1u << 20;  // times count as values
constexpr size_t kMaxColumns = 1u << 16;
constexpr size_t kLeastBlockBytes = 3;
constexpr size_t kLeastColumnBytes = 1;

void EncodeColumn(PackedWriter& out, const std::vector<int64_t>& values) {
  uint64_t previous = 0;
  for (const int64_t value : values) out.Signed(value, previous);
}

// Takes `count` from what is left of a limit. Returns false when less is left.
bool Spend(size_t& left, uint64_t count) {
  if (count > left) return false;
  left -= count;
  return true;
}

struct Left {
  size_t values = kMaxValues, columns = kMaxColumns;
};

// Checked before memory is allocated: every value takes at least one of the bytes that are left.
std::vector<int64_t> CutColumn(PackedReader& in, uint64_t count, Left& left) {
  if (count > in.left() || !Spend(left.values, count)) {
    in.Fail();
    return {};
  }
  std::vector<int64_t> values(count);
  uint64_t previous = 0;
  for (int64_t& value : values) value = in.Signed(previous);
  return values;
}

SampleBlock CutBlock(PackedReader& in, Left& left) {
  SampleBlock block;
  block.subject = in.Text();
  const uint64_t rows = in.Varint();
  const uint64_t columns = in.Varint();
  if (columns > in.left() / kLeastColumnBytes || !Spend(left.columns, columns)) in.Fail();
  block.times_us = CutColumn(in, rows, left);
  for (uint64_t i = 0; in.ok() && i < columns; ++i) {
    std::string name = in.Text();
    block.columns.push_back({std::move(name), CutColumn(in, rows, left)});
  }
  return block;
}

}  // namespace

std::string EncodeSampleBlocks(const std::vector<SampleBlock>& blocks) {
  size_t expected = 16;
  for (const SampleBlock& block : blocks) {
    expected += 64 + (block.columns.size() + 1) * (32 + 3 * block.times_us.size());
  }
  PackedWriter out(expected);
  out.Varint(blocks.size());
  for (const SampleBlock& block : blocks) {
    out.Text(block.subject);
    out.Varint(block.times_us.size());
    out.Varint(block.columns.size());
    EncodeColumn(out, block.times_us);
    for (const SampleColumn& column : block.columns) {
      TENON_CHECK(column.values.size() == block.times_us.size());
      out.Text(column.name);
      EncodeColumn(out, column.values);
    }
  }
  return out.TakePayload();
}

Result<std::vector<SampleBlock>> DecodeSampleBlocks(std::string_view payload) {
  std::string storage;
  TENON_TRY(const std::string_view body, UnpackPayload(payload, kMaxBody, &storage));
  PackedReader in(body);
  const uint64_t count = in.Varint();
  TENON_EXPECT_PEER(in.ok() && count <= in.left() / kLeastBlockBytes && count <= kMaxColumns,
                    "samples: the count of subjects is wrong");
  Left left;
  std::vector<SampleBlock> blocks;
  blocks.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    blocks.push_back(CutBlock(in, left));
    TENON_EXPECT_PEER(in.ok(), "samples: block " + std::to_string(i) + " is malformed");
  }
  TENON_EXPECT_PEER(in.left() == 0, "samples: bytes after the last block");
  return blocks;
}

}  // namespace tenon::run
