// SPDX-License-Identifier: Apache-2.0
#include "transport/host.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "base/file.h"
#include "transport/fake_host.h"
#include "transport/host_contract.h"
#include "transport/local_host.h"

namespace tenon::transport {
namespace {

class LocalUnderTest : public HostUnderTest {
 public:
  explicit LocalUnderTest(bool inotify) {
    char name[] = "/tmp/tenon-host-XXXXXX";
    TENON_CHECK(::mkdtemp(name) != nullptr);
    folder_ = name;
    if (!inotify) host_.DisableInotify();
  }
  ~LocalUnderTest() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }
  Host& host() override { return host_; }
  std::string folder() override { return folder_; }
  std::vector<std::string> cat() override { return {"/bin/cat"}; }
  std::vector<std::string> exit3() override { return {"/bin/sh", "-c", "printf bad >&2; exit 3"}; }
  void Append(const std::string& path, const std::string& bytes) override {
    auto fd = OpenFile(path, O_WRONLY | O_APPEND | O_CREAT);
    TENON_CHECK(fd.ok() && WriteAll(fd->get(), bytes).ok());
  }
  void Lock(const std::string& path) override {
    auto lock = FileLock::Take(path, false);
    TENON_CHECK(lock.ok());
    lock_.emplace(std::move(*lock));
  }
  void Remove(const std::string& path) override { TENON_CHECK(tenon::RemoveFile(path).ok()); }
  void Replace(const std::string& path, const std::string& bytes) override {
    TENON_CHECK(WriteFileAtomically(path, bytes, 0644, Durability::kProcess).ok());
  }

 private:
  LocalHost host_;
  std::optional<FileLock> lock_;
  std::string folder_;
};

class FakeUnderTest : public HostUnderTest {
 public:
  FakeUnderTest() {
    host_.SetProgram("cat", [](const FakeHost::Call& call) {
      return CaptureResult{{}, call.input, "", false};
    });
    host_.SetProgram("exit3", [](const FakeHost::Call&) {
      return CaptureResult{{3, 0}, "", "bad", false};
    });
  }
  Host& host() override { return host_; }
  std::string folder() override { return "/fake"; }
  std::vector<std::string> cat() override { return {"cat"}; }
  std::vector<std::string> exit3() override { return {"exit3"}; }
  void Append(const std::string& path, const std::string& bytes) override {
    host_.AppendToFile(path, bytes);
  }
  void Lock(const std::string& path) override { host_.SetLocked(path, true); }
  void Remove(const std::string& path) override { host_.RemoveFile(path); }
  void Replace(const std::string& path, const std::string& bytes) override {
    TENON_CHECK(host_.PutFile(path, bytes, 0644).ok());
  }

 private:
  FakeHost host_;
};

INSTANTIATE_TEST_SUITE_P(
    All, HostContract,
    testing::Values(HostParam{"Local", [] { return std::make_unique<LocalUnderTest>(true); }},
                    HostParam{"LocalWithoutInotify",
                              [] { return std::make_unique<LocalUnderTest>(false); }},
                    HostParam{"Fake", [] { return std::make_unique<FakeUnderTest>(); }}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(LocalHost, PutFileGivesExactlyTheModeAskedFor) {
  LocalUnderTest local(true);
  std::string path = local.folder() + "/program";
  ASSERT_TRUE(local.host().PutFile(path, "#!/bin/sh\nprintf hello\n", 0755).ok());
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0111, 0111u);
  EXPECT_EQ(local.host().Run({path}, "", 10'000)->out, "hello");
}

TEST(LocalHost, AProgramStillHeldOpenForWritingIsTriedAgain) {
  LocalUnderTest local(true);
  std::string path = local.folder() + "/program";
  ASSERT_TRUE(local.host().PutFile(path, "", 0755).ok());
  {
    auto self = ReadFile("/bin/true");
    ASSERT_TRUE(self.ok());
    local.Append(path, *self);
  }
  auto held = OpenFile(path, O_WRONLY);
  ASSERT_TRUE(held.ok());
  std::thread releases([&] {
    ::usleep(100'000);
    held->Reset();
  });
  auto result = local.host().Run({path}, "", 10'000);
  releases.join();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->status.AsShell(), 0);
}

TEST(LocalHost, AProgramThatHangsIsKilledAtTheTimeout) {
  LocalUnderTest local(true);
  auto result = local.host().Run({"/bin/sleep", "600"}, "", 50);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->timed_out);
}

TEST(LocalHost, GoingLeavesNoChildAndNobodyWithOurDescriptors) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  {
    LocalUnderTest local(true);
    std::string path = local.folder() + "/file";
    ASSERT_TRUE(local.host().PutFile(path, "x", 0644).ok());
    EXPECT_EQ(local.host().WaitForGrowth({{path, 1}}, 1000).value(), false);
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  ::close(ends[1]);
  char byte;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "somebody still holds the other end";
  ::close(ends[0]);
}

TEST(FakeHost, ADroppedLinkIsUnavailableAndComesBack) {
  FakeHost host;
  ASSERT_TRUE(host.PutFile("/f", "x", 0644).ok());
  host.DropLink(1);
  EXPECT_EQ(host.ReadFrom("/f", 0, 1).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(host.ReadFrom("/f", 0, 1).value(), "x");
}

}  // namespace
}  // namespace tenon::transport
