// SPDX-License-Identifier: Apache-2.0
// Reads the name of a wheel file (PEP 427): which package it is and which machines can use it.
#ifndef TENON_PROJECT_DEPENDENCIES_WHEEL_H_
#define TENON_PROJECT_DEPENDENCIES_WHEEL_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::project {

struct WheelName {
  std::string name;
  std::string version;
  std::string build;  // "" when there is none
  std::vector<std::string> python_tags;
  std::vector<std::string> abi_tags;
  std::vector<std::string> platform_tags;
};

// Accepts a file name, a path (also a Windows path) or an address. Of an address, drops query and
// fragment and decodes %2B and the like. nullopt when it does not name a wheel.
std::optional<WheelName> ParseWheelName(std::string_view file_or_url);

// Whether it can be used on Linux on x86-64 with glibc, as our containers and hosts are.
bool FitsLinux(const WheelName& wheel);
// Whether it can be used with CPython of that version, {major, minor}.
bool FitsPython(const WheelName& wheel, std::pair<int, int> python);

// The system it is made for: "Windows", "macOS", "Linux on aarch64", or the tag as written.
std::string WheelSystem(const WheelName& wheel);
// The interpreters it is made for: "Python 3.5", "Python 2", "Python 3.5 and 3.6".
std::string WheelPythons(const WheelName& wheel);

// {3, 5} for "3.5.2"; nullopt when the version does not begin with two numbers.
std::optional<std::pair<int, int>> MajorMinor(std::string_view version);
// Compares number by number; a missing number is zero, so 2 = 2.0. Ignores what follows the
// numbers. Returns less than, equal to or greater than 0.
int CompareVersions(std::string_view a, std::string_view b);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_WHEEL_H_
