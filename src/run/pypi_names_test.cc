// SPDX-License-Identifier: Apache-2.0
#include "run/pypi_names.h"

#include <gtest/gtest.h>

namespace tenon::run {
namespace {

TEST(PypiNamesTest, ANameThatIsAnotherProjectOnPypiIsNotKnown) {
  // Programs and C libraries in conda. On PyPI each of these names is another project, or none.
  for (const char* name :
       {"jasper", "graphviz", "redis", "igraph",  "tk",     "snappy", "apex",   "pyg",
        "faiss",  "boost",    "zlib",  "openssl", "curl",   "ffmpeg", "git",    "make",
        "blosc",  "r",        "spark", "go",      "yarn",   "cuda",   "libgcc", "_libgcc_mutex",
        "r-base", "nomkl",    "mpi",   "openmpi", "python", "",       " ",      "numpy ="}) {
    EXPECT_EQ(PypiName(name), "") << name;
  }
}

TEST(PypiNamesTest, TheSameProjectIsKnownByItsNameOnPypi) {
  EXPECT_EQ(PypiName("numpy"), "numpy");
  EXPECT_EQ(PypiName("NumPy"), "numpy");
  EXPECT_EQ(PypiName("opencv"), "opencv-python");
  EXPECT_EQ(PypiName("py-opencv"), "opencv-python");
  EXPECT_EQ(PypiName("pytorch"), "torch");
  EXPECT_EQ(PypiName("tensorflow-gpu"), "tensorflow-gpu");
  EXPECT_EQ(PypiName("tensorflow-mkl"), "tensorflow");
  EXPECT_EQ(PypiName("matplotlib-base"), "matplotlib");
  EXPECT_EQ(PypiName("scikit-learn"), "scikit-learn");
  EXPECT_EQ(PypiName("python-graphviz"), "graphviz");
  EXPECT_EQ(PypiName("python-blosc"), "blosc");
  EXPECT_EQ(PypiName("redis-py"), "redis");
  EXPECT_EQ(PypiName("pytables"), "tables");
  EXPECT_EQ(PypiName("msgpack-python"), "msgpack");
  EXPECT_EQ(PypiName("21cmfast"), "21cmfast") << "the first line";
  EXPECT_EQ(PypiName("zxpy"), "zxpy") << "the last line";
}

TEST(PypiNamesTest, EveryLineIsFound) {
  constexpr std::string_view kTable =
#include "run/pypi_names.inc"
      ;
  size_t lines = 0;
  std::string_view previous;
  for (size_t at = 0; at < kTable.size(); ++lines) {
    const size_t end = kTable.find('\n', at);
    const std::string_view line = kTable.substr(at, end - at);
    const std::string_view name = line.substr(0, line.find(' '));
    EXPECT_LT(previous, name) << "not sorted";
    EXPECT_EQ(PypiName(name), line.substr(line.rfind(' ') + 1)) << line;
    previous = name;
    at = end + 1;
  }
  EXPECT_GT(lines, 12'000u);
}

TEST(PypiNamesTest, NamesOfPypiAreComparedAsIndexesDo) {
  EXPECT_TRUE(IsKnownOnPypi("torch"));
  EXPECT_TRUE(IsKnownOnPypi("Typing.Extensions"));
  EXPECT_TRUE(IsKnownOnPypi("opencv_python"));
  EXPECT_FALSE(IsKnownOnPypi("pytorch"));
  EXPECT_FALSE(IsKnownOnPypi("a-wheel-of-one-company"));
  EXPECT_FALSE(IsKnownOnPypi(""));
}

TEST(PypiNamesTest, APackageOfSomebodysOwnChannelIsNobodyElses) {
  Packages packages;
  for (const char* text : {"numpy=1.12", "conda-forge::numpy", "pkgs/main/linux-64::numpy",
                           "acme::numpy", "https://conda.acme.com/main::numpy"}) {
    packages.conda.push_back({text, "numpy", ""});
  }
  packages.conda.push_back({"jasper", "jasper", "", "left over"});
  SetPypiNames(&packages);
  std::string known;
  for (const Package& package : packages.conda) known += package.pypi.empty() ? "-" : "+";
  EXPECT_EQ(known, "+++---");
}

}  // namespace
}  // namespace tenon::run
