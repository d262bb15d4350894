// SPDX-License-Identifier: Apache-2.0
#include "project/uv_lock.h"

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace tenon::project {
namespace {

constexpr size_t kMostBytes = 32u << 20;

// Where a string that begins at `at` ends; `*open` is the quote of a string of several lines that
// goes on in the next line.
size_t EndOfString(std::string_view line, size_t at, std::string* open) {
  const char quote = line[at];
  const std::string triple(3, quote);
  if (line.substr(at).starts_with(triple)) {
    const size_t end = line.find(triple, at + 3);
    if (end != std::string_view::npos) return end + 3;
    *open = triple;
    return line.size();
  }
  for (size_t i = at + 1; i < line.size(); ++i) {
    if (quote == '"' && line[i] == '\\') {
      ++i;
    } else if (line[i] == quote) {
      return i + 1;
    }
  }
  return line.size();
}

std::string_view WithoutComment(std::string_view line, std::string* open) {
  size_t i = 0;
  if (!open->empty()) {
    const size_t end = line.find(*open);
    if (end == std::string_view::npos) return line;
    i = end + open->size();
    open->clear();
  }
  while (i < line.size()) {
    if (line[i] == '#') return line.substr(0, i);
    i = line[i] == '"' || line[i] == '\'' ? EndOfString(line, i, open) : i + 1;
  }
  return line;
}

// The text behind `key = ` in quotes, where the line says so.
std::optional<std::string> QuotedValue(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '{' && text[at - 1] != ',') {
    return std::nullopt;
  }
  std::string_view rest = Trim(text.substr(at + key.size()));
  if (!rest.starts_with('=')) return std::nullopt;
  rest = Trim(rest.substr(1));
  if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) return std::nullopt;
  const size_t end = rest.find(rest[0], 1);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(rest.substr(1, end - 1));
}

Status AddSource(const std::string& file, int number, std::string_view line, PackageList* list) {
  const std::string where = file + ":" + std::to_string(number);
  for (const std::string_view key : {"editable", "directory", "virtual"}) {
    const auto folder = QuotedValue(line, key);
    if (!folder || *folder == ".") continue;
    return Invalid(where + ": `" + ForTerminal(*folder) +
                   "` is a folder that is installed; an environment cannot hold one that changes")
        .WithHint("make a wheel of it (`uv build --wheel`) and depend on that");
  }
  const auto path = QuotedValue(line, "path");
  if (!path || path->starts_with('/')) return {};
  const std::string folder = DirName(file);
  const std::string relative = folder == "." || folder.empty() ? *path : JoinPath(folder, *path);
  Status added = list->AddFile(relative);
  if (added.ok()) return {};
  return std::move(added).error().Wrap(where);
}

Result<std::string> ReadPart(const std::string& root, const std::string& file,
                             const std::string& hint) {
  const std::string path = JoinPath(root, file);
  if (!Exists(path)) {
    return Invalid("there is no " + ForTerminal(file) +
                   ", without which the environment is not known")
        .WithHint(hint);
  }
  return ReadFile(path, kMostBytes);
}

}  // namespace

std::string TomlThatCounts(std::string_view bytes) {
  std::string out, open;
  for (const std::string& raw : Split(bytes, '\n')) {
    const bool inside = !open.empty();
    std::string_view line = WithoutComment(raw, &open);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
      line.remove_suffix(1);
    }
    if (line.empty() && !inside) continue;
    out += line;
    out += '\n';
  }
  return out;
}

std::string RequiresPython(std::string_view pyproject) {
  bool in_project = false;
  for (const std::string& line : Split(TomlThatCounts(pyproject), '\n')) {
    if (line.starts_with('[')) in_project = Trim(line) == "[project]";
    const std::string_view text = Trim(line);
    if (!in_project || !text.starts_with("requires-python")) continue;
    std::string value = QuotedValue(text, "requires-python").value_or("");
    value.erase(std::remove(value.begin(), value.end(), ' '), value.end());
    return value;
  }
  return "";
}

Status AddUvProject(const std::string& root, const std::string& file, PackageList* list) {
  const std::string folder = DirName(file);
  const auto beside = [&](const char* name) {
    return folder == "." || folder.empty() ? std::string(name) : JoinPath(folder, name);
  };
  const std::string project = beside("pyproject.toml");
  const std::string lock = beside("uv.lock");
  TENON_TRY(const std::string project_bytes,
            ReadPart(root, project, "write it with `uv init --bare` and `uv add`"));
  TENON_TRY(const std::string lock_bytes,
            ReadPart(root, lock, "make it with `uv lock` in the folder of " + project));
  list->packages().python = RequiresPython(project_bytes);
  if (!list->packages().python.empty()) list->packages().python_where = project;
  TENON_TRY_VOID(list->AddFile(project, TomlThatCounts(project_bytes)));
  TENON_TRY_VOID(list->AddFile(lock, TomlThatCounts(lock_bytes)));
  int number = 0;
  for (const std::string& line : Split(lock_bytes, '\n')) {
    ++number;
    if (!line.starts_with("source = {")) continue;
    TENON_TRY_VOID(AddSource(lock, number, line, list));
  }
  return {};
}

}  // namespace tenon::project
