// SPDX-License-Identifier: Apache-2.0
// What people and programs read: standard output is data, standard error is talk.
#ifndef TENON_CLI_PRINT_H_
#define TENON_CLI_PRINT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/session.h"

namespace tenon::cli {

// Writes to standard output. A broken pipe is a quiet success: the program exits with 0 at once.
// Any other failure (a full disk behind a redirection) is said on standard error and exits with 1.
void PrintOut(std::string_view text);
void FlushOut();
// Writes to standard error; failures are nobody's business.
void PrintErr(std::string_view text);

// Colours: only on a terminal, and never with NO_COLOR.
bool ColorOut();
bool ColorErr();
enum class Style { kBold, kDim, kRed, kGreen, kYellow, kCyan };
// The text in that style when `on`, else as it is.
std::string Styled(std::string_view text, Style style, bool on);
int TerminalWidth();  // columns of standard output; 80 when it is no terminal

// "error: …", blank line, "hint: …" on standard error.
void PrintError(const Error& error);

// A table for people. Numbers in a column line up at the decimal point, text to the left; no line
// is longer than the terminal if cutting the widest text column can help it (only on a terminal).
struct Column {
  std::string title;
  bool numeric = false;
};
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell per column. Line breaks and tabs in cells become blanks.
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string ToText(int width, bool color) const;
  std::string ToTsv() const;  // no header, tabs between cells

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A list in JSON that is printed while it is made, or with --query asked when it is whole.
class JsonList {
 public:
  explicit JsonList(const Session& session);
  void Add(const json::Value& value);
  void End();

 private:
  const Session& session_;
  bool empty_ = true;
  json::Array queried_;
};

// Prints a listing the way -o asks for: `value` for json and jsonc, `table` else. With --query:
// what the query takes from `value`, as JSON unless -o says otherwise; a query that fails is noted
// in the session, and Main says so.
void PrintListing(const Session& session, const json::Value& value, const Table& table);
// The same where people get another text: call it when session.WantsJson().
void PrintValue(const Session& session, const json::Value& value);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_H_
