// SPDX-License-Identifier: Apache-2.0
#include "snapshot/data/data_set.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kMaxName = 100;
constexpr size_t kMaxPath = 4096;
constexpr size_t kMaxPart = 255;
constexpr size_t kMaxHeader = 64u << 10;
constexpr char kHex[] = "0123456789ABCDEF";

std::string Escaped(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && c != '%') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

int DigitOf(char c) {
  const size_t at = std::string_view(kHex).find(c);
  return at == std::string_view::npos || c == '\0' ? -1 : static_cast<int>(at);
}

std::optional<std::string> Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = DigitOf(text[i + 1]), low = DigitOf(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  // A path must have only one spelling, or equal sets would have different fingerprints.
  if (Escaped(out) != text) return std::nullopt;
  return out;
}

template <typename Number>
bool Parse(std::string_view text, int base, Number* number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

// Removes the first word and the blank after it from `line`, and returns the word.
std::string_view TakeWord(std::string_view* line) {
  const size_t end = std::min(line->find(' '), line->size());
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(std::min(end + 1, line->size()));
  return word;
}

Result<DataFile> FileOf(std::string_view line) {
  DataFile file;
  const auto hash = Hash::FromHex(TakeWord(&line));
  const bool numbers =
      hash && Parse(TakeWord(&line), 8, &file.mode) && Parse(TakeWord(&line), 10, &file.size);
  auto path = Unescaped(line);
  if (!numbers || !path || file.mode > 0777) return Invalid("a line of the list is no file");
  TENON_TRY_VOID(CheckDataPath(*path));
  file.hash = *hash;
  file.path = std::move(*path);
  return file;
}

// Checks that paths are sorted and unique, and that no file is a folder of another.
Status CheckOrder(const std::vector<DataFile>& files) {
  for (size_t i = 1; i < files.size(); ++i) {
    if (files[i - 1].path >= files[i].path) return Invalid("the list of files is not sorted");
  }
  const auto has = [&](std::string_view path) {
    const auto at = std::lower_bound(
        files.begin(), files.end(), path,
        [](const DataFile& file, std::string_view wanted) { return file.path < wanted; });
    return at != files.end() && at->path == path;
  };
  std::string_view checked;
  for (const DataFile& file : files) {
    const std::string_view path = file.path;
    const size_t slash = path.rfind('/');
    const std::string_view folder = path.substr(0, slash == std::string_view::npos ? 0 : slash);
    if (folder == checked) continue;
    checked = folder;
    for (size_t end = folder.size(); end != std::string_view::npos && end > 0;
         end = folder.rfind('/', end - 1)) {
      if (has(folder.substr(0, end))) return Invalid("the list has a file that is a folder too");
    }
  }
  return {};
}

bool IsFingerprint(const std::string& text) {
  return text.empty() || Hash::FromHex(text).has_value();
}

}  // namespace

uint64_t DataSet::bytes() const {
  uint64_t sum = 0;
  for (const DataFile& file : files) sum += file.size;
  return sum;
}

std::string DataSet::ToText() const {
  std::string text;
  for (const DataFile& file : files) {
    char mode[8];
    const auto end = std::to_chars(mode, mode + sizeof mode, file.mode, 8).ptr;
    text += file.hash.Hex() + " " + std::string(mode, end) + " " + std::to_string(file.size) + " " +
            Escaped(file.path) + "\n";
  }
  return text;
}

Hash DataSet::Fingerprint() const { return Sha256Of(ToText()); }

Result<DataSet> DataSet::FromText(std::string_view text) {
  DataSet set;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return Invalid("the list of files is cut off");
    if (set.files.size() == kMaxDataFiles) return Invalid("the list has too many files");
    TENON_TRY(DataFile file, FileOf(text.substr(0, end)));
    set.files.push_back(std::move(file));
    text.remove_prefix(end + 1);
  }
  TENON_TRY_VOID(CheckOrder(set.files));
  return set;
}

Status CheckDataName(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kMaxName && name[0] != '.' && name[0] != '-' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
                    });
  if (good) return {};
  return Invalid("`" + ForTerminal(name) + "` cannot be the name of a data set")
      .WithHint("use letters, digits, dots, dashes and underscores");
}

Status CheckDataPath(std::string_view path) {
  bool good = !path.empty() && path.size() <= kMaxPath && path.find('\0') == std::string_view::npos;
  for (size_t begin = 0; good && begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    good = !part.empty() && part != "." && part != ".." && part.size() <= kMaxPart;
    begin = end + 1;
  }
  if (good) return {};
  return Invalid("`" + ForTerminal(path) + "` cannot be the path of a file in a data set");
}

json::Object DataHeader::ToJson() const {
  return {{"name", name},
          {"fingerprint", fingerprint},
          {"files", files},
          {"bytes", bytes},
          {"complete", complete},
          {"placing", placing},
          {"put_us", put_us},
          {"next_fingerprint", next_fingerprint},
          {"next_files", next_files},
          {"next_bytes", next_bytes}};
}

Result<DataHeader> DataHeader::FromJson(const json::Object& object) {
  DataHeader header;
  const auto number = [&](const char* key) {
    return static_cast<uint64_t>(std::max<int64_t>(json::GetInt(object, key), 0));
  };
  header.name = json::GetString(object, "name");
  header.fingerprint = json::GetString(object, "fingerprint");
  header.files = number("files");
  header.bytes = number("bytes");
  header.complete = json::GetBool(object, "complete");
  header.placing = json::GetBool(object, "placing");
  header.put_us = json::GetInt(object, "put_us");
  header.next_fingerprint = json::GetString(object, "next_fingerprint");
  header.next_files = number("next_files");
  header.next_bytes = number("next_bytes");
  TENON_TRY_VOID(CheckDataName(header.name));
  if (!IsFingerprint(header.fingerprint) || !IsFingerprint(header.next_fingerprint)) {
    return Invalid("the data set has no valid fingerprint");
  }
  return header;
}

std::string DataHeader::Words() const {
  if (fingerprint.empty()) return name + ": not whole yet";
  return name + " " + fingerprint + " (" + Count(files, "file", "files") + ", " +
         HumanBytes(bytes) + (complete ? "" : ", incomplete") + ")";
}

std::vector<DataHeader> ListDataSets(const std::string& shared) {
  std::vector<DataHeader> found;
  const std::string state = JoinPath(shared, kDataState);
  for (const std::string& file : ListDir(state).value_or({})) {
    if (!file.ends_with(".json")) continue;
    const auto text = ReadFile(JoinPath(state, file), kMaxHeader);
    if (!text.ok()) continue;
    const auto value = json::Parse(*text);
    if (!value.ok() || !value->is_object()) continue;
    auto header = DataHeader::FromJson(value->get_object());
    if (header.ok() && header->name + ".json" == file) found.push_back(std::move(*header));
  }
  std::sort(found.begin(), found.end(),
            [](const DataHeader& a, const DataHeader& b) { return a.name < b.name; });
  return found;
}

}  // namespace tenon::snapshot
