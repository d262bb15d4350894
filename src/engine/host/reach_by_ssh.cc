// SPDX-License-Identifier: Apache-2.0
#include "engine/host/reach_by_ssh.h"

#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "engine/context.h"
#include "engine/host/attach_host.h"
#include "engine/host/ssh_machine.h"
#include "transport/askpass.h"

namespace tenon::engine {
namespace {

constexpr int kInstallMs = 60'000;

// Reads the public key from its standard input. Written for any POSIX shell.
constexpr const char* kInstallScript =
    "umask 077; cd && mkdir -p .ssh && chmod go-w .ssh && touch .ssh/authorized_keys && "
    "chmod 600 .ssh/authorized_keys && IFS= read -r line && "
    "{ grep -qxF -- \"$line\" .ssh/authorized_keys || "
    "{ [ -z \"$(tail -c1 .ssh/authorized_keys)\" ] || echo >> .ssh/authorized_keys; "
    "printf '%s\\n' \"$line\" >> .ssh/authorized_keys; }; }";

transport::SshSecrets::Lookup Given(const std::string& secret) {
  return [secret] { return Result<std::optional<std::string>>(secret); };
}

// While it lives, it notes what the user types for the login to the target itself.
class TypedSecrets {
 public:
  TypedSecrets(Context& context, const HostRecord& host, const std::string& shown,
               const std::shared_ptr<GivenSecrets>& typed)
      : context_(context), before_(context.ask_user) {
    if (!before_) return;
    const transport::AskpassRules rules{host.user, shown, host.identity_file, true, ""};
    context.ask_user = [ask = before_, rules, typed](const std::string& prompt) {
      // An expired password is changed during the login. From then on the new one counts.
      if (ToLower(prompt).find("new password") != std::string::npos) {
        auto changed = ask(prompt);
        if (changed) typed->password = changed;
        return changed;
      }
      std::optional<std::string>* kept = nullptr;
      switch (transport::ClassifyPrompt(prompt, rules)) {
        case transport::PromptKind::kPassword:
          kept = &typed->password;
          break;
        case transport::PromptKind::kPassphrase:
          kept = &typed->passphrase;
          break;
        case transport::PromptKind::kOther:
          return ask(prompt);
      }
      if (!*kept) *kept = ask(prompt);
      return *kept;
    };
  }
  ~TypedSecrets() { context_.ask_user = before_; }
  TypedSecrets(const TypedSecrets&) = delete;
  TypedSecrets& operator=(const TypedSecrets&) = delete;

 private:
  Context& context_;
  std::function<std::optional<std::string>(const std::string&)> before_;
};

std::string PinFile(const run::Home& home, const std::string& id) {
  return JoinPath(home.hosts(), id + ".known_hosts");
}

// Reaches the machine with secrets that are not stored yet.
Result<std::unique_ptr<SshMachine>> ReachOnTrial(Context& context, HostRecord host,
                                                 GivenSecrets* given) {
  if (given->password) host.has_password = true;
  const bool pinned_before = Exists(PinFile(context.home, host.id));
  // Shared, because the connection may ask again after this function has returned.
  const auto typed = std::make_shared<GivenSecrets>();
  TENON_TRY(const transport::SshTarget target, SshTargetOf(context.home, host));
  transport::Ssh shared(target, {});
  // ssh asks for no secret over a connection that stands already, so a wrong secret would seem
  // right.
  if (given->password || given->passphrase) shared.Disconnect();
  const bool stood = shared.Shared();
  Result<std::unique_ptr<SshMachine>> reached = Unavailable("");
  {
    const TypedSecrets note(context, host, target.Shown(), typed);
    transport::SshSecrets secrets = SecretsFor(context, host);
    if (given->password) secrets.password = Given(*given->password);
    if (given->passphrase) secrets.passphrase = Given(*given->passphrase);
    reached = SshMachine::Reach(context, host, std::move(secrets));
  }
  if (!reached.ok()) {
    if (!stood) shared.Disconnect();
    if (!pinned_before) (void)RemoveFile(PinFile(context.home, host.id)).ok();
    return reached;
  }
  if (typed->password) given->password = typed->password;
  if (typed->passphrase) given->passphrase = typed->passphrase;
  return reached;
}

class BySsh : public OtherMachines {
 public:
  Result<std::unique_ptr<Machine>> Reach(Context& context, const HostRecord& host) override {
    TENON_TRY(std::unique_ptr<Machine> machine,
              SshMachine::Reach(context, host, SecretsFor(context, host)));
    return machine;
  }

  Result<HostKey> LookAtKey(Context& context, const HostRecord& host,
                            const std::string& wanted) override {
    TENON_TRY(transport::SshTarget target, SshTargetOf(context.home, host));
    transport::SshSecrets nothing;
    nothing.ask_user = context.ask_user;  // a jump host may ask for a password
    transport::Ssh ssh(std::move(target), std::move(nothing));
    Result<HostKey> shown = ssh.LookAtHostKey();
    if (!shown.ok() || wanted.empty() || shown->fingerprint == wanted) return shown;
    // A cloud's console may name a key of another kind than the one that ssh prefers.
    for (const char* algorithms :
         {"ssh-ed25519", "ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521",
          "rsa-sha2-512,rsa-sha2-256"}) {
      Result<HostKey> other = ssh.LookAtHostKey(algorithms);
      if (other.ok() && other->fingerprint == wanted) return other;
    }
    return shown;
  }

  Result<HostRecord> Try(Context& context, HostRecord host, GivenSecrets* secrets) override {
    TENON_TRY(const std::unique_ptr<SshMachine> reached, ReachOnTrial(context, host, secrets));
    return reached->known();
  }

  Status InstallPublicKey(Context& context, HostRecord host, GivenSecrets* secrets,
                          const std::string& public_line) override {
    host.identity_file.clear();  // the machine does not know the new key yet
    TENON_TRY(const std::unique_ptr<SshMachine> reached, ReachOnTrial(context, host, secrets));
    TENON_TRY(const CaptureResult done, reached->host().Run({"/bin/sh", "-c", kInstallScript},
                                                            public_line + "\n", kInstallMs));
    if (done.status.AsShell() != 0) {
      return Unavailable("put the key into ~/.ssh/authorized_keys of " + LoginText(host) + ": " +
                         ForTerminal(Trim(done.err.substr(0, 300))));
    }
    reached->Disconnect();  // so that the next login uses the key
    return {};
  }

  void Disconnect(Context& context, const HostRecord& host) override {
    const auto target = SshTargetOf(context.home, host);
    if (target.ok()) transport::Ssh(*target, {}).Disconnect();
  }

  Result<std::string> UsualUser(const std::string& address) override {
    TENON_TRY(const transport::SshDefaults defaults, transport::AskSshDefaults(address));
    return defaults.user;
  }
};

}  // namespace

OtherMachines& ReachBySsh() {
  static BySsh by_ssh;
  return by_ssh;
}

bool IsAskpass() { return std::getenv(transport::kAskpassVariable) != nullptr; }
int AskpassMain(const std::string& prompt) { return transport::AskpassMain(prompt); }

}  // namespace tenon::engine
