// SPDX-License-Identifier: Apache-2.0
// The other machines that targets lead to, as remembered here: <home>/hosts/<id>.json, and the
// pinned host key beside it. No secret is in either.
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
  // All targets that have led here, as (project_root, target); the two above are the last.
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
  std::string root;        // the folder of ours on it, once found
  std::string machine;     // uname -m
  json::Object facts;      // the answer to `probe` (docs/runner.md); empty: not asked yet
  std::string acked_tree;  // root of the last tree it was known to have whole
  std::string boot_id;
  int64_t attached_us = 0;
  int64_t last_heard_us = 0;  // by our clock
  // whenIdle of the target: after how long, and what is run then. "" = nothing.
  int64_t idle_after_us = 0;
  std::string idle_command;
  bool idle_watch_given = false;  // a watcher that we asked for may be there

  // The far Tenon home, below `root`.
  std::string FarHome() const { return root + "/host"; }
  std::string Alias() const { return "tenon-" + id; }
};

// kNotFound: no such host.
Result<HostRecord> ReadHost(const run::Home& home, const std::string& id);
// Its target was detached since, or it never was known.
bool IsDetached(const run::Home& home, const std::string& id);
// Whole and durable; members another process wrote meanwhile are lost, so read shortly before. Only
// `users` and `idle_watch_given` of a record that is there are kept.
Status WriteHost(const run::Home& home, const HostRecord& host);
// Reads, lets `change` work on it, writes, all under a lock. A host that is not there is kNotFound.
Status UpdateHost(const run::Home& home, const std::string& id,
                  const std::function<void(HostRecord&)>& change);
// The environment a script begins with on that machine: that of a login there.
Environment LoginEnvironment(const HostRecord& host);
// Its target and project_root become one of its users.
void NoteUser(HostRecord* host);
// Remembers that the host has answered; no more than that is lost where it cannot be written.
void NoteHeard(const run::Home& home, const std::string& id, int64_t now_us);
// By target. `unreadable`: gets the ids of those whose records are damaged; without it that is an
// Error.
Result<std::vector<HostRecord>> ListHosts(const run::Home& home,
                                          std::vector<std::string>* unreadable = nullptr);
// Removes the record and the pinned key.
Status ForgetHost(const run::Home& home, const std::string& id);

// The hex digits of a `password:` reference of any form, or of user@address:port when there is
// none.
std::string HostIdOf(const std::string& password_reference, const std::string& user,
                     const std::string& address, int port);

// What ssh needs to know; the pinned key is written to its file when there is one.
Result<transport::SshTarget> SshTargetOf(const run::Home& home, const HostRecord& host);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_HOST_HOSTS_H_
