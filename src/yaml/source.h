// SPDX-License-Identifier: Apache-2.0
// The text of a YAML file as lines: converts offsets to positions, makes the checks that need no
// parser, and explains parser errors to a person.
#ifndef TENON_YAML_SOURCE_H_
#define TENON_YAML_SOURCE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "yaml/document.h"

namespace tenon::yaml {

// A mistake in a file and its position. The file name is added later.
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

  // The first bytes that no YAML file may have: UTF-16, NUL and other control characters, invalid
  // UTF-8. nullopt when there are none.
  std::optional<Mistake> FindForeignBytes() const;

  // The first tab in a file that has keys beginning with `? `. Such files can crash libfyaml.
  // nullopt when there is none.
  std::optional<Mistake> FindTabBesideExplicitKeys() const;

  // Turns libfyaml's message `complaint` about the place `at` into words for a person.
  // `open_bracket` is the innermost bracket that was still open, if any.
  Mistake Explain(Position at, std::string_view complaint,
                  std::optional<Position> open_bracket) const;

 private:
  std::string_view bytes_;
  std::vector<size_t> starts_;  // offset of each line
};

}  // namespace tenon::yaml

#endif  // TENON_YAML_SOURCE_H_
