// SPDX-License-Identifier: Apache-2.0
#include "engine/context.h"

#include <fcntl.h>

#include "base/durable.h"
#include "base/file.h"
#include "base/private_file.h"
#include "base/text.h"
#include "engine/host/local_machine.h"
#include "engine/host/other_machines.h"
#include "engine/private_home.h"
#include "launch/direct_launch.h"
#include "launch/embedded_runner.h"
#include "launch/runner_services.h"
#include "run/private_home.h"
#include "transport/local_host.h"

namespace tenon::engine {

Result<history::HistoryStore*> Context::History() {
  if (!history_store) {
    // A home that does not exist is empty. Looking at it must not make it.
    if (!Exists(home.root())) {
      history_store = history::MakeMemoryStore();
    } else {
      TENON_TRY(history_store, history::OpenHistory(home.root()));
    }
  }
  return history_store.get();
}

Context::Context(run::Home where) : home(std::move(where)) {}
Context::~Context() = default;

Result<Machine*> Context::At(const std::string& host_id) {
  auto& found = machines[host_id];
  if (!found && host_id.empty()) {
    found = std::make_unique<LocalMachine>(*this);
  } else if (!found) {
    TENON_TRY(const HostRecord record, ReadHost(home, host_id));
    TENON_TRY(OtherMachines * way, Others());
    TENON_TRY(found, way->Reach(*this, record));
  }
  return found.get();
}

Result<OtherMachines*> Context::Others() const {
  if (others != nullptr) return others;
  return Denied("this program reaches no other machine");
}

Result<snapshot::ObjectStore*> Context::Objects() {
  if (!object_store) {
    TENON_TRY(auto store, snapshot::ObjectStore::Open(home.objects()));
    object_store = std::make_unique<snapshot::ObjectStore>(std::move(store));
  }
  return object_store.get();
}

Result<std::string> Context::ClientId() {
  constexpr const char* kNewId = "remove what lies there; the next command makes a new id";
  if (!client_id.empty()) return client_id;
  // A power cut may have taken the file or its contents back. A new id then makes this another
  // client, which does no harm.
  const auto is_lost = [](const Result<std::string>& read) {
    if (!read.ok()) return read.error().kind == ErrorKind::kNotFound;
    return Trim(*read).find_first_not_of('\0') == std::string_view::npos;
  };
  auto read = ReadFile(home.client_id(), 256);
  if (is_lost(read)) {
    // When two first submits run at once, one makes the id under the lock and the other reads it.
    TENON_TRY(auto lock, FileLock::Take(home.client_id() + ".lock", true));
    read = ReadFile(home.client_id(), 256);
    if (is_lost(read)) {
      const std::string made = RandomHex(8);
      TENON_TRY_VOID(
          WriteFileAtomically(home.client_id(), made + "\n", 0600, Durability::kProcess));
      read = made;
    }
  }
  if (!read.ok()) return std::move(read).error().WithHint(kNewId);
  client_id = Trim(*read);
  TENON_EXPECT_PEER(!client_id.empty() && client_id.find('/') == std::string::npos,
                    home.client_id() + ": not a client id; delete the file to get a new one");
  return client_id;
}

std::unique_ptr<Context> MakeLocalContext(std::string home, std::string version,
                                          OtherMachines* others) {
  auto context = std::make_unique<Context>(run::Home(home));
  context->others = others;
  context->make_another = [home, version, others] {
    return MakeLocalContext(home, version, others);
  };
  context->owned_host = std::make_unique<transport::LocalHost>();
  context->owned_calls = std::make_unique<launch::RunnerCalls>(
      *context->owned_host, std::move(home),
      launch::RunnerProgram{launch::EmbeddedRunner(), launch::EmbeddedRunnerHash(), ""});
  context->owned_launch = std::make_unique<launch::DirectLaunch>(*context->owned_calls);
  context->owned_services = std::make_unique<launch::RunnerServices>(*context->owned_calls);
  context->host = context->owned_host.get();
  context->launch = context->owned_launch.get();
  context->services = context->owned_services.get();
  context->clock = &SystemClock();
  context->version = std::move(version);
  return context;
}

std::string RunnerHash() { return std::string(launch::EmbeddedRunnerHash()); }

Status EnsureHome(const run::Home& home) {
  const bool there = IsDirectory(home.runs());
  TENON_TRY_VOID(MakeDirs(home.root(), 0700));
  KeepHomePrivate(home.root());
  TENON_TRY_VOID(MakeDirs(home.runs(), 0700));
  if (there) return {};
  // Making a run syncs the names of its own folder and of its entry in runs/, but not these names.
  TENON_TRY(const UniqueFd fd, OpenFile(home.runs(), O_RDONLY | O_DIRECTORY));
  if (NamesFollowFsync(fd.get())) return {};
  TENON_TRY_VOID(FsyncDir(home.root()));
  return FsyncDir(DirName(home.root()));
}

void KeepHomePrivate(const std::string& home) { KeepFolderPrivate(home, run::kPrivateFolders); }

}  // namespace tenon::engine
