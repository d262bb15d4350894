// SPDX-License-Identifier: Apache-2.0
#include "environment/progress.h"

#include <charconv>
#include <utility>

#include "base/text.h"

namespace tenon::environment {
namespace {

constexpr size_t kLongestLine = 64 * 1024;

// "Installed 12 packages in 20ms" → 12.
std::optional<uint64_t> CountAfter(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  line.remove_prefix(word.size());
  uint64_t count = 0;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  if (error != std::errc() || end == line.data()) return std::nullopt;
  return count;
}

std::string_view FirstWord(std::string_view text) {
  text = Trim(text);
  return text.substr(0, text.find_first_of(" \t"));
}

}  // namespace

std::optional<uint64_t> ParseSize(std::string_view text) {
  text = Trim(text);
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string unit = ToLower(Trim(text.substr(static_cast<size_t>(end - text.data()))));
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"b", 1},    {"bytes", 1},    {"kb", 1e3},        {"mb", 1e6},
      {"gb", 1e9}, {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0}};
  for (const auto& [name, factor] : kUnits) {
    if (unit == name) return static_cast<uint64_t>(number * factor);
  }
  return std::nullopt;
}

void ToolProgress::StartDownload(std::string_view rest) {
  size_t open = rest.rfind('(');
  size_t close = rest.rfind(')');
  std::string name(FirstWord(rest));
  if (size_t slash = name.rfind('/'); slash != std::string::npos) name = name.substr(slash + 1);
  uint64_t size = 0;
  if (open != std::string_view::npos && close != std::string_view::npos && close > open) {
    size = ParseSize(rest.substr(open + 1, close - open - 1)).value_or(0);
  }
  total_ += size;
  downloads_[name] = size;
}

std::optional<ProgressPoint> ToolProgress::Line(std::string_view raw) {
  if (size_t drawn = raw.rfind('\r'); drawn != std::string_view::npos && drawn + 1 < raw.size()) {
    raw.remove_prefix(drawn + 1);
  }
  std::string_view line = Trim(raw);
  auto point = [&](std::string detail) { return ProgressPoint{std::move(detail), done_, total_}; };
  constexpr std::string_view kDownloading = "Downloading ";
  constexpr std::string_view kDownloaded = "Downloaded ";
  if (line.starts_with(kDownloading)) {
    StartDownload(line.substr(kDownloading.size()));
    return point("downloading " + std::string(FirstWord(line.substr(kDownloading.size()))));
  }
  if (line.starts_with(kDownloaded)) {
    auto found = downloads_.find(std::string(FirstWord(line.substr(kDownloaded.size()))));
    if (found == downloads_.end()) return std::nullopt;
    done_ += found->second;
    std::string name = found->first;
    downloads_.erase(found);
    return point("downloaded " + name);
  }
  for (std::string_view word : {"Collecting ", "Building "}) {
    if (!line.starts_with(word)) continue;
    return point(ToLower(word) + std::string(FirstWord(line.substr(word.size()))));
  }
  if (line.starts_with("Installing collected packages:")) {
    done_ = total_;  // pip does not say when a download has ended
    return point("installing");
  }
  if (auto count = CountAfter(line, "Resolved ")) {
    return point(Count(*count, "package", "packages") + " to install");
  }
  if (auto count = CountAfter(line, "Prepared ")) {
    done_ = total_;
    return point(Count(*count, "package", "packages") + " fetched");
  }
  if (auto count = CountAfter(line, "Installed ")) {
    installed_ += *count;
    done_ = total_;
    return point(Count(*count, "package", "packages") + " installed");
  }
  if (line.starts_with("Successfully installed ")) {
    for (const std::string& word : Split(line.substr(23), ' ')) installed_ += !word.empty();
    return point(Count(installed_, "package", "packages") + " installed");
  }
  return std::nullopt;
}

std::vector<ProgressPoint> ToolProgress::Feed(std::string_view bytes) {
  std::vector<ProgressPoint> points;
  partial_ += bytes;
  size_t begin = 0;
  for (size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (auto point = Line(std::string_view(partial_).substr(begin, end - begin))) {
      points.push_back(std::move(*point));
    }
  }
  partial_.erase(0, begin);
  if (partial_.size() > kLongestLine) partial_.clear();
  return points;
}

std::string ToolProgress::Summary() const {
  std::string text;
  if (installed_ > 0) text = Count(installed_, "package", "packages");
  if (total_ > 0) text += (text.empty() ? "" : ", ") + HumanBytes(total_) + " downloaded";
  return text;
}

}  // namespace tenon::environment
