// SPDX-License-Identifier: Apache-2.0
#include "engine/host/target_host.h"

#include <utility>

#include "base/hash.h"
#include "base/terminal.h"
#include "base/text.h"
#include "secrets/store.h"

namespace tenon::engine {
namespace {

constexpr size_t kManyUsers = 32;
constexpr std::string_view kHashName = "SHA256:";
constexpr size_t kHashDigits = 43;

bool IsSamePlace(const HostRecord& a, const HostRecord& b) {
  return a.user == b.user && a.asked_root == b.asked_root;
}

// The remembered record with what the target's file says now.
HostRecord Merged(HostRecord known, const HostRecord& file, const IsTarget& is_target) {
  known.target = file.target;
  known.project_root = file.project_root;
  known.type = file.type;
  known.address = file.address;
  known.port = file.port;
  known.idle_after_us = file.idle_after_us;
  known.idle_command = file.idle_command;
  NoteUser(&known);
  // A list that grows long keeps only targets that still exist.
  if (known.users.size() > kManyUsers) {
    std::erase_if(known.users, [&](const std::pair<std::string, std::string>& user) {
      return !is_target(user.first, user.second);
    });
  }
  return known;
}

bool SaysTheSame(const HostRecord& a, const HostRecord& b) {
  return a.target == b.target && a.project_root == b.project_root && a.type == b.type &&
         a.address == b.address && a.port == b.port && a.user == b.user &&
         a.idle_after_us == b.idle_after_us && a.idle_command == b.idle_command &&
         a.asked_root == b.asked_root && a.has_password == b.has_password;
}

Status Decide(const KeyAgreement& how, const HostKey& key, const HostRecord& host) {
  const bool changed = !host.host_key.empty();
  const std::string shown =
      "the machine at " + PlaceText(host) + " shows the host key " + key.fingerprint;
  if (!how.expected.empty()) {
    if (how.expected == key.fingerprint) return {};
    return Denied(shown + ", not the one of --host-key; nothing was sent to it")
        .WithHint("if the address is right, somebody may be in between")
        .WithReason(transport::kHostKeyRefused);
  }
  if (!how.ask) {
    return Denied(shown + " (" + key.type +
                  "), and nobody is here to agree to it; nothing was sent." +
                  (changed ? " It is not the key you agreed to before!" : ""))
        .WithHint(
            "compare it with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the "
            "machine, then add --host-key " +
            key.fingerprint)
        .WithReason(transport::kHostKeyRefused);
  }
  if (how.ask(key, changed)) return {};
  return Denied("the host key was not agreed to; nothing was sent")
      .WithReason(transport::kHostKeyRefused);
}

}  // namespace

std::string PlaceText(const HostRecord& host) {
  return OneLine(host.address) + (host.port != 0 ? ":" + std::to_string(host.port) : "");
}

std::string HostIdOfPlace(const run::Home& home, const HostRecord& file) {
  const auto attached = ReadHost(home, file.id);
  if (!attached.ok() || IsSamePlace(*attached, file)) return file.id;
  return Sha256Of(file.id + '\0' + file.user + '\0' + file.asked_root).Hex().substr(0, 32);
}

Status FindPlace(Context& context, HostRecord* file) {
  const std::string id = HostIdOfPlace(context.home, *file);
  if (id == file->id) return {};
  TENON_TRY(const HostRecord attached, ReadHost(context.home, file->id));
  file->id = id;
  return IsDetached(context.home, id) ? InheritHost(context, attached, *file) : Status();
}

Status InheritHost(Context& context, HostRecord known, const HostRecord& file) {
  GivenSecrets same_users;
  if (known.user == file.user) {
    secrets::Store store(context.home.root());
    TENON_TRY(same_users.password, store.Get(secrets::PasswordName(known.id)));
    TENON_TRY(same_users.passphrase, store.Get(secrets::PassphraseName(known.id)));
  }
  if (!IsSamePlace(known, file)) {
    known.root.clear();
    known.acked_tree.clear();
    known.facts = {};
    known.idle_watch_given = false;
  }
  known.user = file.user;
  known.asked_root = file.asked_root;
  known.has_password = false;
  known.id = file.id;
  return RememberHost(context, std::move(known), same_users);
}

Result<HostRecord> RememberedHost(Context& context, const HostRecord& file,
                                  const IsTarget& is_target) {
  Result<HostRecord> known = ReadHost(context.home, file.id);
  if (!known.ok() && known.error().kind != ErrorKind::kNotFound) return known;
  HostRecord host = known.ok() ? Merged(*known, file, is_target) : file;
  host.has_password = false;
  TENON_TRY(const auto stored, secrets::Store(context.home.root()).List());
  for (const auto& entry : stored) {
    if (entry.name == secrets::PasswordName(host.id)) host.has_password = true;
  }
  if (known.ok() && !SaysTheSame(*known, host)) {
    TENON_TRY_VOID(UpdateHost(context.home, host.id, [&](HostRecord& record) {
      record = Merged(record, file, is_target);
      record.has_password = host.has_password;
    }));
  }
  return host;
}

Result<std::string> IdForAttach(Context& context, const std::optional<HostRecord>& before,
                                const HostRecord& now, bool look) {
  if (!before || before->id.empty()) return RandomHex(16);
  HostRecord old = *before;
  if (Result<HostRecord> known = ReadHost(context.home, before->id); known.ok()) {
    old = *std::move(known);
  }
  if (old.user != now.user) return RandomHex(16);
  if (!old.host_key.empty() && look) {
    HostRecord there = old;
    there.address = now.address;
    there.port = now.port;
    const auto pinned = ParseHostKey(old.host_key);
    TENON_TRY(OtherMachines * others, context.Others());
    const auto key = others->LookAtKey(context, there, pinned.ok() ? pinned->fingerprint : "");
    if (key.ok()) return key->line == old.host_key ? before->id : RandomHex(16);
  }
  return old.address == now.address && old.port == now.port ? before->id : RandomHex(16);
}

Status KeepPassword(Context& context, const HostRecord& host, const std::string& password) {
  TENON_TRY_VOID(EnsureHome(context.home));
  secrets::Store store(context.home.root());
  const std::string name = secrets::PasswordName(host.id);
  const auto stored = store.Get(name);
  if (stored.ok() && *stored == password) return {};
  return store.Set(name, password, "password of " + host.target + ", from its file");
}

Result<std::string> NormalFingerprint(const std::string& text) {
  std::string normal(Trim(text));
  while (normal.ends_with('=')) normal.pop_back();
  if (!normal.starts_with(kHashName)) normal = std::string(kHashName) + normal;
  const bool good =
      normal.size() == kHashName.size() + kHashDigits &&
      normal.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                               kHashName.size()) == std::string::npos;
  if (good) return normal;
  return Invalid("--host-key: `" + OneLine(text) + "` is not a fingerprint")
      .WithHint(
          "write SHA256:… as `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` shows it on "
          "the machine");
}

Status AgreeOnHostKey(Context& context, const KeyAgreement& how, HostRecord* host) {
  TENON_TRY(OtherMachines * others, context.Others());
  TENON_TRY(const HostKey key, others->LookAtKey(context, *host, how.expected));
  if (host->host_key == key.line && how.expected.empty()) return {};
  TENON_TRY_VOID(Decide(how, key, *host));
  host->host_key = key.line;
  return {};
}

}  // namespace tenon::engine
