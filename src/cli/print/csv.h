// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_CLI_PRINT_CSV_H_
#define TENON_CLI_PRINT_CSV_H_

#include <string>
#include <string_view>

namespace tenon::cli {

// A field as RFC 4180 defines it: quoted, with quotes doubled, if it has a comma, a quote or a line
// break. All other bytes stay.
inline std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_CSV_H_
