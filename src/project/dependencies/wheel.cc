// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/wheel.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace tenon::project {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
                        HexDigit(text[i + 2]) >= 0;
    if (!escape) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
    i += 2;
  }
  return out;
}

std::vector<int> Numbers(std::string_view version) {
  std::vector<int> numbers;
  size_t i = 0;
  while (i < version.size() && version[i] >= '0' && version[i] <= '9') {
    int number = 0;
    for (; i < version.size() && version[i] >= '0' && version[i] <= '9'; ++i) {
      number = std::min(number * 10 + (version[i] - '0'), 100'000'000);
    }
    numbers.push_back(number);
    if (i >= version.size() || version[i] != '.') break;
    ++i;
  }
  return numbers;
}

// {"cp", 3, 5} of cp35, {"py", 3, -1} of py3, {"cp", 3, 10} of cp310.
struct Interpreter {
  std::string kind;
  int major = 0;
  int minor = -1;
};

std::optional<Interpreter> ParseInterpreter(std::string_view tag) {
  size_t letters = 0;
  while (letters < tag.size() && (tag[letters] < '0' || tag[letters] > '9')) ++letters;
  const std::string_view digits = tag.substr(letters);
  if (letters == 0 || digits.empty() || digits.size() > 4) return std::nullopt;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
  }
  Interpreter out{std::string(tag.substr(0, letters)), digits[0] - '0', -1};
  if (digits.size() > 1) out.minor = std::atoi(std::string(digits.substr(1)).c_str());
  return out;
}

bool Has(const std::vector<std::string>& tags, std::string_view tag) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::string SystemOf(std::string_view tag) {
  if (tag == "any") return "every system";
  if (tag.starts_with("win")) return "Windows";
  if (tag.starts_with("macosx")) return "macOS";
  if (tag.starts_with("musllinux")) return "Linux without glibc";
  for (const std::string_view machine :
       {"x86_64", "i686", "aarch64", "armv7l", "ppc64le", "s390x"}) {
    if (tag.find("linux") != std::string_view::npos && tag.ends_with(machine)) {
      return "Linux on " + std::string(machine);
    }
  }
  return ForTerminal(tag);
}

}  // namespace

std::optional<WheelName> ParseWheelName(std::string_view file_or_url) {
  const bool url = file_or_url.find("://") != std::string_view::npos;
  if (url) file_or_url = file_or_url.substr(0, file_or_url.find_first_of("?#"));
  std::string name = url ? PercentDecoded(file_or_url) : std::string(Trim(file_or_url));
  name = name.substr(name.find_last_of("/\\") + 1);
  if (name.size() < 5 || ToLower(name.substr(name.size() - 4)) != ".whl") return std::nullopt;
  name.resize(name.size() - 4);
  const std::vector<std::string> parts = Split(name, '-');
  if (parts.size() != 5 && parts.size() != 6) return std::nullopt;
  for (const std::string& part : parts) {
    if (part.empty()) return std::nullopt;
  }
  WheelName out;
  out.name = parts[0];
  out.version = parts[1];
  if (parts.size() == 6) out.build = parts[2];
  const size_t tags = parts.size() - 3;
  out.python_tags = Split(ToLower(parts[tags]), '.');
  out.abi_tags = Split(ToLower(parts[tags + 1]), '.');
  out.platform_tags = Split(ToLower(parts[tags + 2]), '.');
  return out;
}

bool FitsLinux(const WheelName& wheel) {
  for (const std::string& tag : wheel.platform_tags) {
    if (tag == "any") return true;
    const bool glibc = tag.starts_with("linux_") || tag.starts_with("manylinux");
    if (glibc && tag.ends_with("_x86_64")) return true;
  }
  return false;
}

bool FitsPython(const WheelName& wheel, std::pair<int, int> python) {
  const bool stable_abi = Has(wheel.abi_tags, "abi3");
  for (const std::string& tag : wheel.python_tags) {
    const auto interpreter = ParseInterpreter(tag);
    if (!interpreter || interpreter->major != python.first) continue;
    if (interpreter->minor < 0) return true;
    if (interpreter->minor == python.second) return true;
    const bool or_newer = interpreter->kind == "py" || stable_abi;
    if (or_newer && interpreter->minor < python.second) return true;
  }
  return false;
}

std::string WheelSystem(const WheelName& wheel) {
  std::vector<std::string> systems;
  for (const std::string& tag : wheel.platform_tags) {
    const std::string system = SystemOf(tag);
    if (!Has(systems, system)) systems.push_back(system);
  }
  return Join(systems, " and ");
}

std::string WheelPythons(const WheelName& wheel) {
  std::vector<std::string> versions;
  for (const std::string& tag : wheel.python_tags) {
    const auto interpreter = ParseInterpreter(tag);
    if (!interpreter) {
      versions.push_back(ForTerminal(tag));
      continue;
    }
    versions.push_back(std::to_string(interpreter->major) +
                       (interpreter->minor < 0 ? "" : "." + std::to_string(interpreter->minor)));
  }
  return "Python " + Join(versions, " and ");
}

std::optional<std::pair<int, int>> MajorMinor(std::string_view version) {
  const std::vector<int> numbers = Numbers(version);
  if (numbers.size() < 2) return std::nullopt;
  return std::pair(numbers[0], numbers[1]);
}

int CompareVersions(std::string_view a, std::string_view b) {
  std::vector<int> left = Numbers(a), right = Numbers(b);
  const size_t size = std::max(left.size(), right.size());
  left.resize(size);
  right.resize(size);
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

}  // namespace tenon::project
