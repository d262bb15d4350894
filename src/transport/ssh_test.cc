// SPDX-License-Identifier: Apache-2.0
#include "transport/ssh.h"

#include <gtest/gtest.h>
#include <sys/un.h>

#include <atomic>
#include <thread>

#include "base/text.h"
#include "transport/askpass.h"
#include "transport/ssh_words.h"
#include "transport/test_sshd.h"

namespace tenon::transport {
namespace {

// ssh starts this very program to ask: then it is no test.
const bool kIsNoTest = [] {
  if (std::getenv(kAskpassVariable) == nullptr) return false;
  const auto line = ReadFile("/proc/self/cmdline");
  const std::vector<std::string> words = Split(line.ok() ? *line : "", '\0');
  ::_exit(AskpassMain(words.size() > 1 ? words[1] : ""));
}();

// ---- words -------------------------------------------------------------------------------------

TEST(SshWords, AddressesInEveryForm) {
  const struct {
    const char *text, *user, *host;
    int port;
  } kCases[] = {
      {"gpu1", "", "gpu1", 0},
      {"203.0.113.7:2222", "", "203.0.113.7", 2222},
      {"ssh://ann@gpu1:2222", "ann", "gpu1", 2222},
      {"ssh://gpu1/", "", "gpu1", 0},
      {"ann@corp@gpu1", "ann@corp", "gpu1", 0},
      {"[2001:db8::1]:2222", "", "2001:db8::1", 2222},
      {"[2001:db8::1]", "", "2001:db8::1", 0},
      {"2001:db8::1", "", "2001:db8::1", 0},
      {"fe80::1%eth0", "", "fe80::1%eth0", 0},
  };
  for (const auto& c : kCases) {
    const auto parsed = ParseSshAddress(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->user, c.user);
    EXPECT_EQ(parsed->host, c.host);
    EXPECT_EQ(parsed->port, c.port);
  }
}

TEST(SshWords, AnAddressThatSshOrAShellWouldReadOtherwiseIsRefused) {
  for (const char* text : {"-oProxyCommand=id", "", "a b", "a;b", "$(id)", "host:0", "host:70000",
                           "host:", "[::1", "[::1]x", "-x@host", "a\nb", "`id`", "ann@-host"}) {
    const auto parsed = ParseSshAddress(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kInvalid);
  }
}

TEST(SshWords, EveryShellReadsAQuotedWordAsItIs) {
  const std::vector<std::string> kWords = {"plain",
                                           "",
                                           "a b",
                                           "it's",
                                           "a!b",
                                           "!!",
                                           "back\\slash",
                                           "\\",
                                           "$HOME`id`$(id)",
                                           "*?[x]{a,b}",
                                           "~",
                                           "=ls",
                                           "#x",
                                           "\"",
                                           "'\"'\\!'",
                                           "a%b^c&d|e;f<g>h",
                                           "é",
                                           "-n",
                                           "\t"};
  std::string line;
  for (const std::string& word : kWords) line += " " + QuoteForAnyShell(word);
  int shells = 0;
  for (const char* shell : {"bash", "dash", "zsh", "fish", "tcsh", "ksh", "sh"}) {
    if (!FindProgram(shell, std::getenv("PATH"))) continue;
    ++shells;
    const auto said = RunAndCapture({shell, "-c", "printf '%s|'" + line}, "/", "", 20'000);
    ASSERT_TRUE(said.ok());
    EXPECT_EQ(said->out, Join(kWords, "|") + "|") << shell << ": " << said->err;
  }
  EXPECT_GE(shells, 1);
}

TEST(SshWords, FingerprintsAreThoseOfSshKeygen) {
  TempFolder folder;
  for (const char* type : {"ed25519", "rsa", "ecdsa"}) {
    ASSERT_TRUE(RunAndCapture({"ssh-keygen", "-q", "-t", type, "-N", "", "-f", folder / type}, "",
                              "", 60'000)
                    .ok());
    const auto said = RunAndCapture({"ssh-keygen", "-lf", folder / type}, "", "", 20'000);
    const auto key = ParseHostKey(*ReadFile(folder / (std::string(type) + ".pub")));
    ASSERT_TRUE(key.ok());
    EXPECT_EQ(Split(said->out, ' ')[1], key->fingerprint);
    EXPECT_NE(said->out.find("(" + key->type + ")"), std::string::npos) << said->out;
  }
  EXPECT_FALSE(ParseHostKey("ssh-ed25519").ok());
  EXPECT_FALSE(ParseHostKey("ssh-ed25519 ***").ok());
}

// ---- prompts -----------------------------------------------------------------------------------

TEST(Askpass, OnlyTheRightUserOnTheRightHostIsAnswered) {
  const AskpassRules rules{"ann", "tenon-1", "/home/ann/.ssh/id", true, ""};
  const struct {
    const char* prompt;
    PromptKind kind;
  } kCases[] = {
      {"ann@tenon-1's password: ", PromptKind::kPassword},
      {"(ann@tenon-1) Password: ", PromptKind::kPassword},
      {"(ann@tenon-1) Password:", PromptKind::kPassword},
      {"(ann@tenon-1) Password for ann@gpu1:", PromptKind::kPassword},
      {"(ann@tenon-1) ann@gpu1's password: ", PromptKind::kPassword},
      {"(ann@tenon-1) Verification code: ", PromptKind::kOther},
      {"(ann@tenon-1) New password: ", PromptKind::kOther},
      {"(ann@tenon-1) (current) UNIX password: ", PromptKind::kOther},
      {"(ann@tenon-1) Current password: ", PromptKind::kOther},
      {"(ann@tenon-1) One-time password (OATH) for `ann': ", PromptKind::kOther},
      {"bob@tenon-1's password: ", PromptKind::kOther},
      {"ann@jump's password: ", PromptKind::kOther},
      {"ann@tenon-12's password: ", PromptKind::kOther},
      {"(ann@jump) Password: ", PromptKind::kOther},
      {"(ann@jump) (ann@tenon-1) Password: ", PromptKind::kOther},
      {"(ann@jump) ann@tenon-1's password: ", PromptKind::kOther},
      {"Password: ", PromptKind::kOther},
      {"Enter passphrase for key '/home/ann/.ssh/id': ", PromptKind::kPassphrase},
      {"Enter passphrase for key '/home/ann/.ssh/other': ", PromptKind::kOther},
      {"Are you sure you want to continue connecting (yes/no/[fingerprint])? ", PromptKind::kOther},
      {"Enter PIN for ED25519-SK key /home/ann/.ssh/id: ", PromptKind::kOther},
      {"", PromptKind::kOther},
  };
  for (const auto& c : kCases) EXPECT_EQ(ClassifyPrompt(c.prompt, rules), c.kind) << c.prompt;
}

TEST(Askpass, AQuestionWithoutNamesIsAnsweredOnlyWhenNobodyIsOnTheWay) {
  AskpassRules rules{"ann", "tenon-1", "", false, ""};
  EXPECT_EQ(ClassifyPrompt("Password: ", rules), PromptKind::kPassword);
  EXPECT_EQ(ClassifyPrompt("Verification code: ", rules), PromptKind::kOther);
  EXPECT_EQ(ClassifyPrompt("bob@tenon-1's password: ", rules), PromptKind::kOther);
  rules.jumps = true;
  EXPECT_EQ(ClassifyPrompt("Password: ", rules), PromptKind::kOther);
}

TEST(Askpass, NamesThatOldClientsCutAreStillOurs) {
  const std::string user(40, 'u');
  const AskpassRules rules{user, "tenon-1", "", true, ""};
  EXPECT_EQ(ClassifyPrompt(user.substr(0, 30) + "@tenon-1's password: ", rules),
            PromptKind::kPassword);
  EXPECT_EQ(ClassifyPrompt(user.substr(0, 29) + "@tenon-1's password: ", rules),
            PromptKind::kOther);
}

// Asks as ssh would.
Result<CaptureResult> AskAs(const AskpassServer& server, const std::string& prompt) {
  Environment environment;
  server.AddTo(&environment);
  return RunAndCapture({"env", std::string(kAskpassVariable) + "=" + environment[kAskpassVariable],
                        environment["SSH_ASKPASS"], prompt},
                       "", "", 20'000);
}

TEST(Askpass, TheAnswerIsExactAndEverythingElseGoesToTheUser) {
  std::vector<std::string> asked;
  SshSecrets secrets;
  secrets.password = " pass\"word'$ ü ";
  secrets.ask_user = [&](const std::string& prompt) -> std::optional<std::string> {
    asked.push_back(prompt);
    return "from the user";
  };
  const auto server = AskpassServer::Start(
      [] {
        return AskpassRules{"ann", "tenon-1", "", true, "gpu1 (h)"};
      },
      secrets);
  ASSERT_TRUE(server.ok());
  const auto password = AskAs(**server, "ann@tenon-1's password: ");
  EXPECT_EQ(password->out, *secrets.password + "\n");
  EXPECT_EQ(password->status.AsShell(), 0);
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(AskAs(**server, "ann@jump's password: ")->out, "from the user\n");
  EXPECT_EQ(asked, std::vector<std::string>{"ann@jump's password: "});
}

TEST(Askpass, TheUserReadsTheTargetAndNotItsAlias) {
  std::string asked;
  SshSecrets secrets;
  secrets.ask_user = [&](const std::string& prompt) -> std::optional<std::string> {
    asked = prompt;
    return "typed";
  };
  const auto server = AskpassServer::Start(
      [] {
        return AskpassRules{"ann", "tenon-1", "", true, "gpu1 (h)"};
      },
      secrets);
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(AskAs(**server, "ann@tenon-1's password: ")->out, "typed\n");
  EXPECT_EQ(asked, "ann@gpu1 (h)'s password: ");
}

TEST(Askpass, TheFolderOfAKilledProcessIsRemovedByTheNext) {
  TempFolder place;
  ::setenv("XDG_RUNTIME_DIR", place.path().c_str(), 1);
  const std::string left = place / "tenon-ask-killed";
  ASSERT_TRUE(MakeDirs(left, 0700).ok());
  {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", left.c_str());
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  const timespec old[2] = {{1'000'000, 0}, {1'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, left.c_str(), old, 0), 0);
  const auto rules = [] { return AskpassRules{"ann", "tenon-1", "", true, ""}; };
  const auto first = AskpassServer::Start(rules, {});
  EXPECT_FALSE(Exists(left));
  const auto second = AskpassServer::Start(rules, {});
  EXPECT_EQ(ListDir(place.path())->size(), 2u);  // the living stay
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(Askpass, WithNobodyThereAHostKeyQuestionIsNeverAnswered) {
  SshSecrets secrets;
  secrets.password = "secret";
  const auto server = AskpassServer::Start(
      [] {
        return AskpassRules{"ann", "tenon-1", "", true, "gpu1 (h)"};
      },
      secrets);
  ASSERT_TRUE(server.ok());
  const auto said = AskAs(**server, "Are you sure you want to continue connecting (yes/no)? ");
  EXPECT_EQ(said->out, "");
  EXPECT_NE(said->status.AsShell(), 0);
  EXPECT_NE((*server)->unanswered(), "");
}

TEST(Askpass, HeldBackThePasswordStaysHere) {
  SshSecrets secrets;
  secrets.password = "secret";
  const auto server = AskpassServer::Start(
      [] {
        return AskpassRules{"ann", "tenon-1", "", true, "gpu1 (h)"};
      },
      secrets);
  ASSERT_TRUE(server.ok());
  (*server)->HoldBack(true);
  // A shell between, since whoever asked is ended.
  Environment environment;
  (*server)->AddTo(&environment);
  const auto said =
      RunAndCapture({"sh", "-c",
                     "TENON_ASKPASS=" + environment[kAskpassVariable] + " " +
                         environment["SSH_ASKPASS"] + " \"ann@tenon-1's password: \"; true"},
                    "", "", 20'000);
  EXPECT_EQ(said->out, "");
}

TEST(Askpass, NonsenseOnTheSocketIsNoHarm) {
  SshSecrets secrets;
  secrets.password = "secret";
  const auto server = AskpassServer::Start(
      [] {
        return AskpassRules{"ann", "tenon-1", "", true, "gpu1 (h)"};
      },
      secrets);
  ASSERT_TRUE(server.ok());
  Environment environment;
  (*server)->AddTo(&environment);
  for (const std::string& text :
       {std::string(), std::string("no line"), std::string("x\n"), std::string(200'000, 'x')}) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s",
                  environment[kAskpassVariable].c_str());
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    (void)!::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  EXPECT_EQ(AskAs(**server, "ann@tenon-1's password: ")->out, "secret\n");
}

// ---- failures in words
// ---------------------------------------------------------------------------

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

// ---- the real thing
// ------------------------------------------------------------------------------

class SshReal : public testing::Test {
 protected:
  void SetUp() override {
    if (!TestSshd::Possible()) GTEST_SKIP() << "planned: needs root and sshd";
  }
};

TEST_F(SshReal, TheKeyIsSeenWithoutALogin) {
  TestSshd server;
  Ssh ssh(server.Target(), {});
  const auto key = ssh.LookAtHostKey();
  ASSERT_TRUE(key.ok()) << key.error().message;
  const auto true_key = ParseHostKey(*ReadFile(server.folder / "host.pub"));
  EXPECT_EQ(key->fingerprint, true_key->fingerprint);
  EXPECT_EQ(key->line, true_key->line);
  EXPECT_EQ(key->type, "ED25519");
  EXPECT_EQ(ReadFile(server.folder / "log")->find("Accepted"), std::string::npos);
}

TEST_F(SshReal, NothingIsSentWithoutAPinnedKey) {
  TestSshd server;
  Ssh ssh(server.Target(), {});
  const Status connected = ssh.Connect();
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.error().kind, ErrorKind::kDenied);
  EXPECT_FALSE(ssh.Open("true").ok());
  EXPECT_EQ(ReadFile(server.folder / "log")->find("Connection from"), std::string::npos);
}

TEST_F(SshReal, ACommandHasItsStreamsAndItsExitCode) {
  TestSshd server;
  Ssh ssh(server.Pinned(), {});
  bool fresh = false;
  const Status connected = ssh.Connect(&fresh);
  ASSERT_TRUE(connected.ok()) << connected.error().message;
  EXPECT_TRUE(fresh);
  EXPECT_TRUE(ssh.Shared());
  const auto said = RunOver(ssh, "echo out; echo err >&2; exit 7");
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said->out, "out\n");
  EXPECT_EQ(said->err, "err\n");
  EXPECT_EQ(said->status.AsShell(), 7);
  ASSERT_TRUE(ssh.Connect(&fresh).ok());
  EXPECT_FALSE(fresh);
  ssh.Disconnect();
  EXPECT_FALSE(ssh.Shared());
}

TEST_F(SshReal, AnotherHostKeyIsARefusal) {
  TestSshd server;
  const SshTarget target = server.Pinned();
  server.Stop();
  ASSERT_TRUE(RemoveFile(server.folder / "host").ok());
  server.MakeKey("host", "");
  server.Start("");
  Ssh ssh(target, {});
  const Status connected = ssh.Connect();
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.error().kind, ErrorKind::kDenied);
  EXPECT_NE(connected.error().message.find("another host key"), std::string::npos)
      << connected.error().message;
}

TEST_F(SshReal, ANewAddressOfTheSameMachineIsNoChange) {
  TestSshd server;
  SshTarget target = server.Pinned();
  target.address = "localhost";
  Ssh ssh(target, {});
  const Status connected = ssh.Connect();
  EXPECT_TRUE(connected.ok()) << connected.error().message;
  ssh.Disconnect();
}

TEST_F(SshReal, ADeadSharedConnectionIsReplaced) {
  TestSshd server;
  const SshTarget target = server.Pinned();
  {
    Ssh ssh(target, {});
    ASSERT_TRUE(ssh.Connect().ok());
    const auto who =
        RunAndCapture({"ssh", "-S", target.control_path, "-O", "check", "x"}, "", "", 20'000);
    const size_t at = who->err.find("pid=");
    ASSERT_NE(at, std::string::npos) << who->err;
    ::kill(static_cast<pid_t>(std::atoi(who->err.c_str() + at + 4)), SIGKILL);
    for (int i = 0; i < 500 && ssh.Shared(); ++i) TestSshd::Pause();
  }
  ASSERT_TRUE(Exists(target.control_path));  // left behind
  Ssh ssh(target, {});
  bool fresh = false;
  const Status connected = ssh.Connect(&fresh);
  ASSERT_TRUE(connected.ok()) << connected.error().message;
  EXPECT_TRUE(fresh);
  EXPECT_EQ(RunOver(ssh, "echo here")->out, "here\n");
  ssh.Disconnect();
}

TEST_F(SshReal, ManyAtOnceMakeOneConnection) {
  TestSshd server("MaxSessions 50\n");
  const SshTarget target = server.Pinned();
  std::atomic<int> fresh{0}, failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      Ssh ssh(target, {});
      bool mine = false;
      const Status connected = ssh.Connect(&mine);
      if (mine) ++fresh;
      const auto said = RunOver(ssh, "echo here");
      if (!connected.ok() || !said.ok() || said->out != "here\n") ++failed;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fresh, 1);
  EXPECT_EQ(failed, 0);
  const std::string log = *ReadFile(server.folder / "log");
  size_t logins = 0;
  for (size_t at = 0; (at = log.find("Accepted publickey", at)) != std::string::npos; ++at)
    ++logins;
  EXPECT_EQ(logins, 1u);
  Ssh(target, {}).Disconnect();
}

TEST_F(SshReal, MoreSessionsThanTheServerAllowsOpenAnotherConnectionAndAskAgain) {
  TestSshd server("MaxSessions 1\n", "open sesame");
  SshSecrets secrets;
  secrets.passphrase = "open sesame";
  Ssh ssh(server.Pinned(), secrets);
  const Status connected = ssh.Connect();
  ASSERT_TRUE(connected.ok()) << connected.error().message;
  auto first = ssh.Open("cat");
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(WriteAll(first->in.get(), "x").ok());
  char c = 0;
  ASSERT_EQ(::read(first->out.get(), &c, 1), 1);  // it runs
  EXPECT_EQ(RunOver(ssh, "echo second")->out, "second\n");
  first->in.Reset();
  EXPECT_EQ(Wait(first->pid)->AsShell(), 0);
  ssh.Disconnect();
}

TEST_F(SshReal, AWrongPassphraseIsADenial) {
  TestSshd server("", "open sesame");
  SshSecrets secrets;
  secrets.passphrase = "wrong";
  Ssh ssh(server.Pinned(), secrets);
  const Status connected = ssh.Connect();
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.error().kind, ErrorKind::kDenied) << connected.error().message;
  EXPECT_EQ(connected.error().message.find("wrong"), std::string::npos);
}

TEST_F(SshReal, WithoutAPlaceForSocketsItWorksAllTheSame) {
  TestSshd server;
  SshTarget target = server.Pinned();
  target.control_path = server.folder / std::string(120, 'x');
  {
    Ssh ssh(target, {});
    ASSERT_TRUE(ssh.Connect().ok());
    EXPECT_FALSE(ssh.Shared());
    EXPECT_EQ(RunOver(ssh, "echo here")->out, "here\n");
  }
  target.control_path = "/proc/tenon/s";  // a folder nobody can make
  Ssh ssh(target, {});
  ASSERT_TRUE(ssh.Connect().ok());
  EXPECT_EQ(RunOver(ssh, "echo here")->out, "here\n");
}

TEST_F(SshReal, NobodyListensOrANonsenseAddressIsSaidSo) {
  TestSshd server;
  SshTarget target = server.Pinned();
  server.Stop();
  Ssh ssh(target, {});
  const auto key = ssh.LookAtHostKey();
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(key.error().message.find("no SSH server answers"), std::string::npos);
  target.address = "-oProxyCommand=touch /tmp/x";
  EXPECT_EQ(Ssh(target, {}).LookAtHostKey().error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(Ssh(target, {}).Connect().error().kind, ErrorKind::kInvalid);
}

// Accepts and says nothing.
TEST_F(SshReal, ASilentServerIsGivenUp) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(fd.get(), 5), 0);
  ASSERT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  TestSshd server;
  SshTarget target = server.Target();
  target.port = ntohs(address.sin_port);
  const auto key = Ssh(target, {}).LookAtHostKey(1);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace tenon::transport
