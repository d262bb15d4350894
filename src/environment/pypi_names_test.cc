// SPDX-License-Identifier: Apache-2.0
#include "environment/pypi_names.h"

#include <gtest/gtest.h>

namespace tenon::environment {
namespace {

TEST(PypiNamesTest, VersionsKeepTheirMeaning) {
  auto made = [](const char* text) {
    return PypiRequirement({text, "numpy", "", "numpy"}).value_or("none");
  };
  EXPECT_EQ(made("numpy"), "numpy");
  EXPECT_EQ(made("numpy=1.12"), "numpy==1.12.*");
  EXPECT_EQ(made("numpy==1.12.1"), "numpy==1.12.1");
  EXPECT_EQ(made("numpy=1.12.1=py36_0"), "numpy==1.12.1.*");
  EXPECT_EQ(made("numpy >=1.13"), "numpy>=1.13");
  EXPECT_EQ(made("numpy>=1.13,<2"), "numpy>=1.13,<2");
  EXPECT_EQ(made("numpy 1.12.*"), "numpy==1.12.*");
  EXPECT_EQ(made("conda-forge::NumPy=1"), "numpy==1.*");
  EXPECT_EQ(made("numpy=*"), "numpy");
}

TEST(PypiNamesTest, TheNameIsTheOneTheItemBrings) {
  EXPECT_EQ(*PypiRequirement({"pytorch=1.0", "pytorch", "", "torch"}), "torch==1.0.*");
  EXPECT_EQ(*PypiRequirement({"tensorflow-gpu=1.4", "tensorflow-gpu", "", "tensorflow-gpu"}),
            "tensorflow-gpu==1.4.*");
}

TEST(PypiNamesTest, AnItemThatBringsNoNameIsNotTakenForSomethingElse) {
  for (const char* text : {"jasper", "numpy", "openmpi", "cudatoolkit=9.0", "acme::numpy"}) {
    auto made = PypiRequirement({text, "", "", ""});
    ASSERT_FALSE(made.ok()) << text << " became " << *made;
    EXPECT_EQ(made.error().kind, ErrorKind::kNotFound) << text;
  }
  for (const char* text : {"numpy[version='>=1']", "numpy=1|2", "https://x/y.tar.bz2", ""}) {
    EXPECT_FALSE(PypiRequirement({text, "numpy", "", "numpy"}).ok()) << text;
  }
}

}  // namespace
}  // namespace tenon::environment
