// SPDX-License-Identifier: Apache-2.0
#include "cli/targets/forward.h"

#include <gtest/gtest.h>

namespace tenon::cli {
namespace {

TEST(ForwardTest, PortsThatAreNoneAreRefused) {
  EXPECT_EQ(ParsePorts("6006")->there, 6006);
  EXPECT_EQ(ParsePorts("6006")->here, 0);
  EXPECT_EQ(ParsePorts("6006:80")->here, 80);
  for (const char* bad : {"", "0", "65536", "-1", "a", "80:", ":80", "80:x", "80 ", "80:80:80"}) {
    EXPECT_FALSE(ParsePorts(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace tenon::cli
