// SPDX-License-Identifier: Apache-2.0
// Printing for people and programs: data goes to standard output, messages to standard error.
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

// All output to a terminal goes through one of these functions (tests/checks/test_printing.py fails
// on any other way). If standard output is a broken pipe, the program exits with 0 at once. Any
// other failure to write it (a full disk behind a redirection) is reported on standard error and
// exits with 1. Failures to write standard error are ignored.
//
// For people: everything in `text` except the styles of Styled() goes through ForTerminal().
void PrintOut(std::string_view text);
void PrintErr(std::string_view text);
// For programs: prints the bytes unchanged, unless standard output is a terminal.
void PrintData(std::string_view text);
// JSON made by base/json.h, which escapes control characters itself.
void PrintJsonText(std::string_view text);
// Exact bytes. Only for what a script printed or left.
void PrintBytes(std::string_view bytes);
void PrintErrBytes(std::string_view bytes);
void FlushOut();
// Clears the current line of the terminal.
void WipeErrLine();

// Whether to use colours: only on a terminal, and never with NO_COLOR.
bool ColorOut();
bool ColorErr();
enum class Style { kBold, kDim, kRed, kGreen, kYellow, kCyan };
// The text in a style; unchanged unless `on`. It contains a random mark that other text cannot
// contain, which PrintOut() and PrintErr() replace by the terminal's sequence.
std::string Styled(std::string_view text, Style style, bool on);
// The bytes that PrintOut() and PrintErr() write for a text.
std::string Rendered(std::string_view text);
// Indents all lines but the first, so that none of them looks like a message of Tenon.
std::string Hanging(std::string_view text);
int TerminalWidth();  // $COLUMNS, else that of standard output; 80 if it is not a terminal

// Prints "error: …", a blank line and "hint: …" on standard error.
void PrintError(const Error& error);

// A table for people. Numbers of a column line up at the decimal point, text at the left. On a
// terminal the widest text columns are cut until lines fit, as far as that helps.
struct Column {
  std::string title;
  bool numeric = false;
};
class Table {
 public:
  explicit Table(std::vector<Column> columns);
  // Adds a row, one cell per column. Cells and titles go through OneLine().
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string ToText(int width, bool color) const;
  std::string ToTsv() const;  // without header; cells separated by tabs

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Prints a JSON list element by element. With --query it holds the elements and queries them in
// End().
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

// Prints a listing as -o says: `value` for json and jsonc, else `table`. With --query: prints the
// query's result, as JSON unless -o says otherwise. A failed query is stored in the session, and
// RunLine() prints it.
void PrintListing(const Session& session, const json::Value& value, const Table& table);
// The same without a table, for commands that print other text for people. Call it only if
// session.WantsJson().
void PrintValue(const Session& session, const json::Value& value);

}  // namespace tenon::cli

#endif  // TENON_CLI_PRINT_PRINT_H_
