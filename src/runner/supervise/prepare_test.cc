// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/prepare.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <thread>

#include "base/file.h"
#include "runner/supervise/embedded_shim.h"

namespace tenon::runner {
namespace {

class PrepareTest : public testing::Test {
 protected:
  PrepareTest() {
    char name[] = "/tmp/tenon-prepare-XXXXXX";
    TENON_CHECK(::mkdtemp(name) != nullptr);
    folder_ = name;
  }
  ~PrepareTest() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }
  void Program(const std::string& name) {
    TENON_CHECK(MakeDirs(DirName(folder_ + "/" + name)).ok());
    TENON_CHECK(
        WriteFileAtomically(folder_ + "/" + name, "#!/bin/sh\n", 0755, Durability::kProcess).ok());
  }
  Result<std::string> Find(const std::string& wanted) {
    return FindPython(wanted, {{"PATH", folder_ + "/bin"}, {"HOME", folder_}}, folder_, &notices_);
  }

  std::string folder_;
  std::vector<run::Notice> notices_;
};

TEST_F(PrepareTest, PythonBecomesPython3OnlyWhenItIsNotThere) {
  Program("bin/python3");
  EXPECT_EQ(Find("python").value(), "python3");
  EXPECT_EQ(notices_.size(), 1u);
  EXPECT_EQ(Find("").value(), "python3");
  Program("bin/python");
  notices_.clear();
  EXPECT_EQ(Find("python").value(), "python");
  EXPECT_TRUE(notices_.empty());
}

TEST_F(PrepareTest, AnotherNameIsNeverReplaced) {
  Program("bin/python3");
  auto found = Find("python3.5");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(found.error().message.find("python3.5"), std::string::npos);
  EXPECT_FALSE(found.error().hint.empty());
  EXPECT_TRUE(notices_.empty());
}

TEST_F(PrepareTest, APathIsTakenFromTheWorkingDirectoryOrHome) {
  Program("venv/bin/python");
  EXPECT_EQ(Find("venv/bin/python").value(), "venv/bin/python");
  EXPECT_EQ(Find("~/venv/bin/python").value(), folder_ + "/venv/bin/python");
  EXPECT_FALSE(Find("./none").ok());
  EXPECT_FALSE(Find(folder_ + "/venv").ok());  // a folder is no program
}

TEST_F(PrepareTest, TildeNeedsAHome) {
  EXPECT_EQ(ExpandHome("~", {{"HOME", "/h"}}).value(), "/h");
  EXPECT_EQ(ExpandHome("~/a", {{"HOME", "/h"}}).value(), "/h/a");
  EXPECT_EQ(ExpandHome("/x/~", {}).value(), "/x/~");
  EXPECT_EQ(ExpandHome("~ann/x", {}).value(), "~ann/x");
  EXPECT_FALSE(ExpandHome("~/a", {}).ok());
}

TEST_F(PrepareTest, TheShimIsWholeAndSharedHoweverManyMakeIt) {
  std::vector<std::thread> threads;
  std::vector<std::string> made(8);
  for (std::string& path : made) {
    threads.emplace_back([&] { path = EnsureShim(folder_).value(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& path : made) EXPECT_EQ(path, made[0]);
  for (const EmbeddedFile& file : EmbeddedShim()) {
    EXPECT_EQ(ReadFile(JoinPath(made[0], file.path)).value(), file.bytes);
  }
  EXPECT_EQ(ListDir(folder_ + "/shim")->size(), 1u);
}

TEST_F(PrepareTest, AShimThatWasBegunByAKilledRunnerIsFinished) {
  std::string path = EnsureShim(folder_).value();
  std::string lost = JoinPath(path, EmbeddedShim()[0].path);
  ASSERT_TRUE(RemoveFile(lost).ok());
  ASSERT_TRUE(EnsureShim(folder_).ok());
  EXPECT_TRUE(Exists(lost));
}

TEST_F(PrepareTest, AShimThatAPowerCutHasEmptiedIsMadeAgain) {
  std::string path = EnsureShim(folder_).value();
  const auto& files = EmbeddedShim();
  for (size_t i = 0; i < files.size(); ++i) {
    // What a power cut may leave: empty files, files of zeros, files that are too long.
    std::string bytes(i % 3 == 0 ? 0 : files[i].bytes.size() + i % 2, '\0');
    ASSERT_TRUE(
        WriteFileAtomically(JoinPath(path, files[i].path), bytes, 0644, Durability::kProcess).ok());
  }
  EXPECT_EQ(EnsureShim(folder_).value(), path);
  for (const EmbeddedFile& file : files) {
    EXPECT_EQ(ReadFile(JoinPath(path, file.path)).value(), file.bytes) << file.path;
  }
}

TEST_F(PrepareTest, WhatPythonCompiledBeforeARestartIsNotBelieved) {
  std::string path = EnsureShim(folder_).value();
  std::string cache = DirName(JoinPath(path, EmbeddedShim()[0].path)) + "/__pycache__";
  ASSERT_TRUE(MakeDirs(cache).ok());
  ASSERT_TRUE(EnsureShim(folder_).ok());
  EXPECT_TRUE(IsDirectory(cache));
  ::setenv("TENON_TEST_BOOT_ID", "another-boot", 1);
  ASSERT_TRUE(EnsureShim(folder_).ok());
  ::unsetenv("TENON_TEST_BOOT_ID");
  EXPECT_FALSE(Exists(cache));
}

TEST_F(PrepareTest, AMissingTreeIsAnErrorThatSaysWhatWasDone) {
  StartRequest request;
  request.run = {folder_, "r"};
  request.spec.tree = std::string(64, 'a');
  ASSERT_TRUE(MakeDirs(request.run.Folder().path()).ok());
  Handover handover;
  const Status prepared = UnpackProject(request, handover);
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().message.find("unpacking the project's files: "), 0u);
}

}  // namespace
}  // namespace tenon::runner
