// SPDX-License-Identifier: Apache-2.0
#include "runner/container/init.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"
#include "base/file.h"
#include "base/temp_folder.h"
#include "executor/sized_text.h"

namespace tenon::runner {
namespace {

Result<std::string> Sized(const std::string& bytes) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  EXPECT_TRUE(WriteAll(write_end.get(), bytes).ok());
  write_end.Reset();
  return executor::ReadSized(read_end.get());
}

TEST(InitJob, ComesBackAsItWasAlsoWithOddBytes) {
  InitJob job;
  job.run_key = "k";
  job.door = "/.tenon/door";
  job.script =
      "tr\xff"
      "ain.py";
  job.arguments = {"--a", "", "b c", "\n"};
  job.environment = {{"A", "1"}, {"B", std::string("x\xfe\n")}};
  job.secrets = {"hunter2-hunter2"};
  job.user = {12345, 6789, {1, 2, 3}};
  job.keep_on_fail = true;
  job.own_work = true;
  auto back = InitJob::FromText(job.ToText());
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->script, job.script);
  EXPECT_EQ(back->arguments, job.arguments);
  EXPECT_EQ(back->environment, job.environment);
  EXPECT_EQ(back->secrets, job.secrets);
  EXPECT_EQ(back->user.uid, 12345u);
  EXPECT_EQ(back->user.gid, 6789u);
  EXPECT_EQ(back->user.groups, job.user.groups);
  EXPECT_TRUE(back->keep_on_fail);
  EXPECT_TRUE(back->own_work);
}

TEST(InitJob, NonsenseIsAnErrorNotADeath) {
  for (const char* text : {"", "[]", "7", R"({"arguments":7})", R"({"environment":[]})",
                           R"({"environment":{"A":7}})", "{}", R"({"user":{"uid":5}})"}) {
    EXPECT_FALSE(InitJob::FromText(text).ok()) << text;
  }
}

TEST(ReadSized, TakesAsMuchAsWasAnnouncedAndNoMore) {
  EXPECT_EQ(Sized("5\nhello").value(), "hello");
  EXPECT_EQ(Sized("5\nhello and more").value(), "hello");
  EXPECT_EQ(Sized("0\n").value(), "");
}

TEST(ReadSized, AStreamThatEndsEarlyOrHasNoLengthIsAnError) {
  for (const char* bytes : {"", "5", "5\nhell", "\nx", "x\nx", "-1\nx", "99999999999999\nx"}) {
    EXPECT_FALSE(Sized(bytes).ok()) << bytes;
  }
}

TEST(SettleUser, AUserWithoutANameGetsOneAndOthersStay) {
  TempFolder root;
  ASSERT_TRUE(MakeDirs(root / "etc").ok());
  // No newline at the end, as some images have it.
  ASSERT_TRUE(WriteFileAtomically(root / "etc/passwd", "root:x:0:0:root:/root:/bin/sh", 0644,
                                  Durability::kProcess)
                  .ok());
  SettleUser(root.path(), {1234, 1234, {}}, "ann", "/home/tenon");
  EXPECT_EQ(ReadFile(root / "etc/passwd").value(),
            "root:x:0:0:root:/root:/bin/sh\nann:x:1234:1234:ann:/home/tenon:/bin/sh\n");
  EXPECT_EQ(ReadFile(root / "etc/group").value(), "ann:x:1234:\n");
  SettleUser(root.path(), {1234, 1234, {}}, "ann", "/home/tenon");  // again: adds nothing
  EXPECT_EQ(ReadFile(root / "etc/group").value(), "ann:x:1234:\n");
  EXPECT_TRUE(IsDirectory(root / "tmp"));
}

TEST(SettleUser, AnEmptyRootIsEnough) {
  TempFolder root;
  SettleUser(root.path(), {7, 8, {}}, "bob", "/h");
  EXPECT_EQ(ReadFile(root / "etc/passwd").value(), "bob:x:7:8:bob:/h:/bin/sh\n");
  EXPECT_EQ(ReadFile(root / "etc/group").value(), "bob:x:8:\n");
}

}  // namespace
}  // namespace tenon::runner
