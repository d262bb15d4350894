// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "transport/ssh.h"
#include "transport/ssh_words.h"

namespace tenon::transport {
namespace {

TEST(SshExplain, EveryFailureHasItsKindAndAHint) {
  SshTarget target;
  target.name = "gpu1";
  target.address = "203.0.113.7";
  target.alias = "tenon-1";
  target.user = "ann";
  const struct {
    const char* said;
    ErrorKind kind;
    const char* words;
  } kCases[] = {
      {"ssh: connect to host 203.0.113.7 port 22: Connection refused\r\n", ErrorKind::kUnavailable,
       "no SSH server answers"},
      {"ssh: connect to host 203.0.113.7 port 22: Connection timed out\r\n",
       ErrorKind::kUnavailable, "no answer"},
      {"ssh: connect to host 203.0.113.7 port 22: No route to host\r\n", ErrorKind::kUnavailable,
       "no way"},
      {"ssh: Could not resolve hostname x: Name or service not known\r\n", ErrorKind::kUnavailable,
       "no machine of that name"},
      {"ann@203.0.113.7: Permission denied (publickey,password).\r\n", ErrorKind::kDenied,
       "publickey,password"},
      {"Received disconnect from 203.0.113.7 port 22:2: Too many authentication failures\r\n",
       ErrorKind::kDenied, "too many keys"},
      {"@@@\r\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key for tenon-1 "
       "has changed and you have requested strict checking.\r\nHost key verification failed.\r\n",
       ErrorKind::kDenied, "another host key"},
      {"No RSA host key is known for tenon-1 and you have requested strict checking.\r\nHost key "
       "verification failed.\r\n",
       ErrorKind::kDenied, "another host key"},
      {"Host key verification failed.\r\nConnection closed by UNKNOWN port 65535\r\n",
       ErrorKind::kDenied, "on the way"},
      {"/home/ann/.ssh/config: line 3: Bad configuration option: foo\r\n/home/ann/.ssh/config: "
       "terminating, 1 bad configuration options\r\n",
       ErrorKind::kInvalid, "line 3"},
      {"/etc/ssh/ssh_config line 53: Unsupported option \"gssapiauthentication\"\r\nssh: connect "
       "to "
       "host 203.0.113.7 port 22: Connection refused\r\n",
       ErrorKind::kUnavailable, "no SSH server answers"},
      {"/etc/ssh/ssh_config line 53: Unsupported option \"gssapiauthentication\"\r\n",
       ErrorKind::kUnavailable, "without a word"},
      {"kex_exchange_identification: Connection closed by remote host\r\n", ErrorKind::kUnavailable,
       "closed by the server"},
      {"Unable to negotiate with 1.2.3.4 port 22: no matching host key type found.\r\n",
       ErrorKind::kInvalid, "no matching"},
      {"", ErrorKind::kUnavailable, "without a word"},
      {"something \x1b[31m new\n", ErrorKind::kUnavailable, "\\x1b"},
  };
  for (const auto& c : kCases) {
    const Error error = ExplainSsh(target, {}, c.said);
    EXPECT_EQ(error.kind, c.kind) << c.said;
    EXPECT_NE(error.message.find(c.words), std::string::npos) << error.message;
  }
}

TEST(SshExplain, WhatTheServerAskedOrSaidIsTold) {
  SshTarget target;
  target.name = "far";
  target.address = "h";
  target.alias = "tenon-1";
  SshOutcome outcome;
  outcome.had_password = outcome.password_asked = outcome.password_refused = true;
  EXPECT_NE(ExplainSsh(target, outcome, "").message.find("the password is wrong"),
            std::string::npos);
  const std::string expired = "Warning: Permanently added\nYour account has expired; ask.\n\n";
  EXPECT_NE(ExplainSsh(target, outcome, expired).message.find("the server said: Your account has"),
            std::string::npos);
  outcome.server_words = "=====\nClosed until Monday.\n=====\n";
  EXPECT_NE(ExplainSsh(target, outcome, "").message.find("Closed until Monday."),
            std::string::npos);
  outcome.unanswered = "New password: ";
  EXPECT_NE(ExplainSsh(target, outcome, "").message.find("\"New password:\""), std::string::npos);

  SshOutcome unasked;
  unasked.had_password = true;
  const std::string denied = "me@h: Permission denied (publickey,password).";
  EXPECT_NE(ExplainSsh(target, unasked, denied).hint.find("did not ask"), std::string::npos);
  unasked.cannot_ask = "ssh can't start /a/tenon";
  EXPECT_NE(ExplainSsh(target, unasked, denied).message.find("/a/tenon"), std::string::npos);
  EXPECT_EQ(ExplainSsh(target, unasked, denied).hint.find("ssh/config"), std::string::npos);
  unasked.cannot_ask = "";
  target.identity_file = "/k.ppk";
  const std::string load = "Load key \"/k.ppk\": error in libcrypto\n" + denied;
  EXPECT_NE(ExplainSsh(target, unasked, load).hint.find("puttygen"), std::string::npos);
}

}  // namespace
}  // namespace tenon::transport
