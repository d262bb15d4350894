// SPDX-License-Identifier: Apache-2.0
// How a password reaches ssh: ssh starts the program named by SSH_ASKPASS with its question, that
// program (ours, in another role) passes the question on over a Unix socket to the process that
// started ssh, and prints what comes back. So no secret is on a command line, in an environment or
// in a file.
//
// Only a question of the right user on the right host gets the password; ssh itself writes both
// into the question, and the host is the alias of the pinned key. Every other question (a jump
// host, another key, a one-time code) goes to the user.
#ifndef TENON_TRANSPORT_ASKPASS_H_
#define TENON_TRANSPORT_ASKPASS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "base/process.h"
#include "base/result.h"
#include "transport/ssh.h"

namespace tenon::transport {

// Names the socket. A program that finds it set was started by ssh to ask: see AskpassMain.
inline constexpr const char* kAskpassVariable = "TENON_ASKPASS";

// The other end: passes `prompt` on and prints the answer. Returns the exit code of the program.
// To be called first thing in main() when kAskpassVariable is set.
int AskpassMain(const std::string& prompt);

// The program that ssh starts to ask; it calls AskpassMain. Else: the one that runs now.
void SetAskpassProgram(std::string path);

// Why ssh, which is started as this user, can't start that program: it was moved away, or lies in a
// folder that this user may not enter. "" = it can.
std::string WhyAskpassCannotStart();

// This process, which holds secrets, leaves no core dump and cannot be looked into by others of the
// same user.
void KeepOutOfDumps();

// Overwrites the bytes.
void Wipe(std::string* secret);

// Whose questions may be answered with what we know.
struct AskpassRules {
  std::string user;   // as ssh logs in
  std::string alias;  // of the host key
  std::string identity_file;
  bool jumps = false;  // there are machines on the way that may ask too
  std::string shown;   // what the user reads in place of the alias
};

enum class PromptKind {
  kPassword,    // of the user on this very host
  kPassphrase,  // of the identity file
  kOther,
};
PromptKind ClassifyPrompt(const std::string& prompt, const AskpassRules& rules);

// Answers on a thread of its own as long as it lives.
class AskpassServer {
 public:
  // `rules` is asked for when the first question comes.
  static Result<std::unique_ptr<AskpassServer>> Start(std::function<AskpassRules()> rules,
                                                      SshSecrets secrets);
  ~AskpassServer();
  AskpassServer(const AskpassServer&) = delete;
  AskpassServer& operator=(const AskpassServer&) = delete;

  // What ssh needs to find us.
  void AddTo(Environment* environment) const;

  // The user is being asked right now: no time limit should pass meanwhile.
  bool asking_user() const;
  // What went wrong, for the message: the password was asked for; it was given and asked for once
  // more; a question that got no answer ("" = none).
  bool password_asked() const;
  bool password_refused() const;
  std::string unanswered() const;
  // Why a stored secret could not be had; nothing was answered then. Told once.
  std::optional<Error> TakeProblem();
  // While true, the stored secrets stay where they are.
  void HoldBack(bool on);

 private:
  struct State;
  explicit AskpassServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_ASKPASS_H_
