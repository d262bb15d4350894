// SPDX-License-Identifier: Apache-2.0
#include "cli/targets/target_host.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/parse/options.h"
#include "cli/print/ask.h"
#include "cli/print/facts.h"
#include "cli/print/print.h"
#include "project/files/password.h"
#include "project/types.h"
#include "secrets/store.h"

namespace tenon::cli {
namespace {

using engine::HostRecord;

// What the target's file says about the machine.
Result<HostRecord> FromFile(const project::Project& project, const project::Target& target) {
  const project::TargetType* type = project::FindTargetType(target.type.value);
  if (type == nullptr || type->host == project::HostKind::kHere) {
    return Invalid("target `" + OneLine(target.name) + "` is this machine");
  }
  if (!target.wrong_types.empty()) return target.wrong_types.front();
  if (!target.unfinished.empty()) return target.unfinished.front();
  Result<engine::MachineAddress> address = engine::ParseMachineAddress(target.address.value);
  if (!address.ok()) return std::move(address).error().Wrap(target.address.origin.Text());
  HostRecord host;
  host.target = target.name;
  host.project_root = project.root;
  host.type = target.type.value;
  host.address = address->host;
  host.port = target.port.value != 0 ? static_cast<int>(target.port.value) : address->port;
  host.user = target.username.value.empty() ? address->user : target.username.value;
  if (!host.user.empty()) {
    const Status good = engine::CheckLoginName(host.user);
    if (!good.ok()) return Error(good.error()).Wrap(target.username.origin.Text());
  }
  host.asked_root = target.tenon_directory.value;
  host.idle_after_us = target.idle_after_us.value;
  host.idle_command = target.idle_command;
  host.id = engine::HostIdOf(target.password_reference, host.user, host.address, host.port);
  return host;
}

// Stores a password in clear text, because ssh's questions are answered from the store.
Status TakeClearText(Session& session, const project::Project& project,
                     const project::Target& target, const HostRecord& host) {
  if (target.password.value != project::PasswordForm::kClearText) return {};
  PrintErr("warning: " + OneLine(target.password.origin.Text()) +
           ": the password stands there in clear text; `tenon secrets import " +
           ShellQuote(target.name) + "` moves it into your encrypted store\n");
  TENON_TRY(const auto password, project::ReadClearTextPassword(project, target.name));
  if (!password) return {};
  TENON_TRY(engine::Context * context, session.Context());
  return engine::KeepPassword(*context, host, *password);
}

bool IsTarget(const std::string& project_root, const std::string& target) {
  project::Project project;
  project.root = project_root;
  return project::ConfigFile(project, target, ".compute").has_value();
}

// Shows the key, and asks about it unless an option accepts it.
bool AskAboutKey(bool accept, const HostRecord& host, const engine::HostKey& key, bool changed) {
  const std::string place = engine::PlaceText(host);
  if (accept) {
    PrintErr("host key of " + place + ": " + key.type + " " + key.fingerprint + ", accepted\n");
    return true;
  }
  PrintErr("The machine at " + place + " shows the host key\n  " + key.type + " " +
           key.fingerprint + "\n");
  if (changed) PrintErr("WARNING: It is not the key you agreed to before!\n");
  return AskYesOnTerminal("Is that the right machine?");
}

// The names in an array. Equal names in a row get a count: "2 × Tesla K80".
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

bool HasReference(const project::Target& target) {
  return target.password.value == project::PasswordForm::kReference;
}

std::string HostIdForTarget(const run::Home& home, const project::Target& target) {
  const auto host = FromFile(project::Project(), target);
  return host.ok() ? engine::HostIdOfPlace(home, *host) : std::string();
}

bool IsLeftBehind(const run::Home& home, const HostRecord& host) {
  project::Project project;
  project.root = host.project_root;
  const auto target = project::ReadTarget(project, host.target);
  const std::string id = target.ok() ? HostIdForTarget(home, *target) : std::string();
  return !id.empty() && id != host.id;
}

Result<HostRecord> HostForTarget(Session& session, const project::Project& project,
                                 const project::Target& target) {
  TENON_TRY(HostRecord file, FromFile(project, target));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::FindPlace(*context, &file));
  TENON_TRY_VOID(TakeClearText(session, project, target, file));
  return engine::RememberedHost(*context, file, IsTarget);
}

Result<HostRecord> KnownHostForTarget(Session& session, const project::Project& project,
                                      const project::Target& target) {
  TENON_TRY(HostRecord host, HostForTarget(session, project, target));
  if (!host.host_key.empty()) return host;
  return Denied("the machine of target `" + OneLine(target.name) + "` (" + engine::PlaceText(host) +
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
  if (!learned.ok())
    return engine::ExplainDenied(std::move(learned).error(), host, HasReference(target));
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
  engine::KeyAgreement how;
  if (!options.expected.empty()) {
    TENON_TRY(how.expected, engine::NormalFingerprint(options.expected));
  }
  if (options.accept || HasTerminal()) {
    how.ask = [&, place = *host](const engine::HostKey& key, bool changed) {
      return AskAboutKey(options.accept, place, key, changed);
    };
  }
  TENON_TRY(engine::Context * context, session.Context());
  return engine::AgreeOnHostKey(*context, how, host);
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
