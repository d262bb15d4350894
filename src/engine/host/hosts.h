// SPDX-License-Identifier: Apache-2.0
// What is remembered of the other machines that targets lead to: <home>/hosts/<id>.json, and the
// pinned host key beside it. Neither holds a secret.
#ifndef TENON_ENGINE_HOST_HOSTS_H_
#define TENON_ENGINE_HOST_HOSTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "run/layout.h"
#include "transport/ssh.h"

namespace tenon::engine {

struct HostRecord {
  std::string id;      // 32 hex digits: those of the target's `password:` reference, else derived
  std::string target;  // the target's name and project, for messages and listings
  std::string project_root;
  // All targets that have led to this machine, as (project_root, target). `target` and
  // `project_root` above are the latest.
  std::vector<std::pair<std::string, std::string>> users;
  std::string type;  // remotedocker, remote, …
  std::string address;
  int port = 0;      // 0: ssh's own choice
  std::string user;  // "": ssh's own choice
  std::string identity_file;
  bool has_password = false;  // one is in the secrets store under this id
  std::string host_key;       // pinned: "ssh-ed25519 AAAA…"; "" = not looked at yet
  std::string asked_root;     // tenonDirectory of the target; "" = ours to choose
  // Learned from the machine.
  std::string root;        // our folder on the machine, once found
  std::string machine;     // uname -m
  json::Object facts;      // the answer to `probe` (docs/runner.md); empty: not asked yet
  std::string acked_tree;  // root of the last tree the machine was known to have whole
  std::string boot_id;
  int64_t attached_us = 0;
  int64_t last_heard_us = 0;  // by our clock
  // whenIdle of the target: after how long, and which command is run then. "" = none.
  int64_t idle_after_us = 0;
  std::string idle_command;
  bool idle_watch_given = false;  // we asked for a watcher, so one may be running

  // The Tenon home on the machine, below `root`.
  std::string FarHome() const { return root + "/host"; }
  std::string Alias() const { return "tenon-" + id; }
};

// kNotFound: no such host.
Result<HostRecord> ReadHost(const run::Home& home, const std::string& id);
// Whether no record has this id: the target was detached, or the host was never known.
bool IsDetached(const run::Home& home, const std::string& id);
// Writes the record atomically and durably. What another process wrote since this record was read
// is lost, except `users` and `idle_watch_given`; so read shortly before.
Status WriteHost(const run::Home& home, const HostRecord& host);
// Reads the record, calls `change` on it and writes it, all under a lock. Writes nothing when only
// `last_heard_us` changed, by at most 10 s. Fails with kNotFound when there is no such host.
Status UpdateHost(const run::Home& home, const std::string& id,
                  const std::function<void(HostRecord&)>& change);
// The environment that scripts start with on that machine: that of a login.
Environment LoginEnvironment(const HostRecord& host);
// Adds the record's `target` and `project_root` to its `users`.
void NoteUser(HostRecord* host);
// Remembers that the host has answered. An Error is ignored: only the time is lost.
void NoteHeard(const run::Home& home, const std::string& id, int64_t now_us);
// All hosts, sorted by target. `unreadable` gets the ids of damaged records; if it is null, a
// damaged record is an Error.
Result<std::vector<HostRecord>> ListHosts(const run::Home& home,
                                          std::vector<std::string>* unreadable = nullptr);
// Removes the record and the pinned key.
Status ForgetHost(const run::Home& home, const std::string& id);

// The id for a host: the hex digits in a `password:` reference of any form. Without a reference it
// is derived from user@address:port.
std::string HostIdOf(const std::string& password_reference, const std::string& user,
                     const std::string& address, int port);

// What ssh needs to know. Writes the pinned key to its file, if the record has one.
Result<transport::SshTarget> SshTargetOf(const run::Home& home, const HostRecord& host);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_HOSTS_H_
