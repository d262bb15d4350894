// SPDX-License-Identifier: Apache-2.0
#include "cli/forward.h"

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

TEST(ForwardTest, TheContainersOwnAddressIsFoundAndNoOther) {
  const std::string id = "0123456789abcdef0123";
  const std::string hosts =
      "127.0.0.1\tlocalhost\n::1\tlocalhost\n172.17.0.9\tother\n"
      "172.17.0.2\t0123456789ab\n";
  EXPECT_EQ(AddressIn(hosts, id), "172.17.0.2");
  EXPECT_EQ(AddressIn("127.0.0.1 localhost 0123456789ab\n", id), std::nullopt);
  EXPECT_EQ(AddressIn("$(reboot) 0123456789ab\n", id), std::nullopt);
  EXPECT_EQ(AddressIn("fd00::2 0123456789ab\n10.0.0.5 name 0123456789ab # x\n", id), "10.0.0.5");
  EXPECT_EQ(AddressIn("", id), std::nullopt);
}

}  // namespace
}  // namespace tenon::cli
