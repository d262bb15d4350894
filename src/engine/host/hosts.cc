// SPDX-License-Identifier: Apache-2.0
#include "engine/host/hosts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "run/members.h"

namespace tenon::engine {
namespace {

constexpr size_t kIdDigits = 32;
constexpr size_t kMaxRecord = 4u << 20;
constexpr int64_t kHeardStepUs = 10'000'000;
// sockaddr_un has 108 bytes, and ssh adds 17 for the name it first binds.
constexpr size_t kLongestSocket = 90;

std::string FileOf(const run::Home& home, const std::string& id) {
  return JoinPath(home.hosts(), id + ".json");
}

bool IsHostId(std::string_view id) {
  return id.size() == kIdDigits &&
         id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void AddUser(HostRecord* host, const std::pair<std::string, std::string>& user) {
  auto& users = host->users;
  if (std::find(users.begin(), users.end(), user) == users.end()) users.push_back(user);
}

json::Object ToJson(const HostRecord& host) {
  return {{"id", host.id},
          {"target", json::EncodeBytes(host.target)},
          {"project_root", json::EncodeBytes(host.project_root)},
          {"users", run::ToJsonPairs(host.users)},
          {"type", host.type},
          {"address", json::EncodeBytes(host.address)},
          {"port", host.port},
          {"user", json::EncodeBytes(host.user)},
          {"identity_file", json::EncodeBytes(host.identity_file)},
          {"has_password", host.has_password},
          {"host_key", host.host_key},
          {"asked_root", json::EncodeBytes(host.asked_root)},
          {"root", json::EncodeBytes(host.root)},
          {"machine", host.machine},
          {"facts", host.facts},
          {"acked_tree", host.acked_tree},
          {"boot_id", host.boot_id},
          {"attached_us", host.attached_us},
          {"last_heard_us", host.last_heard_us},
          {"idle_after_us", host.idle_after_us},
          {"idle_command", json::EncodeBytes(host.idle_command)},
          {"idle_watch_given", host.idle_watch_given}};
}

Result<HostRecord> FromJson(const json::Object& object) {
  HostRecord host;
  run::Members in(object);
  int64_t port = 0;
  in.Read("id", host.id);
  in.Read("target", host.target);
  in.Read("project_root", host.project_root);
  in.Read("users", host.users);
  in.Read("type", host.type);
  in.Read("address", host.address);
  in.Read("port", port);
  in.Read("user", host.user);
  in.Read("identity_file", host.identity_file);
  in.Read("has_password", host.has_password);
  in.Read("host_key", host.host_key);
  in.Read("asked_root", host.asked_root);
  in.Read("root", host.root);
  in.Read("machine", host.machine);
  if (const json::Object* facts = in.ReadObject("facts")) host.facts = *facts;
  in.Read("acked_tree", host.acked_tree);
  in.Read("boot_id", host.boot_id);
  in.Read("attached_us", host.attached_us);
  in.Read("last_heard_us", host.last_heard_us);
  in.Read("idle_after_us", host.idle_after_us);
  in.Read("idle_command", host.idle_command);
  host.idle_watch_given = host.idle_after_us > 0;  // the default for older records
  in.Read("idle_watch_given", host.idle_watch_given);
  TENON_TRY_VOID(in.status());
  if (host.users.empty()) NoteUser(&host);
  host.port = static_cast<int>(port);
  if (!IsHostId(host.id)) return Corrupt("it names no host");
  return host;
}

Result<HostRecord> ReadFrom(const std::string& path) {
  TENON_TRY(const std::string text, ReadFile(path, kMaxRecord));
  auto value = json::Parse(text);
  auto host = value.ok() && value->is_object()
                  ? FromJson(value->get_object())
                  : Result<HostRecord>(Corrupt("it is no JSON object"));
  if (host.ok()) return host;
  return Corrupt(path + " is damaged: " + host.error().message)
      .WithHint("delete it and attach the target again");
}

// Durability::kWhole: what the record holds can't be found out again without the user.
Status Put(const run::Home& home, HostRecord host) {
  NoteUser(&host);
  return WriteFileAtomically(FileOf(home, host.id), json::PrintPretty(ToJson(host)) + "\n", 0600,
                             Durability::kWhole);
}

// Whether only the time differs, by at most kHeardStepUs.
bool IsNoNews(const HostRecord& before, const HostRecord& after) {
  if (std::abs(after.last_heard_us - before.last_heard_us) > kHeardStepUs) return false;
  HostRecord same_time = after;
  same_time.last_heard_us = before.last_heard_us;
  return json::Print(ToJson(same_time)) == json::Print(ToJson(before));
}

// A folder for sockets that has a short path and that only this user can use. "": there is none.
std::string SocketFolder(const run::Home& home) {
  const char* runtime = ::getenv("XDG_RUNTIME_DIR");
  std::vector<std::string> candidates;
  if (runtime != nullptr && *runtime == '/') candidates.push_back(JoinPath(runtime, "tenon"));
  candidates.push_back(JoinPath(home.root(), "ssh"));
  candidates.push_back("/tmp/tenon-ssh-" + std::to_string(::geteuid()));
  for (const std::string& folder : candidates) {
    if (folder.size() + 1 + kIdDigits > kLongestSocket || !MakeDirs(folder, 0700).ok()) continue;
    struct stat st {};
    if (::lstat(folder.c_str(), &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == ::geteuid() &&
        (st.st_mode & 077) == 0 && ::access(folder.c_str(), W_OK) == 0) {
      return folder;
    }
  }
  return "";
}

}  // namespace

Result<HostRecord> ReadHost(const run::Home& home, const std::string& id) {
  if (!IsHostId(id)) return Invalid(ForTerminal(id) + " is not the id of a host");
  auto host = ReadFrom(FileOf(home, id));
  if (!host.ok() && host.error().kind == ErrorKind::kNotFound) {
    return NotFound("the machine of this target is not known here")
        .WithHint(
            "attach the machine again, or `tenon computetarget test NAME` if its target is still "
            "there; then `tenon runs fetch -t NAME` finds its runs");
  }
  return host;
}

bool IsDetached(const run::Home& home, const std::string& id) {
  const auto host = ReadHost(home, id);
  return !host.ok() && host.error().kind == ErrorKind::kNotFound;
}

Status WriteHost(const run::Home& home, const HostRecord& host) {
  TENON_CHECK(IsHostId(host.id));
  TENON_TRY_VOID(MakeDirs(home.hosts(), 0700));
  HostRecord whole = host;
  if (const auto before = ReadFrom(FileOf(home, host.id)); before.ok()) {
    whole.users = before->users;
    for (const auto& user : host.users) AddUser(&whole, user);
    whole.idle_watch_given = host.idle_watch_given || before->idle_watch_given;
  }
  return Put(home, std::move(whole));
}

Status UpdateHost(const run::Home& home, const std::string& id,
                  const std::function<void(HostRecord&)>& change) {
  TENON_TRY_VOID(ReadHost(home, id));
  TENON_TRY(const auto lock, FileLock::Take(JoinPath(home.hosts(), id + ".lock"), true));
  TENON_TRY(const HostRecord before, ReadHost(home, id));
  HostRecord host = before;
  change(host);
  NoteUser(&host);
  return IsNoNews(before, host) ? Status() : Put(home, std::move(host));
}

Environment LoginEnvironment(const HostRecord& host) {
  Environment environment;
  if (const json::Object* told = json::GetObject(host.facts, "login_environment")) {
    for (const auto& [name, value] : *told) {
      if (value.is_string()) {
        environment[json::DecodeBytes(name)] =
            json::DecodeBytes(std::string_view(value.get_string()));
      }
    }
  }
  return environment;
}

void NoteUser(HostRecord* host) { AddUser(host, {host->project_root, host->target}); }

void NoteHeard(const run::Home& home, const std::string& id, int64_t now_us) {
  (void)UpdateHost(home, id, [&](HostRecord& host) { host.last_heard_us = now_us; }).ok();
}

Result<std::vector<HostRecord>> ListHosts(const run::Home& home,
                                          std::vector<std::string>* unreadable) {
  std::vector<HostRecord> hosts;
  auto names = ListDir(home.hosts());
  if (!names.ok()) {
    if (names.error().kind == ErrorKind::kNotFound) return hosts;
    return std::move(names).error();
  }
  for (const std::string& name : *names) {
    const std::string id = name.substr(0, name.size() - std::min<size_t>(name.size(), 5));
    if (!name.ends_with(".json") || !IsHostId(id)) continue;
    auto host = ReadFrom(JoinPath(home.hosts(), name));
    if (host.ok()) {
      hosts.push_back(*std::move(host));
    } else if (unreadable != nullptr) {
      unreadable->push_back(id);
    } else {
      return std::move(host).error();
    }
  }
  std::sort(hosts.begin(), hosts.end(), [](const HostRecord& a, const HostRecord& b) {
    return std::tie(a.target, a.address, a.id) < std::tie(b.target, b.address, b.id);
  });
  return hosts;
}

Status ForgetHost(const run::Home& home, const std::string& id) {
  if (!IsHostId(id)) return Invalid(ForTerminal(id) + " is not the id of a host");
  for (const char* suffix : {".json", ".known_hosts", ".lock"}) {
    TENON_TRY_VOID(RemoveFile(JoinPath(home.hosts(), id + suffix)));
  }
  return {};
}

std::string HostIdOf(const std::string& password_reference, const std::string& user,
                     const std::string& address, int port) {
  // The forms: AzureMlSecret=<target>#<user>#<32 hex>, AzureMlSecret=<guid>,
  // <guid>#<target>#<user>, …
  std::string reference = password_reference;
  if (reference.starts_with("AzureMlSecret=")) reference.erase(0, 14);
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= reference.size();) {
    const size_t end = std::min(reference.find('#', begin), reference.size());
    parts.push_back(ToLower(reference.substr(begin, end - begin)));
    begin = end + 1;
  }
  std::reverse(parts.begin(), parts.end());
  for (std::string& part : parts) {
    std::erase(part, '-');
    if (IsHostId(part)) return part;
  }
  return Sha256Of(user + "@" + address + ":" + std::to_string(port)).Hex().substr(0, kIdDigits);
}

Result<transport::SshTarget> SshTargetOf(const run::Home& home, const HostRecord& host) {
  transport::SshTarget target;
  target.name = host.target;
  target.address = host.address;
  target.port = host.port;
  target.user = host.user;
  target.alias = host.Alias();
  target.identity_file = host.identity_file;
  if (!host.host_key.empty()) {
    target.known_hosts = JoinPath(home.hosts(), host.id + ".known_hosts");
    const std::string line = host.Alias() + " " + host.host_key + "\n";
    auto present = ReadFile(target.known_hosts);
    if (!present.ok() || *present != line) {
      TENON_TRY_VOID(MakeDirs(home.hosts(), 0700));
      TENON_TRY_VOID(WriteFileAtomically(target.known_hosts, line, 0600, Durability::kProcess));
    }
  }
  // The name covers all of these, so that two homes, users or addresses never share a connection.
  const std::string sockets = SocketFolder(home);
  if (!sockets.empty()) {
    const std::string whose = home.root() + "\n" + host.id + "\n" + host.user + "@" + host.address +
                              ":" + std::to_string(host.port) + "\n" + host.identity_file + "\n" +
                              host.host_key;
    target.control_path = JoinPath(sockets, Sha256Of(whose).Hex().substr(0, 16));
  }
  return target;
}

}  // namespace tenon::engine
