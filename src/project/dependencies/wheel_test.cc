// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/wheel.h"

#include <gtest/gtest.h>

namespace tenon::project {
namespace {

WheelName Must(std::string_view text) {
  const auto wheel = ParseWheelName(text);
  if (!wheel) ADD_FAILURE() << text;
  return wheel.value_or(WheelName{});
}

TEST(Wheel, NamesInAddressesPathsAndWithBuildNumbers) {
  const WheelName cntk =
      Must("https://cntk.ai/PythonWheel/GPU-1bit-SGD/cntk-2.1-cp35-cp35m-linux_x86_64.whl");
  EXPECT_EQ(cntk.name, "cntk");
  EXPECT_EQ(cntk.version, "2.1");
  EXPECT_EQ(cntk.python_tags, std::vector<std::string>{"cp35"});
  EXPECT_EQ(cntk.abi_tags, std::vector<std::string>{"cp35m"});
  EXPECT_EQ(cntk.platform_tags, std::vector<std::string>{"linux_x86_64"});
  EXPECT_EQ(Must("x-1.0-3-py2.py3-none-any.whl").build, "3");
  EXPECT_EQ(Must("C:\\temp\\pkg-2.0-py3-none-any.whl").name, "pkg");
  EXPECT_EQ(Must("https://h/a%2Bb-1.0%2Blocal-py3-none-any.whl?sig=a%2Fb/c.whl").version,
            "1.0+local");
  EXPECT_EQ(Must("https://h/a-1-py3-none-any.whl#sha256=00").name, "a");
  for (const char* text : {"a-1.0.tar.gz", "a.whl", "a-1-py3-none.whl", "a-1--py3-none-any.whl",
                           "https://h/?a-1-py3-none-any.whl", "", ".whl", "a-b-c-d-e-f-g.whl"}) {
    EXPECT_FALSE(ParseWheelName(text).has_value()) << text;
  }
}

TEST(Wheel, WindowsAndMacWheelsDoNotFitLinux) {
  for (const char* tag : {"linux_x86_64", "manylinux1_x86_64",
                          "manylinux_2_17_x86_64.manylinux2014_"
                          "x86_64",
                          "any", "win_amd64.linux_x86_64"}) {
    EXPECT_TRUE(FitsLinux(Must("a-1-py3-none-" + std::string(tag) + ".whl"))) << tag;
  }
  for (const char* tag : {"win_amd64", "win32", "macosx_10_6_intel", "linux_i686",
                          "manylinux1_i686", "manylinux2014_aarch64", "musllinux_1_1_x86_64"}) {
    EXPECT_FALSE(FitsLinux(Must("a-1-py3-none-" + std::string(tag) + ".whl"))) << tag;
  }
  EXPECT_EQ(WheelSystem(Must("a-1-cp35-cp35m-win_amd64.whl")), "Windows");
  EXPECT_EQ(WheelSystem(Must("a-1-cp35-cp35m-linux_i686.whl")), "Linux on i686");
}

TEST(Wheel, FitsOnlyThePythonsItIsMadeFor) {
  const auto fits = [](const std::string& tags, int minor) {
    return FitsPython(Must("a-1-" + tags + "-any.whl"), {3, minor});
  };
  EXPECT_TRUE(fits("cp35-cp35m", 5));
  EXPECT_FALSE(fits("cp35-cp35m", 6));
  EXPECT_FALSE(fits("cp35-none", 6));
  EXPECT_TRUE(fits("cp35-abi3", 6));
  EXPECT_FALSE(fits("cp37-abi3", 6));
  EXPECT_TRUE(fits("py3-none", 12));
  EXPECT_TRUE(fits("py2.py3-none", 6));
  EXPECT_FALSE(fits("py2-none", 6));
  EXPECT_TRUE(fits("py35-none", 6));
  EXPECT_TRUE(fits("cp310-cp310", 10));
  EXPECT_FALSE(fits("cp310-cp310", 1));
  EXPECT_FALSE(fits("cp27-cp27mu", 7));
  EXPECT_EQ(WheelPythons(Must("a-1-cp35-cp35m-any.whl")), "Python 3.5");
  EXPECT_EQ(WheelPythons(Must("a-1-py2.py3-none-any.whl")), "Python 2 and 3");
}

TEST(Wheel, VersionsAreComparedNumberByNumber) {
  EXPECT_LT(CompareVersions("1.4", "1.15"), 0);
  EXPECT_EQ(CompareVersions("2", "2.0.0"), 0);
  EXPECT_GT(CompareVersions("2.5.1", "2.5"), 0);
  EXPECT_EQ(CompareVersions("0.1.0a11", "0.1"), 0);
  EXPECT_EQ(MajorMinor("3.5.2"), std::pair(3, 5));
  EXPECT_EQ(MajorMinor("3"), std::nullopt);
  EXPECT_EQ(MajorMinor("99999999999999999999.1"), std::pair(100'000'000, 1));
}

}  // namespace
}  // namespace tenon::project
