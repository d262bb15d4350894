// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace tenon {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0)
    return Invalid("halve " + std::to_string(n) + ": odd").WithHint("give an even one");
  return n / 2;
}

Result<int> Quarter(int n) {
  TENON_TRY(int half, Half(n));
  TENON_TRY(int quarter, Half(half));
  return quarter;
}

Status CheckEven(int n) {
  TENON_TRY_VOID(Half(n));
  return {};
}

TEST(ResultTest, TryHandsTheErrorOnWithKindAndHint) {
  EXPECT_EQ(*Quarter(8), 2);
  auto failed = Quarter(6);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(failed.error().message, "halve 3: odd");
  EXPECT_EQ(failed.error().hint, "give an even one");
  EXPECT_TRUE(CheckEven(2).ok());
  EXPECT_FALSE(CheckEven(3).ok());
}

TEST(ResultTest, WrapKeepsKindAndHint) {
  Error error = NotFound("open x: gone").WithHint("look").Wrap("read the journal");
  EXPECT_EQ(error.message, "read the journal: open x: gone");
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_EQ(error.hint, "look");
}

TEST(ResultTest, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(ResultTest, ErrnoBecomesTheKindACallerCanActOn) {
  EXPECT_EQ(FromErrno("open x", ENOENT).kind, ErrorKind::kNotFound);
  EXPECT_EQ(FromErrno("open x", EROFS).kind, ErrorKind::kDenied);
  EXPECT_EQ(FromErrno("open x", ENOSPC).kind, ErrorKind::kUnavailable);
  EXPECT_FALSE(FromErrno("open x", ENOSPC).hint.empty());
  EXPECT_EQ(FromErrno("open x", ENOENT).message, "open x: No such file or directory");
}

TEST(ResultDeathTest, AskingAFailureForItsValueAborts) {
  Result<int> failed = Half(1);
  EXPECT_DEATH((void)failed.value(), "internal error");
}

}  // namespace
}  // namespace tenon
