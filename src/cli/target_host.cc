// SPDX-License-Identifier: Apache-2.0
#include "cli/target_host.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/facts.h"
#include "cli/options.h"
#include "cli/print.h"
#include "project/password.h"
#include "project/types.h"
#include "secrets/store.h"

namespace tenon::cli {
namespace {

using engine::HostRecord;

constexpr size_t kManyUsers = 32;

// What the file says about the machine.
Result<HostRecord> FromFile(const project::Project& project, const project::Target& target) {
  const project::TargetType* type = project::FindTargetType(target.type.value);
  if (type == nullptr || type->host == project::HostKind::kHere) {
    return Invalid("target `" + OneLine(target.name) + "` is this machine");
  }
  if (!target.wrong_types.empty()) return target.wrong_types.front();
  if (!target.unfinished.empty()) return target.unfinished.front();
  Result<engine::SshAddress> address = engine::ParseSshAddress(target.address.value);
  if (!address.ok()) return std::move(address).error().Wrap(target.address.origin.Text());
  HostRecord host;
  host.target = target.name;
  host.project_root = project.root;
  host.type = target.type.value;
  host.address = address->host;
  host.port = target.port.value != 0 ? static_cast<int>(target.port.value) : address->port;
  host.user = target.username.value.empty() ? address->user : target.username.value;
  if (!host.user.empty()) {
    const Status good = engine::CheckSshUser(host.user);
    if (!good.ok()) return Error(good.error()).Wrap(target.username.origin.Text());
  }
  host.asked_root = target.tenon_directory.value;
  host.idle_after_us = target.idle_after_us.value;
  host.idle_command = target.idle_command;
  host.id = engine::HostIdOf(target.password_reference, host.user, host.address, host.port);
  return host;
}

bool IsSamePlace(const HostRecord& a, const HostRecord& b) {
  return a.user == b.user && a.asked_root == b.asked_root;
}

// The id that leads to the place the file names.
std::string IdOf(const run::Home& home, const HostRecord& file) {
  const auto attached = engine::ReadHost(home, file.id);
  if (!attached.ok() || IsSamePlace(*attached, file)) return file.id;
  return Sha256Of(file.id + '\0' + file.user + '\0' + file.asked_root).Hex().substr(0, 32);
}

// What was learned, with what the file says now.
HostRecord Merged(HostRecord known, const HostRecord& file) {
  known.target = file.target;
  known.project_root = file.project_root;
  known.type = file.type;
  known.address = file.address;
  known.port = file.port;
  known.idle_after_us = file.idle_after_us;
  known.idle_command = file.idle_command;
  engine::NoteUser(&known);
  // Of projects that come and go only those that are there.
  if (known.users.size() > kManyUsers) {
    std::erase_if(known.users, [](const std::pair<std::string, std::string>& user) {
      project::Project other;
      other.root = user.first;
      return !project::ConfigFile(other, user.second, ".compute");
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

// A password in clear text goes into the store, where ssh's questions are answered from.
Status TakeClearText(Session& session, const project::Project& project,
                     const project::Target& target, const HostRecord& host) {
  if (target.password.value != project::PasswordForm::kClearText) return {};
  PrintErr("warning: " + OneLine(target.password.origin.Text()) +
           ": the password stands there in clear text; `tenon secrets import " +
           ShellQuote(target.name) + "` moves it into your encrypted store\n");
  TENON_TRY(const auto password, project::ReadClearTextPassword(project, target.name));
  if (!password) return {};
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::EnsureHome(context->home));
  secrets::Store store(context->home.root());
  const std::string name = secrets::PasswordName(host.id);
  const auto stored = store.Get(name);
  if (stored.ok() && *stored == password) return {};
  return store.Set(name, *password, "password of " + target.name + ", from its file");
}

std::string Normal(std::string fingerprint) {
  fingerprint = Trim(fingerprint);
  while (fingerprint.ends_with('=')) fingerprint.pop_back();
  return fingerprint.starts_with("SHA256:") ? fingerprint : "SHA256:" + fingerprint;
}

Status CheckFingerprintOption(const std::string& text) {
  const std::string normal = Normal(text);
  const bool good =
      normal.size() == 7 + 43 && normal.find_first_not_of(
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789+/",
                                     7) == std::string::npos;
  if (good) return {};
  return Invalid("--host-key: `" + OneLine(text) + "` is not a fingerprint")
      .WithHint(
          "write SHA256:… as `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` shows it on "
          "the machine");
}

std::string Place(const HostRecord& host) {
  return OneLine(host.address) + (host.port != 0 ? ":" + std::to_string(host.port) : "");
}

Status Decide(const HostKeyOptions& options, const engine::HostKey& key, const HostRecord& host) {
  if (!options.expected.empty()) {
    if (Normal(options.expected) == key.fingerprint) return {};
    return Denied("the machine at " + Place(host) + " shows the host key " + key.fingerprint +
                  ", not the one of --host-key; nothing was sent to it")
        .WithHint("if the address is right, somebody may be in between");
  }
  if (options.accept) {
    PrintErr("host key of " + Place(host) + ": " + key.type + " " + key.fingerprint +
             ", accepted\n");
    return {};
  }
  const std::string changed =
      host.host_key.empty() ? "" : " It is not the key you agreed to before!";
  if (!HasTerminal()) {
    return Denied("the machine at " + Place(host) + " shows the host key " + key.fingerprint +
                  " (" + key.type + "), and nobody is here to agree to it; nothing was sent." +
                  changed)
        .WithHint(
            "compare it with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the "
            "machine, then add --host-key " +
            key.fingerprint);
  }
  PrintErr("The machine at " + Place(host) + " shows the host key\n  " + key.type + " " +
           key.fingerprint + "\n");
  if (!changed.empty()) PrintErr("WARNING:" + changed + "\n");
  if (AskYesOnTerminal("Is that the right machine?")) return {};
  return Denied("the host key was not agreed to; nothing was sent");
}

// `attach -k` puts the pair under the machine's id.
bool HasOwnKey(const HostRecord& host) { return host.identity_file.ends_with("/keys/" + host.id); }

Error WithOwnKey(Error error, const HostRecord& host) {
  if (error.message.find("permission denied") == std::string::npos) return error;
  error.message += "; the machine does not know the key of this target yet";
  const auto line = ReadFile(host.identity_file + ".pub", 64 << 10);
  if (line.ok()) {
    error.hint = "append this line to ~/.ssh/authorized_keys there: " + OneLine(Trim(*line));
  }
  return error;
}

std::string Named(const json::Array& array, const char* member) {
  std::vector<std::string> names;
  for (const json::Value& item : array) {
    if (const json::Object* object = item.if_object()) {
      names.push_back(json::DecodeBytes(json::GetString(*object, member)));
    }
  }
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (!out.empty() && out.back().ends_with(name)) {
      const size_t times = out.back().find(" × ");
      const int n = times == std::string::npos ? 1 : std::atoi(out.back().c_str());
      out.back() = std::to_string(n + 1) + " × " + name;
    } else {
      out.push_back(name);
    }
  }
  return Join(out, ", ");
}

std::string Engines(const json::Object& facts) {
  const json::Array* engines = json::GetArray(facts, "engines");
  std::vector<std::string> words;
  for (const json::Value& item : engines != nullptr ? *engines : json::Array()) {
    const json::Object* engine = item.if_object();
    if (engine == nullptr) continue;
    const std::string how = json::GetString(*engine, "how");
    const std::string kind = json::GetString(*engine, "kind");
    const std::string version = json::GetString(*engine, "version");
    const std::string problem = json::DecodeBytes(json::GetString(*engine, "problem"));
    std::string word = kind + (version.empty() ? "" : " " + version);
    if (how == "sudo") word += " (through sudo)";
    if (how == "none") word += problem.empty() ? ": not usable" : ": " + problem;
    words.push_back(word);
  }
  return words.empty() ? "none found" : Join(words, "; ");
}

}  // namespace

std::string HostIdForTarget(const run::Home& home, const project::Target& target) {
  const auto host = FromFile(project::Project(), target);
  return host.ok() ? IdOf(home, *host) : std::string();
}

bool IsLeftBehind(const run::Home& home, const HostRecord& host) {
  project::Project project;
  project.root = host.project_root;
  const auto target = project::ReadTarget(project, host.target);
  const std::string id = target.ok() ? HostIdForTarget(home, *target) : std::string();
  return !id.empty() && id != host.id;
}

Status InheritHost(Session& session, HostRecord known, const HostRecord& file) {
  TENON_TRY(engine::Context * context, session.Context());
  engine::GivenSecrets same_users;
  if (known.user == file.user) {
    secrets::Store store(context->home.root());
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
  return engine::RememberHost(*context, std::move(known), same_users);
}

Result<HostRecord> HostForTarget(Session& session, const project::Project& project,
                                 const project::Target& target) {
  TENON_TRY(HostRecord file, FromFile(project, target));
  TENON_TRY(engine::Context * context, session.Context());
  if (const std::string id = IdOf(context->home, file); id != file.id) {
    TENON_TRY(const HostRecord attached, engine::ReadHost(context->home, file.id));
    file.id = id;
    if (engine::IsDetached(context->home, id)) {
      TENON_TRY_VOID(InheritHost(session, attached, file));
    }
  }
  TENON_TRY_VOID(TakeClearText(session, project, target, file));
  Result<HostRecord> known = engine::ReadHost(context->home, file.id);
  if (!known.ok() && known.error().kind != ErrorKind::kNotFound) return known;
  HostRecord host = known.ok() ? Merged(*known, file) : file;
  host.has_password = false;
  TENON_TRY(const auto stored, secrets::Store(context->home.root()).List());
  for (const auto& entry : stored) {
    if (entry.name == secrets::PasswordName(host.id)) host.has_password = true;
  }
  if (known.ok() && !SaysTheSame(*known, host)) {
    TENON_TRY_VOID(engine::UpdateHost(context->home, host.id, [&](HostRecord& record) {
      record = Merged(record, file);
      record.has_password = host.has_password;
    }));
  }
  return host;
}

Result<HostRecord> KnownHostForTarget(Session& session, const project::Project& project,
                                      const project::Target& target) {
  TENON_TRY(HostRecord host, HostForTarget(session, project, target));
  if (!host.host_key.empty()) return host;
  return Denied("the machine of target `" + OneLine(target.name) + "` (" + Place(host) +
                ") is not known here yet: nobody has agreed to its host key")
      .WithHint("`tenon computetarget test " + ShellQuote(target.name) +
                "` shows the key, asks, and looks at the machine");
}

Result<std::string> HostOfTarget(Session& session, const project::Project& project,
                                 const project::Target& target) {
  const project::TargetType* type = project::FindTargetType(target.type.value);
  if (type == nullptr || type->host == project::HostKind::kHere) return std::string();
  TENON_TRY(HostRecord host, HostForTarget(session, project, target));
  if (!host.host_key.empty()) return host.id;
  if (!HasTerminal()) {
    TENON_TRY(const HostRecord known, KnownHostForTarget(session, project, target));
    return known.id;
  }
  TENON_TRY_VOID(AgreeOnHostKey(session, {}, &host));
  TENON_TRY(engine::Context * context, session.Context());
  engine::GivenSecrets given;
  Result<HostRecord> learned = engine::TryHost(*context, host, &given);
  if (!learned.ok()) return ExplainDenied(std::move(learned).error(), target, host);
  TENON_TRY_VOID(engine::RememberHost(*context, *learned, given));
  return host.id;
}

void AddHostKeyOptions(OptionTable& table, HostKeyOptions* options) {
  table
      .Add("--host-key", &options->expected,
           "The machine must show the host key of this fingerprint (SHA256:…)")
      .Type("FINGERPRINT");
  table.Flag("--accept-host-key", &options->accept, "Agree to whatever host key it shows now");
}

Status AgreeOnHostKey(Session& session, const HostKeyOptions& options, HostRecord* host) {
  if (!options.expected.empty()) TENON_TRY_VOID(CheckFingerprintOption(options.expected));
  TENON_TRY(engine::Context * context, session.Context());
  const std::string wanted = options.expected.empty() ? "" : Normal(options.expected);
  TENON_TRY(const engine::HostKey key, engine::LookAtHost(*context, *host, wanted));
  if (host->host_key == key.line && options.expected.empty()) return {};
  TENON_TRY_VOID(Decide(options, key, *host));
  host->host_key = key.line;
  return {};
}

Error ExplainDenied(Error error, const project::Target& target, const HostRecord& host) {
  const bool ours_lacks = error.kind == ErrorKind::kDenied && !host.has_password &&
                          target.password.value == project::PasswordForm::kReference &&
                          error.message.find("host key") == std::string::npos;
  if (!ours_lacks) return error;
  if (HasOwnKey(host)) return WithOwnKey(std::move(error), host);
  error.message +=
      "; the password of this target, if it has one, lies in the keyring of whoever "
      "attached it";
  error.hint = "`tenon secrets set " + ShellQuote(target.name) +
               "` stores yours, or attach it "
               "again with --force";
  return error;
}

std::string FactsText(const HostRecord& host) {
  const json::Object& facts = host.facts;
  Facts lines;
  const auto add = [&](const char* what, const std::string& value) {
    lines.Add(what, OneLine(value));
  };
  add("machine", host.address);
  const auto text = [&](const char* key) { return json::DecodeBytes(json::GetString(facts, key)); };
  const auto bytes = [&](const char* key) {
    const int64_t n = json::GetInt(facts, key);
    return n > 0 ? HumanBytes(static_cast<uint64_t>(n)) : std::string();
  };
  add("name", text("host"));
  add("system", text("os") + ", Linux " + text("kernel") + ", " + text("machine"));
  add("cores, memory", std::to_string(json::GetInt(facts, "cpus")) + ", " + bytes("memory_bytes"));
  const auto free = static_cast<uint64_t>(json::GetInt(facts, "disk_free_bytes"));
  add("disk", HumanBytes(free) + " free of " + bytes("disk_total_bytes") +
                  (host.root.empty() ? "" : " (" + host.root + ")"));
  add("home folder",
      text("home_problem").empty() ? "" : "nothing can be made in it: " + text("home_problem"));
  add("login shell",
      text("shell") + (text("login_problem").empty()
                           ? ""
                           : "; its environment could not be read: " + text("login_problem")));
  add("containers", Engines(facts));
  const json::Array* gpus = json::GetArray(facts, "gpus");
  const std::string driver = text("gpu_driver");
  add("GPU", gpus != nullptr && !gpus->empty()
                 ? Named(*gpus, "name") + (driver.empty() ? "" : ", driver " + driver)
                 : (text("gpu_problem").empty() ? "none found" : text("gpu_problem")));
  const json::Array* pythons = json::GetArray(facts, "pythons");
  std::vector<std::string> found;
  for (const json::Value& item : pythons != nullptr ? *pythons : json::Array()) {
    if (const json::Object* python = item.if_object()) {
      found.push_back(json::DecodeBytes(json::GetString(*python, "path")) + " (" +
                      json::GetString(*python, "version") + ")");
    }
  }
  add("Python", found.empty() ? "none found" : Join(found, ", "));
  add("conda", text("conda"));
  add("uv", text("uv"));
  if (json::GetString(facts, "kills_at_logout") == "yes") {
    add("at logout", "this machine ends your processes: " + text("kills_reason"));
  }
  return lines.ToText();
}

json::Object FactsJson(const HostRecord& host) {
  json::Object out;
  json::Array names;
  for (const auto& [key, value] : host.facts) {
    if (key != "login_environment") out[key] = value;
  }
  if (const json::Object* environment = json::GetObject(host.facts, "login_environment")) {
    for (const auto& [key, value] : *environment) names.emplace_back(key);
    out["login_path"] = json::GetString(*environment, "PATH");
  }
  out["login_environment_names"] = std::move(names);
  out["tenon_directory"] = json::EncodeBytes(host.root);
  return out;
}

json::Object HostKeyJson(const HostRecord& host) {
  const auto key = engine::ParseHostKey(host.host_key);
  if (!key.ok()) return {};
  return {{"type", key->type}, {"fingerprint", key->fingerprint}};
}

}  // namespace tenon::cli
