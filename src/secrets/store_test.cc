// SPDX-License-Identifier: Apache-2.0
#include "secrets/store.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/temp_folder.h"
#include "base/text.h"

namespace tenon::secrets {
namespace {

constexpr const char* kCanary = "c4n4ry p\xC3\xA4ss'\"$";

class Secrets : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("DBUS_SESSION_BUS_ADDRESS");
    path_ = ::getenv("PATH");
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  // A secret-tool on PATH that does what `body` says.
  void FakeTool(const std::string& body) {
    const std::string bin = folder_ / "bin";
    ASSERT_TRUE(MakeDirs(bin).ok());
    ASSERT_TRUE(
        WriteFileAtomically(bin + "/secret-tool", "#!/bin/sh\n" + body, 0755, Durability::kProcess)
            .ok());
    ::setenv("PATH", (bin + ":" + path_).c_str(), 1);
    ::setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere", 1);
  }
  std::string Working() const {
    return "echo \"$@\" >> " + (folder_ / "calls") + "\ncase $1 in store) cat > " +
           (folder_ / "kept") + ";; lookup) [ -e " + (folder_ / "kept") + " ] || exit 1; cat " +
           (folder_ / "kept") + ";; esac\n";
  }

  TempFolder folder_;
  std::string home_ = folder_ / "home";
  std::string path_;
};

TEST_F(Secrets, ComeBackAndAreInNoFile) {
  Store store(home_);
  EXPECT_EQ(*store.Get("a"), std::nullopt);
  EXPECT_FALSE(Exists(home_));  // looking makes nothing
  ASSERT_TRUE(store.Set("a", kCanary, "password of ann").ok());
  ASSERT_TRUE(store.Set("b", "", "empty").ok());
  EXPECT_EQ(**Store(home_).Get("a"), kCanary);
  EXPECT_EQ(**store.Get("b"), "");
  ASSERT_TRUE(store.Set("a", "another", "password of ann").ok());
  EXPECT_EQ(**store.Get("a"), "another");
  for (const char* name : {"secrets.json", "secrets.key"}) {
    const std::string bytes = *ReadFile(home_ + "/" + name);
    EXPECT_EQ(bytes.find("another"), std::string::npos);
    struct stat info;
    ASSERT_EQ(::stat((home_ + "/" + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
  }
  const auto entries = store.List();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].about, "password of ann");
  EXPECT_GT((*entries)[0].set_us, 0);
  ASSERT_TRUE(store.Remove("a").ok());
  EXPECT_EQ(store.Remove("a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(*store.Get("a"), std::nullopt);
  EXPECT_NE(store.Where().find("secrets.key"), std::string::npos);
}

TEST_F(Secrets, TheSameValueTwiceLooksDifferent) {
  Store store(home_);
  ASSERT_TRUE(store.Set("a", "same", "").ok());
  ASSERT_TRUE(store.Set("b", "same", "").ok());
  const auto file = json::Parse(*ReadFile(home_ + "/secrets.json"));
  const json::Object& values = *json::GetObject(file->get_object(), "values");
  EXPECT_NE(json::GetString(*json::GetObject(values, "a"), "sealed"),
            json::GetString(*json::GetObject(values, "b"), "sealed"));
}

TEST_F(Secrets, AnotherKeyIsSaidSoAndNothingIsOverwritten) {
  Store store(home_);
  ASSERT_TRUE(store.Set("a", kCanary, "").ok());
  ASSERT_TRUE(WriteFileAtomically(home_ + "/secrets.key", std::string(64, '0') + "\n", 0600,
                                  Durability::kProcess)
                  .ok());
  EXPECT_EQ(store.Get("a").error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(store.Set("b", "x", "").error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(*store.Get("none"), std::nullopt);  // Get() tells this without the key
}

TEST_F(Secrets, SwappedEntriesDoNotOpen) {
  Store store(home_);
  ASSERT_TRUE(store.Set("password/1", "one", "").ok());
  ASSERT_TRUE(store.Set("password/2", "two", "").ok());
  std::string bytes = *ReadFile(home_ + "/secrets.json");
  const size_t a = bytes.find("password/1"), b = bytes.find("password/2");
  std::swap(bytes[a + 9], bytes[b + 9]);
  ASSERT_TRUE(WriteFileAtomically(home_ + "/secrets.json", bytes, 0600, Durability::kProcess).ok());
  const auto got = store.Get("password/1");
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kCorrupt);
}

TEST_F(Secrets, AFileDamagedAnywhereIsAnErrorOrUnharmed) {
  Store store(home_);
  ASSERT_TRUE(store.Set("a", kCanary, "").ok());
  const std::string whole = *ReadFile(home_ + "/secrets.json");
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const std::string& bytes :
         {whole.substr(0, at), whole.substr(0, at) + "\x01" + whole.substr(at + 1)}) {
      ASSERT_TRUE(
          WriteFileAtomically(home_ + "/secrets.json", bytes, 0600, Durability::kProcess).ok());
      const auto got = store.Get("a");
      EXPECT_TRUE(!got.ok() || !*got || **got == kCanary) << at;
      EXPECT_TRUE(got.ok() || got.error().message.find("c4n4ry") == std::string::npos);
    }
  }
}

TEST_F(Secrets, AKeyThatOthersCanReadIsRefused) {
  Store store(home_);
  ASSERT_TRUE(store.Set("a", kCanary, "").ok());
  ASSERT_EQ(::chmod((home_ + "/secrets.key").c_str(), 0640), 0);
  const auto got = store.Get("a");
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kDenied);
  EXPECT_NE(got.error().hint.find("chmod 600"), std::string::npos);
}

TEST_F(Secrets, AMissingKeyLosesTheOldButANewStoreCanBegin) {
  Store store(home_);
  ASSERT_TRUE(store.Set("a", kCanary, "").ok());
  ASSERT_TRUE(RemoveFile(home_ + "/secrets.key").ok());
  EXPECT_FALSE(store.Get("a").ok());
  EXPECT_FALSE(store.Set("b", "x", "").ok());  // would lose `a` for good
  ASSERT_TRUE(store.Remove("a").ok());
  ASSERT_TRUE(store.Set("b", "x", "").ok());
  EXPECT_EQ(**store.Get("b"), "x");
}

TEST_F(Secrets, WritersAtTheSameTimeLoseNothing) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      for (int n = 0; n < 5; ++n) {
        const std::string name = std::to_string(i) + "/" + std::to_string(n);
        EXPECT_TRUE(Store(home_).Set(name, "value " + name, "").ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Store store(home_);
  EXPECT_EQ(store.List()->size(), 40u);
  EXPECT_EQ(**store.Get("7/4"), "value 7/4");
  EXPECT_EQ(**store.Get("0/0"), "value 0/0");
}

TEST_F(Secrets, TheKeyGoesToAKeyringOverStandardInput) {
  FakeTool(Working());
  Store store(home_);
  ASSERT_TRUE(store.Set("a", kCanary, "").ok());
  EXPECT_FALSE(Exists(home_ + "/secrets.key"));
  EXPECT_EQ(**store.Get("a"), kCanary);
  EXPECT_NE(store.Where().find("keyring"), std::string::npos);
  const std::string key(Trim(*ReadFile(folder_ / "kept")));
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(ReadFile(folder_ / "calls")->find(key), std::string::npos);
  EXPECT_EQ(ReadFile(home_ + "/secrets.json")->find(key), std::string::npos);
}

TEST_F(Secrets, ALockedKeyringIsADenial) {
  FakeTool(Working());
  ASSERT_TRUE(Store(home_).Set("a", kCanary, "").ok());
  FakeTool("echo 'secret-tool: Cannot prompt, the collection is locked' >&2; exit 1\n");
  EXPECT_EQ(Store(home_).Get("a").error().kind, ErrorKind::kDenied);
  EXPECT_EQ(Store(home_).Set("b", "x", "").error().kind, ErrorKind::kDenied);
  FakeTool("exec sleep 60\n");
  const auto hung = Store(home_, 200).Get("a");
  EXPECT_EQ(hung.error().kind, ErrorKind::kDenied);
  EXPECT_NE(hung.error().hint, "");
  ::unsetenv("DBUS_SESSION_BUS_ADDRESS");
  EXPECT_EQ(Store(home_).Get("a").error().kind, ErrorKind::kDenied);
}

TEST_F(Secrets, AKeyringThatForgetsOrFailsIsNotUsed) {
  FakeTool("cat >/dev/null; exit 0\n");  // takes it and gives nothing back
  Store store(home_);
  ASSERT_TRUE(store.Set("a", kCanary, "").ok());
  EXPECT_TRUE(Exists(home_ + "/secrets.key"));
  EXPECT_EQ(**store.Get("a"), kCanary);
  FakeTool("exit 1\n");
  EXPECT_EQ(**store.Get("a"), kCanary);  // the file of secrets says where its key is
}

}  // namespace
}  // namespace tenon::secrets
