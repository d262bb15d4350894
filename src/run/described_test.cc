// SPDX-License-Identifier: Apache-2.0
#include "run/described.h"

#include <gtest/gtest.h>

#include "run/event.h"

namespace tenon::run {
namespace {

struct Part {
  std::string name;
  int64_t size = 0;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "name", &Part::name, FieldRule::kRequired),
                      Field(2, "size", &Part::size));
  }
  void Check(Members& in) const {
    if (size < 0) in.Fail("size", "a number, not negative");
  }
};

struct Thing {
  int64_t count = 0;
  bool on = true;
  std::string text;
  std::optional<std::string> maybe;
  std::optional<Part> part;
  std::vector<Part> parts;
  State state = State::kQueued;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "count", &Thing::count, FieldRule::kAlways),
                      Field(2, "on", &Thing::on), Field(3, "text", &Thing::text),
                      Field(4, "maybe", &Thing::maybe), Field(5, "part", &Thing::part),
                      Field(6, "parts", &Thing::parts), Field(7, "state", &Thing::state));
  }
};

std::string Printed(const Thing& thing) { return json::Print(ToJsonObject(thing)); }

std::string ProblemOf(const char* text) {
  const auto read = FromJsonObject<Thing>(json::Parse(text)->as_object());
  return read.ok() ? "" : read.error().message;
}

TEST(Described, OnlyWhatIsSaidIsWritten) {
  Thing thing;
  EXPECT_EQ(Printed(thing), R"({"count":0})");
  thing.on = false;
  thing.maybe = "";
  thing.part = Part{"p", 0};
  thing.parts = {{"q", 1}};
  thing.state = State::kRunning;
  EXPECT_EQ(
      Printed(thing),
      R"({"count":0,"on":false,"maybe":"","part":{"name":"p"},"parts":[{"name":"q","size":1}],)"
      R"("state":"Running"})");
}

TEST(Described, EverythingComesBack) {
  Thing thing;
  thing.count = -3;
  thing.on = false;
  thing.text = "\xff\n";
  thing.part = Part{"p", 9};
  thing.parts = {{"q", 1}, {"", 0}};
  thing.state = State::kFailed;
  const auto again = FromJsonObject<Thing>(ToJsonObject(thing));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(Printed(*again), Printed(thing));
  EXPECT_EQ(again->text, thing.text);
}

TEST(Described, AbsentAndUnknownMembersAreNoMistake) {
  const auto read = FromJsonObject<Thing>(
      json::Parse(R"({"later":1,"part":{"name":"p","later":{}}})")->as_object());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->on);
  EXPECT_EQ(read->part->name, "p");
}

TEST(Described, AMistakeIsNamedWithItsPlace) {
  EXPECT_EQ(ProblemOf(R"({"count":"x"})"), R"(member "count" should be a whole number)");
  EXPECT_EQ(ProblemOf(R"({"part":{"size":1}})"), R"(in "part": "name" is missing)");
  EXPECT_EQ(ProblemOf(R"({"parts":[{"name":"a"},{"name":2}]})"),
            R"(in "parts": member "name" should be a string)");
  EXPECT_EQ(ProblemOf(R"({"part":{"name":"a","size":-1}})"),
            R"(in "part": member "size" should be a number, not negative)");
  EXPECT_EQ(ProblemOf(R"({"parts":[1]})"), R"(member "parts" should be an array of objects)");
  EXPECT_EQ(ProblemOf(R"({"state":"Dreaming"})"), R"(member "state" should be a state of a run)");
}

}  // namespace
}  // namespace tenon::run
