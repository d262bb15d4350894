// SPDX-License-Identifier: Apache-2.0
#include "cli/print/queried.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include "base/terminal.h"
#include "base/text.h"

namespace tenon::cli {
namespace {

// A table holds all its cells until it is printed, including empty ones.
constexpr size_t kMostCells = 500'000;

std::string Text(const json::Value& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return json::Print(value);
  return json::DecodeBytes(std::string_view(value.get_string()));
}

// Six significant digits, as in the other listings.
std::string Cell(const json::Value& value) {
  if (value.is_double()) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.6g", value.get_double());
    return buffer;
  }
  return OneLine(Text(value));
}

std::string Capital(std::string name) {
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 32);
  return name;
}

using Row = std::vector<std::pair<std::string, const json::Value*>>;

Row ToRow(const json::Value& value) {
  Row row;
  if (const json::Object* object = value.if_object()) {
    for (const auto& member : *object) {
      if (member.value().is_structured()) continue;
      row.emplace_back(Capital(OneLine(json::DecodeBytes(member.key()))), &member.value());
    }
  } else if (const json::Array* array = value.if_array()) {
    for (const json::Value& element : *array) {
      row.emplace_back("Column" + std::to_string(row.size() + 1), &element);
    }
  } else {
    row.emplace_back("Result", &value);
  }
  return row;
}

std::vector<Row> ToRows(const json::Value& value) {
  std::vector<Row> rows;
  if (const json::Array* array = value.if_array()) {
    for (const json::Value& element : *array) rows.push_back(ToRow(element));
  } else if (!value.is_null()) {
    rows.push_back(ToRow(value));
  }
  return rows;
}

std::string TsvCell(const json::Value& value) {
  if (value.is_object()) return "";
  if (const json::Array* array = value.if_array()) return std::to_string(array->size());
  std::string text = Text(value);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string TsvLine(const json::Value& value) {
  std::vector<std::string> cells;
  if (const json::Object* object = value.if_object()) {
    for (const auto& member : *object) cells.push_back(TsvCell(member.value()));
  } else if (const json::Array* array = value.if_array()) {
    for (const json::Value& element : *array) cells.push_back(TsvCell(element));
  } else {
    cells.push_back(TsvCell(value));
  }
  return Join(cells, "\t") + "\n";
}

}  // namespace

Table QueriedTable(const json::Value& value) {
  const std::vector<Row> rows = ToRows(value);
  std::vector<Column> columns;
  std::map<std::string_view, size_t> places;
  const size_t most = std::max<size_t>(1, kMostCells / std::max<size_t>(1, rows.size()));
  bool left_out = false;
  for (const Row& row : rows) {
    for (const auto& [title, cell] : row) {
      auto place = places.find(title);
      if (place == places.end() && columns.size() >= most) {
        left_out = true;
        continue;
      }
      if (place == places.end()) {
        place = places.emplace(title, columns.size()).first;
        columns.push_back({title, true});
      }
      Column& column = columns[place->second];
      column.numeric = column.numeric && (cell->is_number() || cell->is_null());
    }
  }
  if (left_out) PrintErr("note: the table leaves columns out; --json has all of them\n");
  Table table(columns);
  for (const Row& row : rows) {
    std::vector<std::string> cells(columns.size());
    for (const auto& [title, cell] : row) {
      const auto place = places.find(title);
      if (place != places.end()) cells[place->second] = Cell(*cell);
    }
    table.Add(std::move(cells));
  }
  return table;
}

std::string QueriedTsv(const json::Value& value) {
  if (value.is_null()) return "";
  const json::Array* array = value.if_array();
  if (!array) return TsvLine(value);
  std::string text;
  for (const json::Value& element : *array) text += TsvLine(element);
  return text;
}

void PrintQueried(const Session& session, const json::Value& value) {
  session.query_used = true;
  const auto answer = jmespath::Search(*session.query, value);
  if (!answer.ok()) {
    session.query_error = answer.error();
    return;
  }
  const std::string& output = session.globals.output;
  if (session.globals.json || output.empty() || output == "json" || output == "jsonc") {
    PrintJsonText(json::PrintPretty(*answer, output == "jsonc" && ColorOut()) + "\n");
  } else if (output == "tsv") {
    PrintData(QueriedTsv(*answer));
  } else if (const Table table = QueriedTable(*answer); !table.empty()) {
    PrintOut(table.ToText(::isatty(STDOUT_FILENO) == 1 ? TerminalWidth() : 0, ColorOut()));
  }
}

}  // namespace tenon::cli
