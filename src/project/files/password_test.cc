// SPDX-License-Identifier: Apache-2.0
#include "project/files/password.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::project {
namespace {

constexpr std::string_view kSecret = "hunter2";

TEST(Password, IsGoneFromEveryFormAndNothingElseIs) {
  const struct {
    std::string bytes, without;
  } kCases[] = {
      {"address: a\npassword: hunter2\ntype: remote\n", "address: a\ntype: remote\n"},
      {"address: a\r\npassword: hunter2  # note\r\ntype: remote\r\n",
       "address: a\r\ntype: remote\r\n"},
      {"password: hunter2", ""},
      {"a: b\npassword: hunter2", "a: b\n"},
      {"\xEF\xBB\xBFpassword: hunter2\na: b\n",
       "\xEF\xBB\xBF"
       "a: b\n"},
      {"\"password\" :\t'hunter2'  \na: b\n", "a: b\n"},
      {"Password: hunter2\na: b\n", "a: b\n"},
      {"password:\n  hunter2\n# keep\na: b\n", "# keep\na: b\n"},
      {"password: \"x\n  hunter2\"\na: b\n", "a: b\n"},
      {"password: |\n  hunter2\n  hunter2\n\na: b\n", "a: b\n"},
      {"password: [hunter2]\na: b\n", "a: b\n"},
      {"# password: hunter2\n  #\"password\": \"hunter2\"\na: b\n", "a: b\n"},
      {"password:\na: b\n", "a: b\n"},
      {"passwordless: yes\nmy_password_file: x\n", "passwordless: yes\nmy_password_file: x\n"},
      {R"({"address": "a", "password": "hunter2", "type": "remote"})",
       R"({"address": "a", "type": "remote"})"},
      {R"({"password": "hunter2", "type": "remote"})", R"({"type": "remote"})"},
      {R"({"type": "remote", "password": "hunter2"})", R"({"type": "remote"})"},
      {R"({"password": "hunter2"})", "{}"},
      {"{\n  \"a\": 1,\n  \"password\": \"hunter2\",\n  \"b\": 2\n}\n",
       "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
      {"{\"a\": 1,\n\"password\": \"hunter2\", \"b\": 2}", "{\"a\": 1,\n\"b\": 2}"},
      {"a: {password: hunter2, b: c}\n", "a: {b: c}\n"},
      {"a: b\nuser: x\n  password:hunter2\n", "a: b\nuser: x\n"},
  };
  for (const auto& c : kCases) {
    const std::string redacted = RedactPassword(c.bytes);
    EXPECT_EQ(redacted, c.without) << c.bytes;
    EXPECT_EQ(RedactPassword(redacted), redacted) << c.bytes;
    EXPECT_EQ(KeepPasswordLine(redacted, c.bytes), c.bytes);
  }
}

TEST(Password, IsGoneFromFilesThatDoNotParse) {
  const std::vector<std::string> kBroken = {
      "type: remote\npassword:hunter2\n",
      "password:hunter2\n",
      "type: \"remote\n\tpassword: hunter2\n",
      "a: b\npassword: hunter2: more\nc: d\n",
      "a: b\npassword: \"hunter2\nc: d\n",
      "{\"a\": 1 \"password\": \"hunter2\"}",
      "{\n\"a\": 1\n\"password\":\n   \"hunter2\"\n}",
      "password: x\npassword: hunter2\n",
      "a: @b\npassword: >\n  x\n\n  hunter2\nc: d\n",
      "a: caf\xE9\npassword: hunter2\n",
      std::string("\xFF\xFEp\0a\0s\0s\0w\0o\0r\0d\0:\0 \0h\0", 24),
      std::string((1 << 20) + 1, '#') + "\npassword: hunter2\n",
  };
  for (const std::string& bytes : kBroken) {
    const std::string redacted = RedactPassword(bytes);
    EXPECT_EQ(redacted.find(kSecret), std::string::npos) << bytes.substr(0, 80);
    EXPECT_EQ(redacted.find('\0'), std::string::npos);
    EXPECT_EQ(RedactPassword(redacted), redacted) << bytes.substr(0, 80);
  }
  EXPECT_EQ(RedactPassword("a: b\npassword: x: y\nc: d\n"), "a: b\nc: d\n");
}

TEST(Password, RestoreOfAnOlderFileKeepsThePresentPassword) {
  EXPECT_EQ(KeepPasswordLine("type: remote\naddress: old\n",
                             "type: remote\npassword: 'a#b'\naddress: new\n"),
            "type: remote\naddress: old\npassword: 'a#b'\n");
  EXPECT_EQ(KeepPasswordLine("a: old\r\nb: c", "a: new\r\npassword: x\r\n"),
            "a: old\r\nb: c\r\npassword: x\r\n");
  EXPECT_EQ(KeepPasswordLine(R"({"a": "old"})", "a: new\npassword: x\"y\n"),
            R"({"password": "x\"y", "a": "old"})");
  EXPECT_EQ(KeepPasswordLine("a: old\n", R"({"a": "new", "password": "x: y"})"),
            "a: old\npassword: \"x: y\"\n");
}

TEST(Password, RestoreNeverBringsBackAnOldPassword) {
  EXPECT_EQ(KeepPasswordLine("a: old\npassword: old\n", "a: new\npassword: new\n"),
            "a: old\npassword: new\n");
  EXPECT_EQ(KeepPasswordLine("a: old\npassword: old\n", "a: new\n"), "a: old\n");
}

TEST(Password, RestoreOverABrokenOrMissingFileGivesTheSnapshotsFile) {
  EXPECT_EQ(KeepPasswordLine("a: old\n", ""), "a: old\n");
  EXPECT_EQ(KeepPasswordLine("a: old\n", "a: [\npassword: x\n"), "a: old\n");
}

}  // namespace
}  // namespace tenon::project
