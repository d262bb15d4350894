// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUN_SAMPLE_H_
#define TENON_RUN_SAMPLE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::run {

// Stands for a value that could not be measured. Readers never treat it as a number.
inline constexpr int64_t kNotMeasured = std::numeric_limits<int64_t>::min();

// One quantity, in the unit that its name says: "power_mw", "memory_used_bytes".
struct SampleColumn {
  std::string name;
  std::vector<int64_t> values;  // one for each time
};

// What a sampler measured of one subject: a card, or a process on a card. Nothing was measured
// between two times that are far apart; a reader does not fill the gap.
struct SampleBlock {
  std::string subject;  // within the segment: "GPU-6ba7b810", "GPU-6ba7b810/4711"
  std::vector<int64_t> times_us;
  std::vector<SampleColumn> columns;
};

// The payload of a journal record: many samples of many subjects. A card that is sampled once a
// second with ten columns takes some 20 bytes a sample before compression. Each column of a block
// must have as many values as the block has times; a difference aborts.
std::string EncodeSampleBlocks(const std::vector<SampleBlock>& blocks);
// Fails with kCorrupt on anything malformed, and above 16 MiB, 65,536 columns or 1,048,576 values
// (times included) in one payload.
Result<std::vector<SampleBlock>> DecodeSampleBlocks(std::string_view payload);

}  // namespace tenon::run

#endif  // TENON_RUN_SAMPLE_H_
