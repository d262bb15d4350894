// SPDX-License-Identifier: Apache-2.0
#include "runner/verbs/request.h"

#include <gtest/gtest.h>

namespace tenon::runner {
namespace {

json::Object Good() {
  run::RunSpec spec;
  spec.key = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";
  spec.id = "proj_1";
  spec.script = "main.py";
  spec.tree = std::string(64, 'a');
  json::Object object;
  object["protocol"] = 1;
  object["home"] = "/home/ann/.tenon";
  object["run_id"] = "proj_1";
  object["spec"] = spec.ToJson();
  object["environment"] = json::Object{{"A", "b"}, {"ODD", json::EncodeBytes("\xff")}};
  object["secrets"] = json::Object{{"PASSWORD", "long enough"}};
  object["version"] = "0.1.0";
  object["member of a later version"] = 7;
  return object;
}

Error StartError(const json::Object& object) {
  auto parsed = ParseStart(json::Print(object));
  return parsed.ok() ? Internal("it parsed") : std::move(parsed).error();
}

TEST(ParseStart, TakesAWholeRequest) {
  auto request = ParseStart(json::Print(Good()));
  ASSERT_TRUE(request.ok()) << request.error().message;
  EXPECT_EQ(request->run.Folder().path(), "/home/ann/.tenon/runs/proj_1");
  EXPECT_EQ(request->environment.at("ODD"), "\xff");
  EXPECT_EQ(request->SecretValues(), std::vector<std::string>{"long enough"});
}

TEST(ParseStart, RefusesWhatCouldNotBeARun) {
  for (const char* member : {"home", "run_id", "spec", "protocol"}) {
    json::Object object = Good();
    object.erase(member);
    EXPECT_EQ(StartError(object).kind, ErrorKind::kInvalid) << member;
  }
  json::Object object = Good();
  object["run_id"] = "other";
  EXPECT_EQ(StartError(object).kind, ErrorKind::kInvalid);
  object = Good();
  object["environment"] = json::Object{{"A=B", "c"}};
  EXPECT_EQ(StartError(object).kind, ErrorKind::kInvalid);
  object = Good();
  object["environment"] = json::Object{{"A", 7}};
  EXPECT_EQ(StartError(object).kind, ErrorKind::kInvalid);
  object = Good();
  object["environment"] = json::Object{{"A", std::string("x\0y", 3)}};
  EXPECT_EQ(StartError(object).kind, ErrorKind::kInvalid);
}

TEST(ParseStart, NeverRepeatsASecretInItsError) {
  json::Object object = Good();
  object["secrets"] = json::Object{{"PIN", "12345"}};
  Error error = StartError(object);
  EXPECT_NE(error.message.find("PIN"), std::string::npos);
  EXPECT_EQ(error.message.find("12345"), std::string::npos);
}

TEST(ParseCancel, GraceIsOptionalAndNeverNegative) {
  json::Object object{{"protocol", 1}, {"home", "/h"}, {"run_id", "r"}};
  EXPECT_FALSE(ParseRequest<run::CancelRequest>(json::Print(object))->what.grace_us.has_value());
  object["grace_us"] = 0;
  EXPECT_EQ(ParseRequest<run::CancelRequest>(json::Print(object))->what.grace_us, 0);
  for (json::Value wrong : {json::Value(-1), json::Value("1"), json::Value(nullptr)}) {
    object["grace_us"] = wrong;
    EXPECT_FALSE(ParseRequest<run::CancelRequest>(json::Print(object)).ok());
  }
}

TEST(ParseRunName, NeedsARunThatIsAName) {
  json::Object object{{"protocol", 1}, {"home", "/h"}, {"run_id", "r"}};
  EXPECT_TRUE(ParseRunName(json::Print(object)).ok());
  for (const char* wrong : {"", ".", "..", "a/b"}) {
    object["run_id"] = wrong;
    EXPECT_FALSE(ParseRunName(json::Print(object)).ok()) << wrong;
  }
}

}  // namespace
}  // namespace tenon::runner
