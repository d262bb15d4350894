// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/watch.h"

#include <gtest/gtest.h>

#include "base/temp_folder.h"

namespace tenon::cli {
namespace {

const Environment kEnvironment = {{"TOKEN", "from-environment"}, {"OTHER", "from-other"}};

TEST(ReadSecrets, NameAloneIsNotLookedUp) {
  const auto secrets = ReadSecrets({"TOKEN"}, kEnvironment);
  ASSERT_TRUE(secrets.ok()) << secrets.error().message;
  ASSERT_EQ(secrets->size(), 1u);
  EXPECT_EQ(secrets->front().name, "TOKEN");
  EXPECT_EQ(secrets->front().value, "from-environment");
}

TEST(ReadSecrets, VariableOfAnotherName) {
  const auto secrets = ReadSecrets({"TOKEN=$OTHER"}, kEnvironment);
  ASSERT_TRUE(secrets.ok()) << secrets.error().message;
  EXPECT_EQ(secrets->front().name, "TOKEN");
  EXPECT_EQ(secrets->front().value, "from-other");
}

TEST(ReadSecrets, LineBreakAtTheEndOfAFile) {
  TempFolder folder;
  ASSERT_TRUE(
      WriteFileAtomically(folder / "token", "in\nthe file\r\n\n", 0600, Durability::kProcess).ok());
  const auto secrets = ReadSecrets({"TOKEN=@" + (folder / "token")}, kEnvironment);
  ASSERT_TRUE(secrets.ok()) << secrets.error().message;
  EXPECT_EQ(secrets->front().value, "in\nthe file");
}

TEST(ReadSecrets, ValueOnTheCommandLine) {
  const auto secrets = ReadSecrets({"TOKEN=hunter2hunter2"}, kEnvironment);
  ASSERT_FALSE(secrets.ok());
  EXPECT_EQ(secrets.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ((secrets.error().message + secrets.error().hint).find("hunter2"), std::string::npos)
      << "the message repeats the secret";
}

TEST(ReadSecrets, NothingToRead) {
  EXPECT_EQ(ReadSecrets({"MISSING"}, kEnvironment).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(ReadSecrets({"TOKEN=$MISSING"}, kEnvironment).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(ReadSecrets({"TOKEN=@/nonexistent/file"}, kEnvironment).error().kind,
            ErrorKind::kNotFound);
  EXPECT_EQ(ReadSecrets({"=@/etc/hostname"}, kEnvironment).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(ReadSecrets({""}, kEnvironment).error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(ReadSecrets({}, kEnvironment)->empty());
}

TEST(ParseTime, UnitsMixedUp) {
  EXPECT_EQ(**ParseTime("--grace", "90"), 90'000'000);
  EXPECT_EQ(**ParseTime("--grace", "90s"), 90'000'000);
  EXPECT_EQ(**ParseTime("--grace", "1h30m"), int64_t{5400} * 1'000'000);
  EXPECT_EQ(**ParseTime("--grace", "0"), 0);
}

TEST(ParseTime, NotGivenIsNotZero) {
  const auto time = ParseTime("--grace", "");
  ASSERT_TRUE(time.ok());
  EXPECT_FALSE(time->has_value());
}

TEST(ParseTime, NonsenseIsTakenForATime) {
  for (const char* text : {"soon", "-5", "5x", "99999999999999999999d", " "}) {
    const auto time = ParseTime("--grace", text);
    ASSERT_FALSE(time.ok()) << text;
    EXPECT_EQ(time.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(time.error().message.find("--grace"), std::string::npos);
  }
}

}  // namespace
}  // namespace tenon::cli
