// SPDX-License-Identifier: Apache-2.0
#include "base/field_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

enum class Colour { kRed, kBlue };
constexpr int LastOf(Colour) { return static_cast<int>(Colour::kBlue); }

struct Inner {
  std::string text;
  int64_t number = 7;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "text", &Inner::text), Field(2, "number", &Inner::number));
  }
  bool operator==(const Inner&) const = default;
};

struct Whole {
  int64_t negative = 0;
  uint64_t large = 0;
  bool flag = true;
  double real = 0;
  Colour colour = Colour::kBlue;
  std::string bytes;
  std::optional<int> maybe;
  std::optional<Inner> maybe_inner;
  Inner inner;
  std::vector<Inner> list;
  std::map<std::string, std::vector<int>> map;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::variant<double, std::string, std::vector<double>> value;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "negative", &Whole::negative), Field(2, "large", &Whole::large),
                      Field(3, "flag", &Whole::flag), Field(4, "real", &Whole::real),
                      Field(5, "colour", &Whole::colour), Field(6, "bytes", &Whole::bytes),
                      Field(7, "maybe", &Whole::maybe),
                      Field(8, "maybe_inner", &Whole::maybe_inner),
                      Field(9, "inner", &Whole::inner), Field(10, "list", &Whole::list),
                      Field(11, "map", &Whole::map), Field(12, "pairs", &Whole::pairs),
                      Field(13, "value", &Whole::value));
  }
  bool operator==(const Whole&) const = default;
};

Whole Full() {
  Whole whole;
  whole.negative = std::numeric_limits<int64_t>::min();
  whole.large = ~uint64_t{0};
  whole.flag = false;
  whole.real = -INFINITY;
  whole.colour = Colour::kRed;
  whole.bytes = std::string("\0\xff", 2);
  whole.maybe = 0;
  whole.maybe_inner = Inner{"", 0};
  whole.inner = {"in", -1};
  whole.list = {{"a", 1}, {"", 7}, {"c", 3}};
  whole.map = {{"", {}}, {"x", {1, -2}}};
  whole.pairs = {{"a", "b"}, {"a", ""}};
  whole.value = std::vector<double>{1.5, 2.5};
  return whole;
}

// Whole as a later program may know it: with members before, between and behind those of today.
struct Later {
  std::string names = "default";
  uint64_t large = 0;
  double fresh = 0.5;
  std::string bytes;
  Inner inner;
  Inner nested;
  std::string text;

  static constexpr auto Fields() {
    return std::tuple(Field(2, "large", &Later::large), Field(6, "bytes", &Later::bytes),
                      Field(9, "inner", &Later::inner), Field(14, "fresh", &Later::fresh),
                      Field(15, "nested", &Later::nested), Field(16, "text", &Later::text),
                      Field(17, "names", &Later::names));
  }
};

TEST(FieldCodec, EveryKindOfMemberComesBack) {
  Whole again;
  ASSERT_TRUE(Unpack(Pack(Full()), again));
  EXPECT_EQ(again, Full());
}

TEST(FieldCodec, DefaultsTakeOneByteAndComeBack) {
  EXPECT_EQ(Pack(Whole{}).size(), 1u);
  Whole again;
  ASSERT_TRUE(Unpack(Pack(Whole{}), again));
  EXPECT_EQ(again, Whole{});
}

TEST(FieldCodec, NotANumberComesBack) {
  Whole whole;
  whole.real = std::nan("");
  Whole again;
  ASSERT_TRUE(Unpack(Pack(whole), again));
  EXPECT_TRUE(std::isnan(again.real));
}

TEST(FieldCodec, WhatIsReadOverKeepsNothingOfWhatWasThere) {
  Whole over = Full();
  ASSERT_TRUE(Unpack(Pack(Whole{}), over));
  EXPECT_EQ(over, Whole{});
  over.map["zz"] = {1};
  over.list.resize(9);
  ASSERT_TRUE(Unpack(Pack(Full()), over));
  EXPECT_EQ(over, Full());
}

TEST(FieldCodec, AnOlderReaderPassesOverMembersItDoesNotKnow) {
  Later later;
  later.large = 5;
  later.bytes = "b";
  later.inner = {"i", 2};
  later.fresh = 1;
  later.nested = {"n", 3};
  later.text = "t";
  later.names = "x";
  Whole whole = Full();
  ASSERT_TRUE(Unpack(Pack(later), whole));
  Whole expected;
  expected.large = 5;
  expected.bytes = "b";
  expected.inner = {"i", 2};
  EXPECT_EQ(whole, expected);
}

TEST(FieldCodec, ANewerReaderGivesDefaultsToMembersThatAreNotThere) {
  Later later;
  later.fresh = 9;
  later.names.clear();
  later.text = "left over";
  ASSERT_TRUE(Unpack(Pack(Full()), later));
  EXPECT_EQ(later.large, ~uint64_t{0});
  EXPECT_EQ(later.inner, (Inner{"in", -1}));
  EXPECT_EQ(later.fresh, 0.5);
  EXPECT_EQ(later.text, "");
  EXPECT_EQ(later.names, "default");
}

TEST(FieldCodec, EveryCutAndEveryFlippedByteIsRefusedOrReadNeverACrash) {
  const std::string bytes = Pack(Full());
  for (size_t length = 0; length < bytes.size(); ++length) {
    Whole whole;
    EXPECT_FALSE(Unpack(std::string_view(bytes).substr(0, length), whole)) << length;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      Whole whole;
      Unpack(damaged, whole);
    }
  }
  Whole whole;
  EXPECT_FALSE(Unpack(bytes + "x", whole));
}

TEST(FieldCodec, AnEnumeratorThatDoesNotExistIsRefused) {
  struct Raw {
    uint64_t colour = 9;
    static constexpr auto Fields() { return std::tuple(Field(5, "colour", &Raw::colour)); }
  };
  Raw raw;
  raw.colour = 2;
  Whole whole;
  EXPECT_FALSE(Unpack(Pack(raw), whole));
}

TEST(FieldCodec, AMemberOfAnotherKindIsRefused) {
  struct Raw {
    std::string large;
    static constexpr auto Fields() { return std::tuple(Field(2, "large", &Raw::large)); }
  };
  Whole whole;
  EXPECT_FALSE(Unpack(Pack(Raw{"text"}), whole));
}

// The compiler refuses a description that lacks a member, or whose tags do not ascend.
struct Forgetful {
  int one = 0;
  int two = 0;
  static constexpr auto Fields() { return std::tuple(Field(1, "one", &Forgetful::one)); }
};
static_assert(!ListsEveryMember<Forgetful>());
static_assert(ListsEveryMember<Whole>());
static_assert(!TagsAscend(std::tuple(Field(2, "a", &Inner::text), Field(2, "b", &Inner::number))));

}  // namespace
}  // namespace tenon
