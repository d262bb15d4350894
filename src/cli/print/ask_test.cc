// SPDX-License-Identifier: Apache-2.0
#include "cli/print/ask.h"

#include <gtest/gtest.h>

#include <vector>

namespace tenon::cli {
namespace {

// Returns the words as `ps` shows them after HideSecretArguments().
std::vector<std::string> Hidden(std::vector<std::string> words, bool* any = nullptr) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const bool hidden = HideSecretArguments(static_cast<int>(argv.size()), argv.data());
  if (any != nullptr) *any = hidden;
  return words;
}

TEST(HideSecretArguments, EveryWayToSayAPasswordToAttach) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(Hidden({"tenon", "computetarget", "attach", "-n", "x", "--password", "pw", "-u", "me"}),
            (Words{"tenon", "computetarget", "attach", "-n", "x", "--password", "**", "-u", "me"}));
  EXPECT_EQ(Hidden({"az", "ml", "computetarget", "attach", "--password=pw"}),
            (Words{"az", "ml", "computetarget", "attach", "--password***"}));
  EXPECT_EQ(Hidden({"tenon", "az", "ml", "computecontext", "attach", "-wpw"}),
            (Words{"tenon", "az", "ml", "computecontext", "attach", "-w**"}));
  EXPECT_EQ(
      Hidden({"tenon", "computetarget", "attach", "-w", "pw", "--private-key-passphrase", "x"}),
      (Words{"tenon", "computetarget", "attach", "-w", "**", "--private-key-passphrase", "*"}));
  EXPECT_EQ(Hidden({"tenon", "computetarget", "attach", "-kw", "pw", "-ykwpw", "-yk", "-uw"}),
            (Words{"tenon", "computetarget", "attach", "-kw", "**", "-ykw**", "-yk", "-uw"}));
}

TEST(HideSecretArguments, OtherCommandsKeepTheirWords) {
  bool any = true;
  const std::vector<std::string> words{"tenon", "submit", "train.py", "--password", "pw"};
  EXPECT_EQ(Hidden(words, &any), words);
  EXPECT_FALSE(any);
  const std::vector<std::string> stdin_words{"tenon", "computetarget", "attach", "--password-stdin",
                                             "x"};
  EXPECT_EQ(Hidden(stdin_words, &any), stdin_words);
  EXPECT_FALSE(any);
  EXPECT_EQ(Hidden({"tenon", "computetarget", "attach", "--password"}, &any).back(), "--password");
}

}  // namespace
}  // namespace tenon::cli
