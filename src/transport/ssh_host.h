// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_TRANSPORT_SSH_HOST_H_
#define TENON_TRANSPORT_SSH_HOST_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/agent.h"
#include "transport/host.h"
#include "transport/ssh.h"

namespace tenon::transport {

// The agent's program (tenon-runner), for one kind of machine.
struct AgentProgram {
  std::string hash;  // SHA-256 of its bytes, hex
  std::function<Result<std::string>()> bytes;
};

struct SshHostOptions {
  // Our folder on the host, as found by an earlier connection; "" = not known.
  std::string root;
  // The folder that the user asks for; "" = ~/.tenon, else the first place where programs may be
  // started.
  std::string asked_root;
  // Returns the program for a machine (`uname -m`). An Error says that there is none, and for which
  // machines there are programs.
  std::function<Result<AgentProgram>(const std::string& machine)> program;
  // `uname -m` of the host, as found by an earlier connection; "" = not known.
  std::string machine;
  // Called while the program is sent: bytes so far and in all.
  std::function<void(uint64_t done, uint64_t total)> on_push;
  // How long the agent may take to greet. If it takes longer, it hangs or the login has not started
  // it: the host is looked at anew, which finds out what the login does instead, and the program is
  // sent again.
  int64_t greet_us = 45'000'000;
};

// A machine over SSH. An agent, <root>/bin/tenon-runner-<hash>, carries out the calls over one
// session of the shared connection. If it is missing on the host, it is sent there: it checks its
// own hash and gets its name only when it is whole. Nothing connects before the first call. After a
// lost link the next call connects again.
//
// It works with any login shell, whatever the shell prints: the shell gets one `exec` of a path.
class SshHost : public Host, public FrameLink {
 public:
  // `ssh` must outlive this object.
  SshHost(Ssh& ssh, SshHostOptions options);
  ~SshHost() override;

  Result<CaptureResult> Run(const std::vector<std::string>& argv, const std::string& input,
                            int timeout_ms) override;
  Status PutFile(const std::string& path, std::string_view bytes, mode_t mode) override;
  Result<std::string> ReadFrom(const std::string& path, uint64_t offset, size_t max) override;
  Result<bool> WaitForGrowth(const std::vector<KnownLength>& files, int64_t timeout_us) override;
  Result<bool> IsLocked(const std::string& path) override;
  FrameLink* frames() override { return this; }
  std::string Describe() const override;

  Status Send(const json::Object& head, std::string_view body) override;
  LinkState state() const override { return {fd() >= 0, has_heard_, has_sent_}; }

  // Logs in and starts the agent, without waiting for its greeting, so that the link is ready for
  // the first call. Does nothing when the agent has been started. After a refused login every call
  // returns the same Error.
  Status Open();

  // Makes sure that an agent answers and returns its answer to `hello`. Afterwards root(),
  // machine() and agent_path() are known.
  Result<json::Object> Hello();

  const std::string& root() const { return options_.root; }
  const std::string& machine() const { return options_.machine; }
  // Path of the agent on the host. Root and machine must be known.
  std::string agent_path() const;
  int fd() const override { return agent_ ? agent_->fd() : -1; }

 protected:
  Result<std::optional<Frame>> Take(int64_t timeout_us) override;
  void HangUp() override;

 private:
  // Sends one request and returns its answer, or the Error in it.
  Result<Frame> Ask(const json::Object& head, std::string_view body, int64_t timeout_us);
  Status StartAgent();
  // Finds machine and root, and sends the program.
  Status Bootstrap();
  Error DidNotRunShell(const CaptureResult& found) const;
  Status Push(const AgentProgram& program);
  // Runs a command line to its end and returns its output. `on_written`: bytes of `input` sent so
  // far.
  Result<CaptureResult> RunLine(const std::string& command, std::string_view input,
                                const std::function<void(uint64_t)>& on_written);
  // Says why the conversation ended. Sets *missing when the agent at its path is missing or
  // damaged.
  Error Explain(Error error, bool* missing);

  Ssh& ssh_;
  SshHostOptions options_;
  std::unique_ptr<Agent> agent_;
  // Frames sent before the agent's greeting. They are sent again when another agent is started.
  std::vector<std::pair<json::Object, std::string>> unheard_;
  // Why the server refused the login. Not tried again, because servers count wrong passwords.
  std::optional<Error> denied_;
  bool has_heard_ = false, has_sent_ = false;
  int64_t started_us_ = 0;  // when the agent was started; monotonic clock
  bool looked_at_master_ = false;
  int refusals_ = 0;     // failed starts in a row while the connection stands
  bool pushed_ = false;  // by this object: sending it again would not help
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_SSH_HOST_H_
