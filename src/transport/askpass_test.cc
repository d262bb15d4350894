// SPDX-License-Identifier: Apache-2.0
#include "transport/askpass.h"

#include <gtest/gtest.h>
#include <sys/un.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "transport/ssh.h"
#include "transport/test_sshd.h"

namespace tenon::transport {
namespace {

// When ssh starts this program to ask a question, it answers and runs no test.
const bool kIsNoTest = [] {
  if (std::getenv(kAskpassVariable) == nullptr) return false;
  const auto line = ReadFile("/proc/self/cmdline");
  const std::vector<std::string> words = Split(line.ok() ? *line : "", '\0');
  ::_exit(AskpassMain(words.size() > 1 ? words[1] : ""));
}();

// What the user was asked; filled by the thread that answers.
class Asked {
 public:
  void Add(const std::string& prompt) {
    const std::lock_guard<std::mutex> lock(mutex_);
    prompts_.push_back(prompt);
  }
  std::vector<std::string> All() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return prompts_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> prompts_;
};

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

// The same through a shell, for answers that end the process that has asked.
Result<CaptureResult> AskThroughAShell(const AskpassServer& server, const std::string& prompt) {
  Environment environment;
  server.AddTo(&environment);
  return RunAndCapture({"sh", "-c",
                        "TENON_ASKPASS=" + environment[kAskpassVariable] + " " +
                            environment["SSH_ASKPASS"] + " \"" + prompt + "\"; true"},
                       "", "", 20'000);
}

Result<std::unique_ptr<AskpassServer>> StartFor(const SshSecrets& secrets) {
  return AskpassServer::Start(
      [] {
        return AskpassRules{"ann", "tenon-1", "", true, "gpu1 (h)"};
      },
      secrets);
}

TEST(Askpass, TheAnswerIsExactAndEverythingElseGoesToTheUser) {
  Asked asked;
  SshSecrets secrets;
  const std::string kept = " pass\"word'$ ü ";
  secrets.password = Known(kept);
  secrets.ask_user = [&](const std::string& prompt) -> std::optional<std::string> {
    asked.Add(prompt);
    return "from the user";
  };
  const auto server = StartFor(secrets);
  ASSERT_TRUE(server.ok());
  const auto password = AskAs(**server, "ann@tenon-1's password: ");
  EXPECT_EQ(password->out, kept + "\n");
  EXPECT_EQ(password->status.AsShell(), 0);
  EXPECT_TRUE(asked.All().empty());
  EXPECT_EQ(AskAs(**server, "ann@jump's password: ")->out, "from the user\n");
  EXPECT_EQ(asked.All(), std::vector<std::string>{"ann@jump's password: "});
}

TEST(Askpass, TheUserReadsTheTargetAndNotItsAlias) {
  Asked asked;
  SshSecrets secrets;
  secrets.ask_user = [&](const std::string& prompt) -> std::optional<std::string> {
    asked.Add(prompt);
    return "typed";
  };
  const auto server = StartFor(secrets);
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(AskAs(**server, "ann@tenon-1's password: ")->out, "typed\n");
  EXPECT_EQ(asked.All(), std::vector<std::string>{"ann@gpu1 (h)'s password: "});
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
  EXPECT_EQ(ListDir(place.path())->size(), 2u);  // those of living processes stay
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(Askpass, WithNobodyThereAHostKeyQuestionIsNeverAnswered) {
  SshSecrets secrets;
  secrets.password = Known("secret");
  const auto server = StartFor(secrets);
  ASSERT_TRUE(server.ok());
  const auto said = AskAs(**server, "Are you sure you want to continue connecting (yes/no)? ");
  EXPECT_EQ(said->out, "");
  EXPECT_NE(said->status.AsShell(), 0);
  EXPECT_NE((*server)->unanswered(), "");
}

TEST(Askpass, ASecretThatCannotBeHadEndsTheLoginWithItsReason) {
  std::atomic<bool> user_asked = false;
  SshSecrets secrets;
  secrets.password = [] {
    return Result<std::optional<std::string>>(Corrupt("the store is damaged"));
  };
  secrets.ask_user = [&](const std::string&) {
    user_asked = true;
    return std::optional<std::string>();
  };
  const auto server = StartFor(secrets);
  ASSERT_TRUE(server.ok());
  EXPECT_FALSE((*server)->TakeProblem());
  const auto said = AskThroughAShell(**server, "ann@tenon-1's password: ");
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said->out, "");
  EXPECT_FALSE(user_asked);
  const auto problem = (*server)->TakeProblem();
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->message, "the store is damaged");
  EXPECT_FALSE((*server)->TakeProblem());
}

TEST(Askpass, HeldBackThePasswordStaysHere) {
  SshSecrets secrets;
  secrets.password = Known("secret");
  const auto server = StartFor(secrets);
  ASSERT_TRUE(server.ok());
  (*server)->HoldBack(true);
  const auto said = AskThroughAShell(**server, "ann@tenon-1's password: ");
  EXPECT_EQ(said->out, "");
}

TEST(Askpass, NonsenseOnTheSocketIsNoHarm) {
  SshSecrets secrets;
  secrets.password = Known("secret");
  const auto server = StartFor(secrets);
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

}  // namespace
}  // namespace tenon::transport
