// SPDX-License-Identifier: Apache-2.0
// How a password reaches ssh. ssh starts the program that SSH_ASKPASS names, with its question.
// That program is ours in another role: it passes the question over a Unix socket to the process
// that started ssh, and prints the answer. No secret is on a command line, in an environment or in
// a file.
//
// The stored password answers only a question about the right user on the right host. ssh itself
// writes both into the question, and the host is the alias of the pinned key. Every other question
// (a jump host, another key, a one-time code) goes to the user.
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

// The environment variable that holds the path of the socket. When it is set, ssh has started this
// program to ask a question: see AskpassMain.
inline constexpr const char* kAskpassVariable = "TENON_ASKPASS";

// Passes `prompt` to the AskpassServer and prints the answer. Returns the exit code of the program.
// May end the ssh that asked. main() calls it first when kAskpassVariable is set.
int AskpassMain(const std::string& prompt);

// Sets the program that ssh starts to ask a question; it must call AskpassMain. Default: the
// program that runs now.
void SetAskpassProgram(std::string path);

// Why ssh, running as this user, cannot start the askpass program: it was moved away, or it lies in
// a folder that this user may not enter. "" = it can.
std::string WhyAskpassCannotStart();

// Makes this process leave no core dump and keeps other processes of the same user from reading its
// memory. For processes that hold secrets.
void KeepOutOfDumps();

// Overwrites the bytes, then empties the string.
void Wipe(std::string* secret);

// Tells the questions that the stored secrets answer from all others.
struct AskpassRules {
  std::string user;   // that ssh logs in as
  std::string alias;  // HostKeyAlias of the target
  std::string identity_file;
  bool jumps = false;  // jump hosts on the way may ask, too
  std::string shown;   // what the user reads in place of the alias
};

enum class PromptKind {
  kPassword,    // of the target's user on the target
  kPassphrase,  // of the identity file
  kOther,
};
PromptKind ClassifyPrompt(const std::string& prompt, const AskpassRules& rules);

// Answers the questions of ssh on a thread of its own until it is destroyed. Its methods may be
// called from any thread.
class AskpassServer {
 public:
  // Calls `rules` once, when the first question comes. `rules` and the functions of `secrets` are
  // called on the server's thread.
  static Result<std::unique_ptr<AskpassServer>> Start(std::function<AskpassRules()> rules,
                                                      SshSecrets secrets);
  ~AskpassServer();
  AskpassServer(const AskpassServer&) = delete;
  AskpassServer& operator=(const AskpassServer&) = delete;

  // Adds the variables that make ssh ask this server.
  void AddTo(Environment* environment) const;

  // True while the user is being asked. Time limits should not run meanwhile.
  bool asking_user() const;
  // For error messages. password_asked(): ssh asked for the target's password. password_refused():
  // ssh asked for it again after it got one. unanswered(): the last question without an answer; ""
  // = none.
  bool password_asked() const;
  bool password_refused() const;
  std::string unanswered() const;
  // Why a stored secret could not be read; the question got no answer then. Returns each problem
  // once.
  std::optional<Error> TakeProblem();
  // While true, questions for the target's password get no answer, and ssh ends. Other questions
  // are answered as usual.
  void HoldBack(bool on);

 private:
  struct State;
  explicit AskpassServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_ASKPASS_H_
