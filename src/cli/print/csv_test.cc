// SPDX-License-Identifier: Apache-2.0
#include "cli/print/csv.h"

#include <gtest/gtest.h>

namespace tenon::cli {
namespace {

TEST(Csv, PlainFieldGetsQuotes) {
  EXPECT_EQ(CsvField("loss"), "loss");
  EXPECT_EQ(CsvField(""), "");
  EXPECT_EQ(CsvField("two words"), "two words");
}

TEST(Csv, CommaSplitsAField) {
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("[1, 2]"), "\"[1, 2]\"");
}

TEST(Csv, QuoteEndsAField) { EXPECT_EQ(CsvField("a\"b"), "\"a\"\"b\""); }

TEST(Csv, LineBreakEndsARow) {
  EXPECT_EQ(CsvField("a\nb"), "\"a\nb\"");
  EXPECT_EQ(CsvField("a\rb"), "\"a\rb\"");
}

}  // namespace
}  // namespace tenon::cli
