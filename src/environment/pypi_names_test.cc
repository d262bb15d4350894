// SPDX-License-Identifier: Apache-2.0
#include "environment/pypi_names.h"

#include <gtest/gtest.h>

namespace tenon::environment {
namespace {

TEST(PypiNamesTest, VersionsKeepTheirMeaning) {
  auto made = [](const char* text) { return PypiRequirement(text).value_or("none"); };
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

TEST(PypiNamesTest, OtherNamesAreKnown) {
  auto made = [](const char* text) { return PypiRequirement(text).value_or("none"); };
  EXPECT_EQ(made("pytorch=1.0"), "torch==1.0.*");
  EXPECT_EQ(made("py-xgboost"), "xgboost");
  EXPECT_EQ(made("opencv"), "opencv-python");
  EXPECT_EQ(made("tensorflow-gpu=1.4"), "tensorflow-gpu==1.4.*");
  EXPECT_EQ(made("librosa"), "librosa");
}

TEST(PypiNamesTest, WhatPypiHasNotIsNotTakenForSomethingElse) {
  for (const char* text :
       {"openmpi", "cudatoolkit=9.0", "r-base", "libgcc", "gcc", "_libgcc_mutex"}) {
    auto made = PypiRequirement(text);
    ASSERT_FALSE(made.ok()) << text << " became " << *made;
    EXPECT_EQ(made.error().kind, ErrorKind::kNotFound) << text;
  }
  for (const char* text : {"numpy[version='>=1']", "numpy=1|2", "https://x/y.tar.bz2", ""}) {
    EXPECT_FALSE(PypiRequirement(text).ok()) << text;
  }
}

}  // namespace
}  // namespace tenon::environment
