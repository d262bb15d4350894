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

// The program that serves us on a host, for one kind of machine.
struct AgentProgram {
  std::string hash;  // SHA-256 of its bytes, hex
  std::function<Result<std::string>()> bytes;
};

struct SshHostOptions {
  // Where our folder lies on the host, from an earlier time; "" = it is looked for.
  std::string root;
  // Where the user wants it; "" = ~/.tenon, else the first place where programs may be started.
  std::string asked_root;
  // By `uname -m`. An Error: there is none for such a machine, and for which there are.
  std::function<Result<AgentProgram>(const std::string& machine)> program;
  // The machine of last time; "" = not known.
  std::string machine;
  // While the program is sent: bytes so far and in all.
  std::function<void(uint64_t done, uint64_t total)> on_push;
  // An agent that has not greeted after so long hangs, or the login has not come to it: the program
  // is put there again, and what the login does instead is found out.
  int64_t greet_us = 45'000'000;
};

// A machine over SSH. An agent of ours, <root>/bin/tenon-runner-<hash>, carries out the calls over
// one session of the shared connection; it is pushed when it is not there, checks itself by its
// hash, and appears under its name only whole. Connecting costs nothing before the first call, and
// after a lost link the next call connects anew.
//
// Whatever the login shell is, and whatever it prints: it is sent one `exec` of a path.
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

  // Starts the conversation without waiting for anything but a login, so that it stands when the
  // first call comes.
  Status Open();

  // Makes sure that an agent answers; afterwards root(), machine() and agent_path() are known. What
  // `hello` says.
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
  // Finds machine and root, and pushes the program if it is not there.
  Status Bootstrap();
  Error DidNotRunShell(const CaptureResult& found) const;
  Status Push(const AgentProgram& program);
  // A command line to its end, with its output.
  Result<CaptureResult> RunLine(const std::string& command, std::string_view input,
                                const std::function<void(uint64_t)>& on_written);
  // The conversation is over: why. Sets *missing when there is no agent at that path.
  Error Explain(Error error, bool* missing);

  Ssh& ssh_;
  SshHostOptions options_;
  std::unique_ptr<Agent> agent_;
  // Frames the agent cannot have seen before its greeting; sent again when it had to be pushed.
  std::vector<std::pair<json::Object, std::string>> unheard_;
  // Why it did not let us in. Not tried again: it counts how often a password is wrong.
  std::optional<Error> denied_;
  bool has_heard_ = false, has_sent_ = false;
  int64_t started_us_ = 0;  // the agent; by the monotonic clock
  bool looked_at_master_ = false;
  int refusals_ = 0;     // in a row, of a machine that is up
  bool pushed_ = false;  // by this object: a second time would not help
};

}  // namespace tenon::transport

#endif  // TENON_TRANSPORT_SSH_HOST_H_
