// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/man_page.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/parse/command_line.h"

namespace tenon::cli {
namespace {

TEST(ManTextTest, CharacterMeansSomethingToRoff) {
  EXPECT_EQ(ManText(".x"), "\\&.x");
  EXPECT_EQ(ManText("a\n'b"), "a\n\\&\\(aqb");
  EXPECT_EQ(ManText("--a \\n `c` …"), "\\-\\-a \\en \\(gac\\(ga \\[u2026]");
}

TEST(ManPageTest, CommandHasNoPage) {
  Session session;
  CommandLine line(session, Program::kTenon);
  const auto pages = MakeManPages(line.root(), AllCommands());
  ASSERT_EQ(pages.size(), AllCommands().size() + 1);
  EXPECT_EQ(pages[0].file, "tenon.1");
  for (size_t i = 1; i < pages.size(); ++i) {
    const Command& command = AllCommands()[i - 1];
    EXPECT_EQ(pages[i].file, "tenon-" + Join(command.words[0], "-") + ".1");
    EXPECT_NE(pages[0].text.find(ManText(Join(command.words[0], " "))), std::string::npos);
    for (const char* section : {".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS",
                                ".SH GLOBAL OPTIONS", ".SH EXAMPLES", ".SH SEE ALSO"}) {
      EXPECT_NE(pages[i].text.find(section), std::string::npos) << pages[i].file << section;
    }
    for (const std::string& text : Split(pages[i].text, '\n')) EXPECT_LE(text.size(), 80u) << text;
  }
}

}  // namespace
}  // namespace tenon::cli
