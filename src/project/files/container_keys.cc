// SPDX-License-Identifier: Apache-2.0
#include "project/files/container_keys.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "base/text.h"

namespace tenon::project {
namespace {

constexpr int64_t kLeastMemory = 6 << 20;
constexpr int kMostGpus = 1024;
constexpr double kMostCpus = 65536;

// The limits that engines accept.
constexpr std::string_view kUlimits[] = {"core",    "cpu",      "data",   "fsize",      "locks",
                                         "memlock", "msgqueue", "nice",   "nofile",     "nproc",
                                         "rss",     "rtprio",   "rttime", "sigpending", "stack"};

Error Found(const std::string& key, const std::string& expected, const std::string& text,
            const std::string& hint) {
  return Invalid(key + ": expected " + expected + ", found `" + ForTerminal(text) + "`")
      .WithHint(hint);
}

bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

template <typename T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A decimal number like 1.5; no exponent, sign, "inf" or "nan".
std::optional<double> Plain(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  return Number<double>(text);
}

std::optional<int64_t> Bytes(const std::string& text) {
  std::string lower = ToLower(Trim(text));
  for (const std::string_view ending : {"ib", "b"}) {
    if (lower.size() > ending.size() && lower.ends_with(ending)) {
      lower.resize(lower.size() - ending.size());
      break;
    }
  }
  if (lower.empty()) return std::nullopt;
  int shift = 0;
  constexpr std::string_view kUnits = "kmgt";
  if (const size_t unit = kUnits.find(lower.back()); unit != std::string_view::npos) {
    shift = 10 * static_cast<int>(unit + 1);
    lower.pop_back();
  }
  const std::optional<double> number = Plain(Trim(lower));
  if (!number) return std::nullopt;
  const double bytes = std::ldexp(*number, shift);
  if (!(bytes >= 0) || bytes > 1e18) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

}  // namespace

Result<std::string> ParseGpuId(const std::string& text) {
  const std::string id(Trim(text));
  if ((id.starts_with("GPU-") || id.starts_with("MIG-")) && IsWord(id) && id.size() > 4) return id;
  return Found("gpus", "the UUID of a GPU", text,
               "`nvidia-smi -L` shows them: GPU-8f0c…; a number says how many");
}

Result<std::string> ParseGpus(const std::string& typed) {
  const std::string text(Trim(typed));
  if (text == "all" || text == "none") return text;
  if (const auto count = Number<int>(text); count && *count >= 0 && *count <= kMostGpus) {
    return *count == 0 ? "none" : std::to_string(*count);
  }
  const std::vector<std::string> parts = Split(text, ',');
  std::vector<std::string> ids;
  for (const std::string& part : parts) {
    Result<std::string> id = ParseGpuId(part);
    if (!id.ok()) {
      return Found("gpus", "all, none, a number or UUIDs with commas between", typed,
                   "`nvidia-smi -L` shows the UUIDs: GPU-8f0c…; a number says how many");
    }
    ids.push_back(std::move(id).value());
  }
  return Join(ids, ",");
}

Result<std::string> ParseGpusOption(const std::string& text) {
  Result<std::string> gpus = ParseGpus(text);
  if (gpus.ok()) return gpus;
  Error error = std::move(gpus).error();
  error.message = "--" + error.message;
  return error;
}

Result<int64_t> ParseMemory(const std::string& text) {
  const std::optional<int64_t> bytes = Bytes(text);
  if (!bytes) return Found("memory", "a size", text, "write `8g` or `512m`");
  if (*bytes < kLeastMemory) {
    return Found("memory", "6m or more", text,
                 "write `8g` or `512m`; without a letter it is bytes");
  }
  return *bytes;
}

Result<int64_t> ParseShmSize(const std::string& text) {
  const std::optional<int64_t> bytes = Bytes(text);
  if (!bytes || *bytes == 0) return Found("shmSize", "a size", text, "write `1g` or `256m`");
  return *bytes;
}

Result<int64_t> ParseCpus(const std::string& text) {
  const std::optional<double> cpus = Plain(Trim(text));
  if (!cpus || *cpus < 0.01 || *cpus > kMostCpus) {
    return Found("cpus", "a number of cores", text, "write `4` or `0.5`");
  }
  return std::llround(*cpus * 1e9);
}

Result<std::string> ParseUlimit(const std::string& text) {
  const std::string hint = "write `nofile=1024` or `nofile=1024:4096`; -1 is no limit";
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return Found("ulimits", "name=soft[:hard]", text, hint);
  const std::string name(Trim(text.substr(0, equals)));
  if (std::find(std::begin(kUlimits), std::end(kUlimits), name) == std::end(kUlimits)) {
    const std::vector<std::string> names(std::begin(kUlimits), std::end(kUlimits));
    const auto near = DidYouMean(name, names);
    return Invalid("ulimits: there is no limit `" + ForTerminal(name) + "`")
        .WithHint(near ? "did you mean `" + *near + "`?" : "there are " + Join(names, ", "));
  }
  std::vector<std::string> values = Split(text.substr(equals + 1), ':');
  if (values.size() > 2) return Found("ulimits", "name=soft[:hard]", text, hint);
  std::vector<int64_t> numbers;
  for (const std::string& value : values) {
    const auto number =
        Trim(value) == "unlimited" ? std::optional<int64_t>(-1) : Number<int64_t>(Trim(value));
    if (!number || *number < -1) return Found("ulimits", "name=soft[:hard]", text, hint);
    numbers.push_back(*number);
  }
  const bool above =
      numbers.size() == 2 && numbers[1] != -1 && (numbers[0] == -1 || numbers[0] > numbers[1]);
  if (above) return Found("ulimits", "a soft limit that is not above the hard one", text, hint);
  std::string out = name + "=" + std::to_string(numbers[0]);
  if (numbers.size() == 2) out += ":" + std::to_string(numbers[1]);
  return out;
}

Result<std::string> ParseNetwork(const std::string& text) {
  const std::string name(Trim(text));
  const bool begins = !name.empty() && name[0] != '-' && name[0] != '.' && name[0] != '_';
  if (begins && IsWord(name)) return name;
  return Found("network", "none, host or the name of a network", text, "write `none`");
}

Status CheckContainerKey(const std::string& key, const std::string& value) {
  const auto check = [&](auto parse) -> Status {
    auto parsed = parse(value);
    if (!parsed.ok()) return std::move(parsed).error();
    return {};
  };
  if (key == "gpus") return check(ParseGpus);
  if (key == "memory") return check(ParseMemory);
  if (key == "cpus") return check(ParseCpus);
  if (key == "shmSize") return check(ParseShmSize);
  if (key == "ulimits") return check(ParseUlimit);
  if (key == "network") return check(ParseNetwork);
  return {};
}

}  // namespace tenon::project
