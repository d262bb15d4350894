// SPDX-License-Identifier: Apache-2.0
#include "runner/container/container_executor.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "journal/writer.h"

namespace tenon::runner {
namespace {

// For a run, a kept container has ended when the init says so. The segment may be read before the
// init has begun.
TEST(SegmentInit, WhatComesAfterALookBeforeItsBeginningIsSeen) {
  const TempFolder temp;
  const std::string path = temp / "script.tj";
  const SegmentInit init(path);
  EXPECT_FALSE(init.Read().ended.has_value());
  ASSERT_TRUE(WriteFileAtomically(path, "", 0600, Durability::kProcess).ok());
  EXPECT_TRUE(init.IsGone());
  EXPECT_FALSE(init.Read().ended.has_value());
  {
    auto writer = journal::Writer::Open({path, NewUuid(), "script", nullptr, false});
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    EXPECT_FALSE(init.IsGone());
    ASSERT_TRUE(writer->Append(run::ScriptStarted{}).ok());
    EXPECT_FALSE(init.Read().ended.has_value());
    run::ScriptEnded ended;
    ended.exit_code = 4;
    ASSERT_TRUE(writer->Append(ended).ok());
  }
  EXPECT_TRUE(init.IsGone());
  for (int i = 0; i < 2; ++i) {
    const auto word = init.Read();
    ASSERT_TRUE(word.ended.has_value());
    EXPECT_EQ(word.ended->exit_code, 4);
  }
}

}  // namespace
}  // namespace tenon::runner
