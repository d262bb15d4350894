// SPDX-License-Identifier: Apache-2.0
// What people and programs read: standard output is data, standard error is talk.
#ifndef TENON_CLI_PRINT_PRINT_H_
#define TENON_CLI_PRINT_PRINT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/terminal.h"
#include "cli/session.h"

namespace tenon::cli {

// Everything that goes to a terminal goes through one of these (tests/checks/test_printing.py fails
// on another way). A broken pipe of standard output is a quiet success: the program exits with 0 at
// once. Any other failure (a full disk behind a redirection) is said on standard error and exits
// with 1. Failures of standard error are nobody's business.
//
// For people. Whatever is in `text` besides the styles of Styled() goes through ForTerminal().
void PrintOut(std::string_view text);
void PrintErr(std::string_view text);
// For programs: as it is, unless standard output is a terminal.
void PrintData(std::string_view text);
// What the printer of base/json.h has made, which escapes what needs it.
void PrintJsonText(std::string_view text);
// Exact bytes, for what a script printed or left, and for nothing else.
void PrintBytes(std::string_view bytes);
void PrintErrBytes(std::string_view bytes);
void FlushOut();
// Back to the beginning of the terminal's line, which becomes empty.
void WipeErrLine();

// Colours: only on a terminal, and never with NO_COLOR.
bool ColorOut();
bool ColorErr();
enum class Style { kBold, kDim, kRed, kGreen, kYellow, kCyan };
// The text in that style when `on`, else as it is. Holds a mark that nobody else can make up; the
// functions above turn it into the terminal's sequence.
std::string Styled(std::string_view text, Style style, bool on);
// What PrintOut() and PrintErr() make of a text.
std::string Rendered(std::string_view text);
// Lines after the first are indented, so that none of them passes for one of ours.
std::string Hanging(std::string_view text);
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
  explicit Table(std::vector<Column> columns);
  // One cell per column. Cells and titles go through OneLine().
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

#endif  // TENON_CLI_PRINT_PRINT_H_
