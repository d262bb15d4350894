// SPDX-License-Identifier: Apache-2.0
// What the name of a wheel file says (PEP 427): which package, and which machines it can run on.
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

// From a file name, a path (also of Windows) or an address; query and fragment are left out and
// %2B and the like are decoded. Nothing when it is not the name of a wheel.
std::optional<WheelName> ParseWheelName(std::string_view file_or_url);

// Linux on x86-64 with glibc, which is what containers and hosts are.
bool FitsLinux(const WheelName& wheel);
// CPython of that version, {major, minor}.
bool FitsPython(const WheelName& wheel, std::pair<int, int> python);

// "Windows", "macOS", "Linux on aarch64", or the tags as written: the system it is made for.
std::string WheelSystem(const WheelName& wheel);
// "Python 3.5", "Python 2", "Python 3.5 and 3.6": the interpreters it is made for.
std::string WheelPythons(const WheelName& wheel);

// {3, 5} of "3.5.2"; nothing when there are no two numbers.
std::optional<std::pair<int, int>> MajorMinor(std::string_view version);
// Number by number; a missing one is zero, so 2 = 2.0. What follows the numbers does not count.
int CompareVersions(std::string_view a, std::string_view b);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_WHEEL_H_
