// SPDX-License-Identifier: Apache-2.0
// Fuzzes Document::Parse(): for any bytes it must return, and every range must lie inside the file
// and inside the range of its parent.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "yaml/document.h"

namespace {

using tenon::yaml::Node;
using tenon::yaml::Range;

void CheckNode(const Node& node, Range outer) {
  TENON_CHECK(node.range.begin <= node.range.end);
  TENON_CHECK(node.range.begin >= outer.begin && node.range.end <= outer.end);
  TENON_CHECK(node.key_range.begin <= node.key_range.end && node.key_range.end <= outer.end);
  TENON_CHECK(node.position.line >= 1 && node.position.column >= 1);
  for (const Node& child : node.children) CheckNode(child, node.range);
}

}  // namespace

// libfyaml 0.7.12 leaks a few hundred bytes on some of its error paths. This fuzzer does not test
// for that.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto document = tenon::yaml::Document::Parse("f", bytes);
  if (document.ok()) CheckNode(document->root(), {0, bytes.size()});
  return 0;
}
