// SPDX-License-Identifier: Apache-2.0
#include "runner/agent/serve_objects.h"

#include <fcntl.h>

#include <utility>

#include "base/file.h"
#include "base/private_file.h"
#include "run/layout.h"
#include "run/private_home.h"

namespace tenon::runner {
namespace {

constexpr size_t kMaxLackingTold = 100'000;

Result<Hash> HashOf(const json::Object& request, std::string_view key) {
  const std::string hex = json::GetString(request, key);
  if (hex.empty()) return Hash{};
  const auto hash = Hash::FromHex(hex);
  if (!hash) return Invalid("reading the request: " + std::string(key) + " is no hash");
  return *hash;
}

}  // namespace

ServeObjects::Store::Store(snapshot::ObjectStore opened, const std::string& of_home)
    : home(of_home), objects(std::move(opened)), receiver(objects, run::Home(of_home).incoming()) {}

// Objects that came in before the link was cut need not come again.
ServeObjects::~ServeObjects() {
  if (store_) (void)store_->receiver.Flush().ok();
}

Result<ServeObjects::Store*> ServeObjects::StoreOf(const json::Object& request) {
  const std::string home = json::DecodeBytes(json::GetString(request, "home"));
  if (home.empty() || home[0] != '/') {
    return Invalid("reading the request: home must be an absolute path");
  }
  if (store_ && store_->home == home) return store_.get();
  if (store_) TENON_TRY_VOID(store_->receiver.Flush());
  TENON_TRY_VOID(MakeDirs(home, 0700));
  KeepFolderPrivate(home, run::kPrivateFolders);
  if (const std::string mark = JoinPath(home, kHostedMark); !Exists(mark)) {
    TENON_TRY(const UniqueFd made, OpenFile(mark, O_WRONLY | O_CREAT, 0600));
  }
  TENON_TRY(snapshot::ObjectStore objects, snapshot::ObjectStore::Open(run::Home(home).objects()));
  store_ = std::make_unique<Store>(std::move(objects), home);
  return store_.get();
}

void ServeObjects::Take(const json::Object& request, std::string_view body) {
  const auto take = [&]() -> Status {
    TENON_TRY(Store * store, StoreOf(request));
    return store->receiver.Take(request, body);
  };
  Status taken = take();
  if (!taken.ok() && !went_wrong_) went_wrong_ = std::move(taken).error();
}

Status ServeObjects::Have(const json::Object& request) {
  if (went_wrong_) return link_.Fail(*std::exchange(went_wrong_, std::nullopt));
  const auto look = [&]() -> Result<snapshot::Lacking> {
    TENON_TRY(Store * store, StoreOf(request));
    TENON_TRY(const Hash root, HashOf(request, "root"));
    TENON_TRY(const Hash base, HashOf(request, "base"));
    return snapshot::FindLacking(store->objects, root, base,
                                 run::Home(store->home).complete_trees());
  };
  auto lacking = look();
  if (!lacking.ok()) return link_.Fail(lacking.error());
  if (lacking->objects.empty()) return link_.Ok();
  std::string hashes;
  json::Object partial;
  for (const Hash& hash : lacking->objects) {
    if (hashes.size() == kMaxLackingTold * 32) break;
    hashes += hash.raw();
    const uint64_t bytes = store_->receiver.PartialBytes(hash);
    if (bytes > 0) partial[hash.Hex()] = bytes;
  }
  return link_.Send(
      {{"ok", false}, {"lacks", lacking->objects.size()}, {"partial", std::move(partial)}}, hashes);
}

Status ServeObjects::SendObjects(const json::Object& request) {
  TENON_TRY(Store * store, StoreOf(request));
  const json::Array* wants = json::GetArray(request, "wants");
  if (wants == nullptr) return Invalid("reading the request: it wants nothing");
  snapshot::ObjectSender sender(store->objects,
                                [this](const json::Object& head, const std::string& body) {
                                  note_use_();
                                  return link_.Send(head, body);
                                });
  for (const json::Value& value : *wants) {
    if (!value.is_object()) return Invalid("reading the request: wants has what is no object");
    TENON_TRY(const Hash hash, HashOf(value.get_object(), "hash"));
    const int64_t size = json::GetInt(value.get_object(), "size");
    const int64_t offset = json::GetInt(value.get_object(), "offset");
    if (size < 0 || offset < 0) return Invalid("reading the request: a length below nothing");
    TENON_TRY_VOID(sender.Send(hash, static_cast<uint64_t>(size), static_cast<uint64_t>(offset)));
  }
  return sender.Flush();
}

Status ServeObjects::Get(const json::Object& request) {
  Status sent = SendObjects(request);
  return sent.ok() ? link_.Ok() : link_.Fail(sent.error());
}

}  // namespace tenon::runner
