// SPDX-License-Identifier: Apache-2.0
#include "engine/attach_host.h"

#include <cstdlib>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "engine/ssh_machine.h"
#include "secrets/store.h"
#include "transport/askpass.h"

namespace tenon::engine {
namespace {

constexpr int kKeygenMs = 30'000;
constexpr int kInstallMs = 60'000;

// Takes the public key on its standard input. Any POSIX shell.
constexpr const char* kInstallScript =
    "umask 077; cd && mkdir -p .ssh && chmod go-w .ssh && touch .ssh/authorized_keys && "
    "chmod 600 .ssh/authorized_keys && IFS= read -r line && "
    "{ grep -qxF -- \"$line\" .ssh/authorized_keys || "
    "{ [ -z \"$(tail -c1 .ssh/authorized_keys)\" ] || echo >> .ssh/authorized_keys; "
    "printf '%s\\n' \"$line\" >> .ssh/authorized_keys; }; }";

transport::SshSecrets::Lookup Given(const std::string& secret) {
  return [secret] { return Result<std::optional<std::string>>(secret); };
}

// While it lives, what the user types for the target's own login is noted.
class TypedSecrets {
 public:
  TypedSecrets(Context& context, const HostRecord& host, const std::string& shown,
               const std::shared_ptr<GivenSecrets>& typed)
      : context_(context), before_(context.ask_user) {
    if (!before_) return;
    const transport::AskpassRules rules{host.user, shown, host.identity_file, true, ""};
    context.ask_user = [ask = before_, rules, typed](const std::string& prompt) {
      // One that has expired is changed on the way in: the new one counts from then on.
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

std::string KeyFile(const run::Home& home, const std::string& id) {
  return JoinPath(JoinPath(home.root(), "keys"), id);
}

std::string Login(const HostRecord& host) {
  return (host.user.empty() ? "" : host.user + " on ") + host.address + " (" + host.target + ")";
}

// Reaches the machine with secrets that are only on trial.
Result<std::unique_ptr<SshMachine>> ReachOnTrial(Context& context, HostRecord host,
                                                 GivenSecrets* given) {
  if (given->password) host.has_password = true;
  const bool pinned_before = Exists(PinFile(context.home, host.id));
  // Shared: the connection may ask again after we have returned.
  const auto typed = std::make_shared<GivenSecrets>();
  TENON_TRY(const transport::SshTarget target, SshTargetOf(context.home, host));
  transport::Ssh shared(target, {});
  // Over a connection that stands nobody is asked for a secret, so a wrong one would seem right.
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

// `attach -k` puts the pair under the machine's id.
bool HasOwnKey(const HostRecord& host) { return host.identity_file.ends_with("/keys/" + host.id); }

Error WithOwnKey(Error error, const HostRecord& host) {
  if (error.reason != transport::kLoginRefused && error.reason != transport::kPasswordNeeded &&
      error.reason != transport::kKeysOnly) {
    return error;
  }
  error.message += "; the machine does not know the key of this target yet";
  const auto line = ReadFile(host.identity_file + ".pub", 64 << 10);
  if (line.ok()) {
    error.hint = "append this line to ~/.ssh/authorized_keys there: " + ForTerminal(Trim(*line));
  }
  return error;
}

}  // namespace

bool IsAskpass() { return std::getenv(transport::kAskpassVariable) != nullptr; }
int AskpassMain(const std::string& prompt) { return transport::AskpassMain(prompt); }

Result<HostKey> LookAtHost(Context& context, const HostRecord& host, const std::string& wanted) {
  TENON_TRY(transport::SshTarget target, SshTargetOf(context.home, host));
  transport::SshSecrets nothing;
  nothing.ask_user = context.ask_user;  // a machine on the way may ask
  transport::Ssh ssh(std::move(target), std::move(nothing));
  Result<HostKey> shown = ssh.LookAtHostKey();
  if (!shown.ok() || wanted.empty() || shown->fingerprint == wanted) return shown;
  // What a cloud's console names need not be of the kind that ssh likes best.
  for (const char* algorithms :
       {"ssh-ed25519", "ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521",
        "rsa-sha2-512,rsa-sha2-256"}) {
    Result<HostKey> other = ssh.LookAtHostKey(algorithms);
    if (other.ok() && other->fingerprint == wanted) return other;
  }
  return shown;
}

Result<HostRecord> TryHost(Context& context, HostRecord host, GivenSecrets* secrets) {
  host.facts = {};  // asked anew
  TENON_TRY(const std::unique_ptr<SshMachine> reached, ReachOnTrial(context, host, secrets));
  HostRecord learned = reached->known();
  learned.has_password = host.has_password || secrets->password.has_value();
  const std::string problem = json::DecodeBytes(json::GetString(learned.facts, "run_problem"));
  if (problem.empty()) return learned;
  return Denied("runs can't be made in " + learned.root + " of " + Login(host) + ": " + problem)
      .WithHint("name a folder there that you may write: tenonDirectory in aml_config/" +
                host.target + ".compute");
}

Error ExplainDenied(Error error, const HostRecord& host, bool by_reference) {
  const bool ours_lacks = error.kind == ErrorKind::kDenied && !host.has_password && by_reference &&
                          error.reason != transport::kHostKeyRefused;
  if (!ours_lacks) return error;
  if (HasOwnKey(host)) return WithOwnKey(std::move(error), host);
  error.message +=
      "; the password of this target, if it has one, lies in the keyring of whoever "
      "attached it";
  error.hint = "`tenon secrets set " + ShellQuote(host.target) +
               "` stores yours, or attach it "
               "again with --force";
  return error;
}

bool WantsPassword(const Error& error) {
  return error.reason == transport::kPasswordWrong || error.reason == transport::kPasswordNeeded;
}

bool TakesKeysOnly(const Error& error) { return error.reason == transport::kKeysOnly; }

Status RememberHost(Context& context, HostRecord host, const GivenSecrets& secrets) {
  TENON_TRY_VOID(EnsureHome(context.home));
  secrets::Store store(context.home.root());
  if (secrets.password) {
    TENON_TRY_VOID(
        store.Set(secrets::PasswordName(host.id), *secrets.password, "password of " + Login(host)));
    host.has_password = true;
  }
  if (secrets.passphrase) {
    TENON_TRY_VOID(store.Set(secrets::PassphraseName(host.id), *secrets.passphrase,
                             "passphrase of " + host.identity_file + " for " + Login(host)));
  }
  if (host.attached_us == 0) host.attached_us = context.clock->NowUs();
  return WriteHost(context.home, host);
}

Status ForgetEverything(Context& context, const std::string& host_id) {
  if (const Result<HostRecord> host = ReadHost(context.home, host_id); host.ok()) {
    const auto target = SshTargetOf(context.home, *host);
    if (target.ok()) transport::Ssh(*target, {}).Disconnect();
  }
  // What can be forgotten is, whatever else cannot.
  Status first;
  const auto note = [&](Status done) {
    if (first.ok() && !done.ok() && done.error().kind != ErrorKind::kNotFound) {
      first = std::move(done);
    }
  };
  secrets::Store store(context.home.root());
  note(store.Remove(secrets::PasswordName(host_id)));
  note(store.Remove(secrets::PassphraseName(host_id)));
  note(RemoveFile(KeyFile(context.home, host_id)));
  note(RemoveFile(KeyFile(context.home, host_id) + ".pub"));
  note(ForgetHost(context.home, host_id));
  return first;
}

void ForgetTrial(Context& context, const HostRecord& host) {
  if (const auto target = SshTargetOf(context.home, host); target.ok()) {
    transport::Ssh(*target, {}).Disconnect();
  }
  (void)ForgetEverything(context, host.id).ok();
}

Result<KeyPair> MakeKeyPair(Context& context, const HostRecord& host) {
  KeyPair pair;
  pair.file = KeyFile(context.home, host.id);
  if (!Exists(pair.file)) {
    TENON_TRY_VOID(EnsureHome(context.home));
    TENON_TRY_VOID(MakeDirs(DirName(pair.file), 0700));
    auto made = RunAndCapture({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C",
                               "tenon " + host.target, "-f", pair.file},
                              "", "", kKeygenMs, 4096);
    if (!made.ok()) return std::move(made).error().Wrap("make a key");
    if (made->status.AsShell() != 0) {
      return Unavailable("make a key: " + ForTerminal(Trim(made->err.substr(0, 300))));
    }
  }
  TENON_TRY(const std::string text, ReadFile(pair.file + ".pub", 64 << 10));
  pair.public_line = Trim(text);
  return pair;
}

Status InstallPublicKey(Context& context, HostRecord host, GivenSecrets* secrets,
                        const std::string& public_line) {
  host.identity_file.clear();  // the new one is not known there yet
  TENON_TRY(const std::unique_ptr<SshMachine> reached, ReachOnTrial(context, host, secrets));
  TENON_TRY(const CaptureResult done,
            reached->host().Run({"/bin/sh", "-c", kInstallScript}, public_line + "\n", kInstallMs));
  if (done.status.AsShell() != 0) {
    return Unavailable("put the key into ~/.ssh/authorized_keys of " + Login(host) + ": " +
                       ForTerminal(Trim(done.err.substr(0, 300))));
  }
  reached->Disconnect();  // the next login is to be with the key
  return {};
}

}  // namespace tenon::engine
