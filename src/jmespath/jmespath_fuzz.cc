// SPDX-License-Identifier: Apache-2.0
// The first line is a query, the rest a document; without a second line a built-in document serves.
// Any bytes must give an answer or an Error within the limits, and the same one every time.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/json.h"
#include "jmespath/jmespath.h"

namespace {

constexpr std::string_view kDocument =
    R"([{"run_id":"a_1","Accuracy":0.9,"n":[1,[2,"x"],null],"status":"Completed","o":{"a":{"b":1}}},
        {"run_id":"a_2","Accuracy":null,"n":[],"status":"Failed","o":{}}])";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t line_end = bytes.find('\n');
  const auto expression = tenon::jmespath::Parse(bytes.substr(0, line_end));
  if (!expression.ok()) {
    TENON_CHECK(expression.error().message.ends_with("^"));
    return 0;
  }
  const auto document = tenon::json::Parse(
      line_end == std::string_view::npos ? kDocument : bytes.substr(line_end + 1));
  if (!document.ok()) return 0;
  const tenon::jmespath::Limits limits{.steps = 200'000, .values = 100'000};
  const auto first = tenon::jmespath::Search(*expression, *document, limits);
  const auto second = tenon::jmespath::Search(*expression, *document, limits);
  TENON_CHECK(first.ok() == second.ok());
  if (!first.ok()) return 0;
  TENON_CHECK(tenon::json::Print(*first) == tenon::json::Print(*second));
  return 0;
}
