// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the engine's stream. The output must be the same however the bytes are cut
// (the first byte says how), and no longer than the input.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "docker/frames.h"

namespace {

struct Outcome {
  std::string streams[2];
  bool ok = true;
  bool at_end = false;
  bool operator==(const Outcome&) const = default;
};

Outcome Take(std::string_view bytes, size_t piece) {
  Outcome outcome;
  tenon::docker::FrameDecoder decoder([&](int stream, std::string_view part) {
    TENON_CHECK(stream == 1 || stream == 2);
    outcome.streams[stream - 1] += part;
  });
  for (; !bytes.empty() && outcome.ok; bytes.remove_prefix(std::min(piece, bytes.size()))) {
    outcome.ok = decoder.Feed(bytes.substr(0, piece)).ok();
  }
  outcome.at_end = outcome.ok && decoder.AtFrameEnd();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Take(bytes, size);
  TENON_CHECK(whole == Take(bytes, size_t{data[0]} + 1));
  TENON_CHECK(whole.streams[0].size() + whole.streams[1].size() <= bytes.size());
  return 0;
}
