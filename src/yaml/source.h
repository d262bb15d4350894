// SPDX-License-Identifier: Apache-2.0
// The text of a YAML file as lines: from bytes to places and back, the checks that need no parser,
// and what a parser's complaint means to a person.
#ifndef TENON_YAML_SOURCE_H_
#define TENON_YAML_SOURCE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "yaml/document.h"

namespace tenon::yaml {

// A mistake and its place, before the file's name is put in front.
struct Mistake {
  Position at;
  std::string what;
  std::string hint;
};

class Source {
 public:
  // `bytes` must outlive the object.
  explicit Source(std::string_view bytes);

  Position PositionOf(size_t offset) const;
  // Line `number` (from 1) without its line end; "" beyond the end.
  std::string_view Line(int number) const;
  int line_count() const { return static_cast<int>(starts_.size()); }

  // Bytes that no YAML file may have: UTF-16, NUL and other control characters, invalid UTF-8.
  std::optional<Mistake> FindForeignBytes() const;

  // What libfyaml does not always survive: tabs in a file with keys that begin with `? `.
  std::optional<Mistake> FindTabBesideExplicitKeys() const;

  // `complaint` is libfyaml's message, `at` the place it names. `open_bracket` is the innermost
  // bracket that was open, if any.
  Mistake Explain(Position at, std::string_view complaint,
                  std::optional<Position> open_bracket) const;

 private:
  std::string_view bytes_;
  std::vector<size_t> starts_;  // of each line
};

}  // namespace tenon::yaml

#endif  // TENON_YAML_SOURCE_H_
