// SPDX-License-Identifier: Apache-2.0
#include "environment/key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace tenon::environment {
namespace {

run::Packages Sample() {
  run::Packages packages;
  packages.file = "aml_config/conda_dependencies.yml";
  packages.format = "conda";
  packages.python = "=3.6";
  packages.python_where = "a:3";
  packages.channels = {"conda-forge", "defaults"};
  packages.conda = {{"numpy=1.12", "numpy", "a:4", "numpy"}, {"scipy", "scipy", "a:5", "scipy"}};
  packages.pip = {{"Flask==1.0", "flask", "a:7"}, {"six>=1, <2", "six", "a:8"}};
  packages.pip_options = {{"--index-url https://a", "", "a:6"}, {"--find-links x", "", "a:6"}};
  packages.files = {{"wheels/x.whl", "ab"}};
  return packages;
}

std::string Key(const run::Packages& packages) {
  return EnvironmentKey(packages, "sha256:base", "linux-x86_64");
}

TEST(EnvironmentKeyTest, WhatHasNoMeaningDoesNotChangeIt) {
  const std::string key = Key(Sample());
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
  using Change = std::function<void(run::Packages&)>;
  const Change same[] = {
      [](auto& p) { p.file = "other.yml"; },
      [](auto& p) { p.python_where = "b:1"; },
      [](auto& p) { p.python = " = 3.6"; },
      [](auto& p) { p.conda[0].where = "b:99"; },
      [](auto& p) { std::swap(p.conda[0], p.conda[1]); },
      [](auto& p) { std::swap(p.pip[0], p.pip[1]); },
      [](auto& p) { p.pip[0].text = "flask == 1.0  "; },
      [](auto& p) { p.pip[1].text = "Six >=1,<2"; },
      [](auto& p) { p.conda[0].text = " NumPy = 1.12"; },
      [](auto& p) { p.pip.push_back(p.pip[0]); },
      [](auto& p) { p.pip_options[0].text = "--index-url   https://a "; },
  };
  int n = 0;
  for (const Change& change : same) {
    run::Packages packages = Sample();
    change(packages);
    EXPECT_EQ(Key(packages), key) << "change " << n;
    ++n;
  }
}

TEST(EnvironmentKeyTest, WhatHasMeaningChangesIt) {
  std::set<std::string> keys = {Key(Sample())};
  using Change = std::function<void(run::Packages&)>;
  const Change other[] = {
      [](auto& p) { p.python = "=3.7"; },
      [](auto& p) { std::swap(p.channels[0], p.channels[1]); },
      [](auto& p) { p.conda[0].text = "numpy=1.13"; },
      [](auto& p) { p.conda[0].text = "numpy==1.12"; },
      [](auto& p) { p.conda[0].pypi = ""; },
      [](auto& p) { p.pip[0].text = "flask==1.0.1"; },
      [](auto& p) { p.pip[1].text = "six>=1,<2; python_version < '3'"; },
      [](auto& p) { p.pip.pop_back(); },
      [](auto& p) { std::swap(p.pip_options[0], p.pip_options[1]); },
      [](auto& p) { p.files[0].hash = "cd"; },
      [](auto& p) { p.files[0].path = "wheels/y.whl"; },
      [](auto& p) { p.format = "uv-lock"; },
      // The same text as a pip item is another package.
      [](auto& p) { p.pip.push_back(p.conda[1]); },
      [](auto& p) { p.pip.push_back(p.conda[1]), p.conda.pop_back(); },
  };
  int n = 0;
  for (const Change& change : other) {
    run::Packages packages = Sample();
    change(packages);
    EXPECT_TRUE(keys.insert(Key(packages)).second) << "change " << n;
    ++n;
  }
  EXPECT_TRUE(keys.insert(EnvironmentKey(Sample(), "sha256:other", "linux-x86_64")).second);
  EXPECT_TRUE(keys.insert(EnvironmentKey(Sample(), "sha256:base", "linux-aarch64")).second);
}

TEST(EnvironmentKeyTest, AddressesAndMarkersKeepTheirLetters) {
  EXPECT_EQ(NormalisePip(" https://Host/X_y.whl?sv=A%2F "), "https://Host/X_y.whl?sv=A%2F");
  EXPECT_EQ(NormalisePip("./Wheels/A.whl"), "./Wheels/A.whl");
  EXPECT_EQ(NormalisePip("Foo_Bar[Extra] ; python_version < '3.8'  and  os_name == 'a  b'"),
            "foo-bar[Extra];python_version<'3.8'and os_name=='a  b'");
  EXPECT_NE(NormaliseConda("numpy 1.12"), NormaliseConda("numpy1.12"));
  EXPECT_EQ(NormaliseName("Azure.ML__sdk"), "azure-ml-sdk");
}

}  // namespace
}  // namespace tenon::environment
