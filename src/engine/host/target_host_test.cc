// SPDX-License-Identifier: Apache-2.0
#include "engine/host/target_host.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/temp_folder.h"

namespace tenon::engine {
namespace {

const std::string kDigits(43, 'A');

class TargetHostTest : public testing::Test {
 protected:
  TargetHostTest() {
    context_.clock = &clock_;
    TENON_CHECK(EnsureHome(context_.home).ok());
  }
  static HostRecord FromFile(const std::string& user = "ann", const std::string& root = "") {
    HostRecord file;
    file.id = std::string(32, 'a');
    file.target = "gpu1";
    file.project_root = "/proj";
    file.type = "remote";
    file.address = "203.0.113.7";
    file.user = user;
    file.asked_root = root;
    return file;
  }
  HostRecord Attached() {
    HostRecord host = FromFile();
    host.host_key = "ssh-ed25519 AAAA";
    host.root = "/home/ann/.tenon";
    host.acked_tree = "tree";
    TENON_CHECK(WriteHost(context_.home, host).ok());
    return host;
  }

  TempFolder temp_;
  FakeClock clock_;
  Context context_{run::Home(temp_ / "home")};
  IsTarget every_ = [](const std::string&, const std::string&) { return true; };
};

TEST_F(TargetHostTest, AFingerprintMayBeWrittenAsProgramsPrintIt) {
  EXPECT_EQ(*NormalFingerprint("SHA256:" + kDigits), "SHA256:" + kDigits);
  EXPECT_EQ(*NormalFingerprint(" " + kDigits + "= "), "SHA256:" + kDigits);
  for (const std::string& text : {std::string(), kDigits.substr(1), kDigits + "A",
                                  std::string("MD5:") + kDigits, std::string(43, '-')}) {
    EXPECT_FALSE(NormalFingerprint(text).ok()) << text;
  }
}

TEST_F(TargetHostTest, AnotherAccountIsAnotherPlace) {
  Attached();
  EXPECT_EQ(HostIdOfPlace(context_.home, FromFile()), FromFile().id);
  const std::string bobs = HostIdOfPlace(context_.home, FromFile("bob"));
  EXPECT_NE(bobs, FromFile().id);
  EXPECT_NE(HostIdOfPlace(context_.home, FromFile("ann", "/scratch")), FromFile().id);
  EXPECT_EQ(HostIdOfPlace(context_.home, FromFile("bob")), bobs);
}

TEST_F(TargetHostTest, ANewPlaceOfAKnownMachineInheritsTheKeyAndNothingOfTheOldPlace) {
  Attached();
  HostRecord file = FromFile("bob");
  ASSERT_TRUE(FindPlace(context_, &file).ok());
  const auto host = ReadHost(context_.home, file.id);
  ASSERT_TRUE(host.ok()) << host.error().message;
  EXPECT_EQ(host->host_key, "ssh-ed25519 AAAA");
  EXPECT_EQ(host->user, "bob");
  EXPECT_EQ(host->root, "");
  EXPECT_EQ(host->acked_tree, "");
  EXPECT_FALSE(host->has_password);
}

TEST_F(TargetHostTest, WhatTheFileSaysNowIsRemembered) {
  Attached();
  HostRecord file = FromFile();
  file.address = "203.0.113.8";
  const auto host = RememberedHost(context_, file, every_);
  ASSERT_TRUE(host.ok()) << host.error().message;
  EXPECT_EQ(host->root, "/home/ann/.tenon");
  EXPECT_EQ(host->address, "203.0.113.8");
  EXPECT_EQ(ReadHost(context_.home, file.id)->address, "203.0.113.8");
}

TEST_F(TargetHostTest, AMachineThatNobodyLookedAtIsNotWritten) {
  const auto host = RememberedHost(context_, FromFile(), every_);
  ASSERT_TRUE(host.ok()) << host.error().message;
  EXPECT_EQ(host->host_key, "");
  EXPECT_TRUE(IsDetached(context_.home, host->id));
}

TEST_F(TargetHostTest, TargetsThatAreGoneAreForgottenWhenThereAreMany) {
  HostRecord many = Attached();
  for (int i = 0; i < 40; ++i) many.users.emplace_back("/gone/" + std::to_string(i), "gpu1");
  ASSERT_TRUE(
      UpdateHost(context_.home, many.id, [&](HostRecord& host) { host.users = many.users; }).ok());
  HostRecord file = FromFile();
  file.address = "203.0.113.8";
  ASSERT_TRUE(RememberedHost(context_, file, [](const std::string& root, const std::string&) {
                return root == "/proj";
              }).ok());
  EXPECT_EQ(ReadHost(context_.home, file.id)->users.size(), 1u);
}

TEST_F(TargetHostTest, AttachedAnewATargetKeepsItsIdOnlyOnTheSameMachine) {
  const HostRecord before = Attached();
  EXPECT_EQ(*IdForAttach(context_, before, FromFile(), false), before.id);
  EXPECT_NE(*IdForAttach(context_, before, FromFile("bob"), false), before.id);
  HostRecord elsewhere = FromFile();
  elsewhere.port = 2222;
  EXPECT_NE(*IdForAttach(context_, before, elsewhere, false), before.id);
  EXPECT_EQ(IdForAttach(context_, std::nullopt, FromFile(), false)->size(), 32u);
}

}  // namespace
}  // namespace tenon::engine
