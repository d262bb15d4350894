// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

#include <random>

namespace tenon {
namespace {

std::string RandomBytes(size_t n) {
  std::mt19937 random(1);
  std::string bytes(n, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST(HashTest, Sha256GivesThePublishedValues) {
  EXPECT_EQ(Sha256Of("").Hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Of("abc").Hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(HashTest, Sha256InPiecesIsTheSame) {
  std::string bytes = RandomBytes(1000);
  for (size_t cut = 0; cut <= bytes.size(); cut += 37) {
    Sha256 hash;
    hash.Update(std::string_view(bytes).substr(0, cut));
    hash.Update(std::string_view(bytes).substr(cut));
    EXPECT_EQ(hash.Finish(), Sha256Of(bytes));
  }
}

TEST(HashTest, HexGoesBackAndForthAndNonsenseIsRefused) {
  Hash hash = Sha256Of("x");
  EXPECT_EQ(Hash::FromHex(hash.Hex()), hash);
  EXPECT_EQ(Hash::FromBytes(hash.raw()), hash);
  EXPECT_FALSE(Hash::FromHex(hash.Hex().substr(1)));
  EXPECT_FALSE(Hash::FromHex(hash.Hex() + "0"));
  EXPECT_FALSE(Hash::FromHex(std::string(64, 'g')));
  EXPECT_FALSE(Hash::FromHex(std::string(64, 'A')));
}

TEST(HashTest, Crc32cGivesThePublishedValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720 B.4
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(HashTest, TheCpusInstructionAndTheTablesAgreeAtEveryLength) {
  std::string bytes = RandomBytes(40'000);
  std::string_view view = bytes;
  for (size_t n = 0; n < 1700; ++n) {
    ASSERT_EQ(Crc32c(view.substr(n % 9, n)), internal::Crc32cSoftware(view.substr(n % 9, n))) << n;
  }
  for (size_t n = 12'200; n < 12'400; ++n) {
    ASSERT_EQ(Crc32c(view.substr(3, n)), internal::Crc32cSoftware(view.substr(3, n))) << n;
  }
  EXPECT_EQ(Crc32c(view), internal::Crc32cSoftware(view));
}

TEST(HashTest, Crc32cContinuesWhereItStopped) {
  std::string bytes = RandomBytes(30'000);
  std::string_view view = bytes;
  for (size_t cut : {0, 1, 7, 8, 255, 4096, 12'287, 12'288, 29'999, 30'000}) {
    EXPECT_EQ(Crc32c(view.substr(cut), Crc32c(view.substr(0, cut))), Crc32c(view)) << cut;
  }
}

}  // namespace
}  // namespace tenon
