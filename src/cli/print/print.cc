// SPDX-License-Identifier: Apache-2.0
#include "cli/print/print.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "cli/print/queried.h"
#include "run/env_vars.h"

namespace tenon::cli {
namespace {

constexpr size_t kBufferSize = 64u << 10;

std::string& OutBuffer() {
  static std::string buffer;
  return buffer;
}

void WriteErr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno != EINTR) return;
    if (n > 0) text.remove_prefix(static_cast<size_t>(n));
  }
}

void WriteOut(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EPIPE) {
      ::_exit(0);  // the reader has seen enough
    } else if (errno != EINTR && errno != EAGAIN) {
      WriteErr(std::string("error: writing standard output: ") + std::strerror(errno) + "\n");
      ::_exit(1);
    }
  }
}

bool ColorOn(int fd) {
  const char* no_color = std::getenv(run::env::kNoColor);
  if (no_color && *no_color) return false;
  const char* term = std::getenv("TERM");
  if (term && std::strcmp(term, "dumb") == 0) return false;
  return ::isatty(fd) == 1;
}

// The random mark that begins a style. It differs in each process, so no other text can contain it.
const std::string& StyleMark() {
  static const std::string mark = "\033" + RandomHex(8) + "[";
  return mark;
}

// The most bytes of padding in a listing. A cell that is too wide for this is not padded, and the
// rest of its line shifts: one long name must not widen every row.
constexpr size_t kMostPadding = 32u << 20;
constexpr size_t kLeastWidth = 100;

size_t WidestLinedUp(size_t cells) {
  return std::max(kLeastWidth, kMostPadding / std::max<size_t>(cells, 1));
}

// The position of the decimal point, at which the numbers of a column line up.
size_t PointAt(std::string_view cell) {
  const size_t point = cell.find_first_of(".e");
  return point == std::string_view::npos ? cell.size() : point;
}

// Text in a column of numbers is not lined up with them.
bool IsNumberCell(std::string_view cell) {
  if (cell.starts_with('+') || cell.starts_with('-')) cell.remove_prefix(1);
  return cell == "nan" || cell == "inf" ||
         (!cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '.'));
}

bool ColorJson(const Session& session) { return session.globals.output == "jsonc" && ColorOut(); }

std::string Padding(size_t n) { return std::string(n, ' '); }

std::string CutTo(std::string_view text, size_t width) {
  std::string cut;
  size_t i = 0;
  while (i < text.size()) {
    size_t n = 1;
    while (i + n < text.size() && (static_cast<unsigned char>(text[i + n]) & 0xC0) == 0x80) ++n;
    if (DisplayWidth(cut) + DisplayWidth(text.substr(i, n)) + 1 > width) break;
    cut += text.substr(i, n);
    i += n;
  }
  return cut + "…";
}

}  // namespace

void PrintBytes(std::string_view bytes) {
  std::string& buffer = OutBuffer();
  if (bytes.size() >= kBufferSize) {
    FlushOut();
    WriteOut(bytes);
    return;
  }
  buffer += bytes;
  if (buffer.size() >= kBufferSize) FlushOut();
}

void PrintErrBytes(std::string_view bytes) { WriteErr(bytes); }

void PrintOut(std::string_view text) { PrintBytes(Rendered(text)); }

void PrintErr(std::string_view text) { WriteErr(Rendered(text)); }

void PrintData(std::string_view text) {
  if (::isatty(STDOUT_FILENO) == 1) return PrintOut(text);
  PrintBytes(text);
}

void PrintJsonText(std::string_view text) { PrintBytes(text); }

void FlushOut() {
  WriteOut(OutBuffer());
  OutBuffer().clear();
}

void WipeErrLine() { WriteErr("\r\033[K"); }

bool ColorOut() {
  static const bool on = ColorOn(STDOUT_FILENO);
  return on;
}

bool ColorErr() {
  static const bool on = ColorOn(STDERR_FILENO);
  return on;
}

std::string Styled(std::string_view text, Style style, bool on) {
  if (!on) return std::string(text);
  const char* code = "";
  switch (style) {
    case Style::kBold:
      code = "1";
      break;
    case Style::kDim:
      code = "2";
      break;
    case Style::kRed:
      code = "31";
      break;
    case Style::kGreen:
      code = "32";
      break;
    case Style::kYellow:
      code = "33";
      break;
    case Style::kCyan:
      code = "36";
      break;
  }
  return StyleMark() + code + "m" + std::string(text) + StyleMark() + "0m";
}

std::string Rendered(std::string_view text) {
  if (text.find('\033') == std::string_view::npos) return ForTerminal(text);
  const std::string& mark = StyleMark();
  std::string out;
  for (;;) {
    const size_t at = text.find(mark);
    out += ForTerminal(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + mark.size());
    const size_t end = std::min(text.find('m'), text.size() - 1) + 1;
    out += "\033[" + std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string Hanging(std::string_view text) {
  std::string lines;
  for (;;) {
    const size_t end = text.find('\n');
    lines += text.substr(0, end);
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
    const bool indented = text.empty() || text.front() == '\n' || text.front() == ' ';
    if (!indented) lines += "  ";
  }
}

int TerminalWidth() {
  if (const char* columns = std::getenv("COLUMNS")) {
    if (const int n = std::atoi(columns); n >= 20) return n;
  }
  struct winsize size;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return 80;
}

void PrintError(const Error& error) {
  FlushOut();
  std::string text =
      Styled("error:", Style::kRed, ColorErr()) + " " + Hanging(error.message) + "\n";
  if (!error.hint.empty()) {
    text += "\n" + Styled("hint:", Style::kCyan, ColorErr()) + " " + Hanging(error.hint) + "\n";
  }
  PrintErr(text);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.title = OneLine(column.title);
}

void Table::Add(std::vector<std::string> cells) {
  TENON_CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = OneLine(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::ToText(int width, bool color) const {
  const size_t n = columns_.size();
  const size_t lined_up = WidestLinedUp(n * (rows_.size() + 2));
  std::vector<size_t> widths(n), before(n, 0), after(n, 0);
  for (size_t c = 0; c < n; ++c) {
    for (const auto& row : rows_) {
      if (columns_[c].numeric && IsNumberCell(row[c])) {
        before[c] = std::max(before[c], PointAt(row[c]));
        after[c] = std::max(after[c], row[c].size() - PointAt(row[c]));
      } else {
        widths[c] = std::max(widths[c], DisplayWidth(row[c]));
      }
    }
    widths[c] = std::max({widths[c], before[c] + after[c], DisplayWidth(columns_[c].title)});
    widths[c] = std::min(widths[c], lined_up);
    before[c] = std::min(before[c], lined_up);
  }
  if (width > 0) {  // cut the widest text columns until the line fits
    size_t total = n == 0 ? 0 : 2 * (n - 1);
    for (const size_t w : widths) total += w;
    while (total > static_cast<size_t>(width)) {
      size_t widest = n;
      for (size_t c = 0; c < n; ++c) {
        if (columns_[c].numeric || widths[c] <= std::max<size_t>(12, columns_[c].title.size()))
          continue;
        if (widest == n || widths[c] > widths[widest]) widest = c;
      }
      if (widest == n) break;
      --widths[widest];
      --total;
    }
  }
  auto line = [&](const std::vector<std::string>& cells, bool header) {
    std::string text;
    for (size_t c = 0; c < n; ++c) {
      std::string cell = cells[c];
      if (!header && columns_[c].numeric && IsNumberCell(cell)) {
        cell = Padding(before[c] - std::min(before[c], PointAt(cell))) + cell;
      }
      if (width > 0 && DisplayWidth(cell) > widths[c]) cell = CutTo(cell, widths[c]);
      text += cell;
      if (c + 1 < n) text += Padding(widths[c] - std::min(widths[c], DisplayWidth(cell)) + 2);
    }
    while (text.ends_with(' ')) text.pop_back();
    return text + "\n";
  };
  std::vector<std::string> titles, dashes;
  for (size_t c = 0; c < n; ++c) {
    titles.push_back(columns_[c].title);
    dashes.push_back(std::string(widths[c], '-'));
  }
  std::string head = line(titles, true);
  if (color) head = Styled(head.substr(0, head.size() - 1), Style::kBold, true) + "\n";
  std::string text = head + line(dashes, true);
  for (const auto& row : rows_) text += line(row, false);
  return text;
}

std::string Table::ToTsv() const {
  std::string text;
  for (const auto& row : rows_) text += Join(row, "\t") + "\n";
  return text;
}

JsonList::JsonList(const Session& session) : session_(session) {}

void JsonList::Add(const json::Value& value) {
  if (session_.query) {
    queried_.push_back(value);
    return;
  }
  PrintJsonText(empty_ ? "[\n  " : ",\n  ");
  PrintJsonText(json::PrintPretty(value, ColorJson(session_), /*depth=*/1));
  empty_ = false;
}

void JsonList::End() {
  if (session_.query) return PrintQueried(session_, queried_);
  PrintJsonText(empty_ ? "[]\n" : "\n]\n");
}

void PrintListing(const Session& session, const json::Value& value, const Table& table) {
  if (session.query) {
    PrintQueried(session, value);
  } else if (session.PrintsJson()) {
    PrintJsonText(json::PrintPretty(value, ColorJson(session)) + "\n");
  } else if (session.globals.output == "tsv") {
    PrintData(table.ToTsv());
  } else {
    PrintOut(table.ToText(::isatty(STDOUT_FILENO) == 1 ? TerminalWidth() : 0, ColorOut()));
  }
}

void PrintValue(const Session& session, const json::Value& value) {
  PrintListing(session, value, Table({}));
}

}  // namespace tenon::cli
