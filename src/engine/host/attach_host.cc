// SPDX-License-Identifier: Apache-2.0
#include "engine/host/attach_host.h"

#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "secrets/store.h"

namespace tenon::engine {
namespace {

constexpr int kKeygenMs = 30'000;

std::string KeyFile(const run::Home& home, const std::string& id) {
  return JoinPath(JoinPath(home.root(), "keys"), id);
}

// Whether the host uses the key pair that `attach -k` made for it, which is named by its id.
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

std::string LoginText(const HostRecord& host) {
  return (host.user.empty() ? "" : host.user + " on ") + host.address + " (" + host.target + ")";
}

Result<HostRecord> TryHost(Context& context, HostRecord host, GivenSecrets* secrets) {
  host.facts = {};  // asked anew
  const bool had_password = host.has_password;
  TENON_TRY(OtherMachines * others, context.Others());
  TENON_TRY(HostRecord learned, others->Try(context, std::move(host), secrets));
  learned.has_password = had_password || secrets->password.has_value();
  const std::string problem = json::DecodeBytes(json::GetString(learned.facts, "run_problem"));
  if (problem.empty()) return learned;
  return Denied("runs can't be made in " + learned.root + " of " + LoginText(host) + ": " + problem)
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
    TENON_TRY_VOID(store.Set(secrets::PasswordName(host.id), *secrets.password,
                             "password of " + LoginText(host)));
    host.has_password = true;
  }
  if (secrets.passphrase) {
    TENON_TRY_VOID(store.Set(secrets::PassphraseName(host.id), *secrets.passphrase,
                             "passphrase of " + host.identity_file + " for " + LoginText(host)));
  }
  if (host.attached_us == 0) host.attached_us = context.clock->NowUs();
  return WriteHost(context.home, host);
}

Status ForgetEverything(Context& context, const std::string& host_id) {
  if (const Result<HostRecord> host = ReadHost(context.home, host_id); host.ok()) {
    if (const auto others = context.Others(); others.ok()) (*others)->Disconnect(context, *host);
  }
  // Goes on after an Error, so that everything that can be forgotten is forgotten.
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
  if (const auto others = context.Others(); others.ok()) (*others)->Disconnect(context, host);
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

}  // namespace tenon::engine
