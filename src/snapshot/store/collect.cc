// SPDX-License-Identifier: Apache-2.0
// Removing objects and joining packs. This is safe beside other processes, and they do not have to
// wait, because:
//   * readers keep packs open, and list the packs again if one is gone;
//   * a writer that relies on an old object touches its file under the shared lock (Keep). The
//     collector checks the file's time again under the exclusive lock before it unlinks the file.
//     So the file is either kept, or the writer finds that it is gone;
//   * a new pack is in place before the packs it replaces are removed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "snapshot/store/object_store_impl.h"
#include "snapshot/store/rewrite.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kJoinAtLeast = 32;

// Takes the smallest packs, as long as each is not larger than all before it together. So each byte
// is copied a number of times that grows only with the logarithm of the store's size.
std::vector<std::shared_ptr<Pack>> ChooseToJoin(std::vector<std::shared_ptr<Pack>> packs) {
  std::sort(packs.begin(), packs.end(),
            [](const auto& a, const auto& b) { return a->size() < b->size(); });
  uint64_t sum = 0;
  size_t n = 0;
  for (; n < packs.size(); ++n) {
    if (n >= kJoinAtLeast && packs[n]->size() > sum) break;
    sum += packs[n]->size();
  }
  packs.resize(n);
  return packs;
}

class Collector {
 public:
  Collector(const StoreFiles& files, const std::unordered_set<Hash>& live, int64_t younger_than_ns,
            WriterFolder* folder)
      : files_(files), live_(live), horizon_ns_(younger_than_ns), folder_(folder) {}

  Status CollectPack(const Pack& pack);
  Status CollectLarge();
  const ObjectStore::Usage& removed() const { return removed_; }

 private:
  Status CollectLargeFolder(const std::string& two);
  // Unlinks the file unless it was touched after `seen_ns`. Returns whether it was removed.
  Result<bool> RemoveUnlessUsed(const std::string& path, int64_t seen_ns);

  const StoreFiles& files_;
  const std::unordered_set<Hash>& live_;
  const int64_t horizon_ns_;
  WriterFolder* const folder_;
  ObjectStore::Usage removed_;
};

Result<bool> Collector::RemoveUnlessUsed(const std::string& path, int64_t seen_ns) {
  TENON_TRY(const StoreFiles::Lock lock, files_.LockExclusive());
  TENON_TRY(const int64_t now_ns, ModifiedNs(path));
  if (now_ns != seen_ns) return false;
  TENON_TRY_VOID(RemoveFile(path));
  return true;
}

Status Collector::CollectPack(const Pack& pack) {
  auto modified = ModifiedNs(pack.path());
  if (!modified.ok()) return {};  // removed meanwhile
  if (*modified > horizon_ns_) return {};
  auto entries = pack.Entries();
  if (!entries.ok()) return {};  // damaged: readers report it; its readable objects stay
  std::vector<PackEntry> kept;
  uint64_t dead_bytes = 0, all_bytes = 0, dead = 0;
  for (const PackEntry& entry : *entries) {
    all_bytes += entry.raw;
    if (live_.contains(entry.hash)) {
      kept.push_back(entry);
    } else {
      dead_bytes += entry.raw;
      ++dead;
    }
  }
  if (dead == 0 && !entries->empty()) return {};
  if (!kept.empty() && dead_bytes * 4 < all_bytes) return {};
  uint64_t new_size = 0;
  if (!kept.empty()) {
    TENON_TRY(NewPack rewritten, BeginPack(folder_));
    const Status copied = CopyEntries(pack, kept, CountBlocks(*entries), rewritten.writer.get());
    // A damaged object must not keep the rest of the store from being collected.
    if (!copied.ok() && copied.error().kind == ErrorKind::kCorrupt) return {};
    TENON_TRY_VOID(copied);
    TENON_TRY(const std::string path, PublishNewPack(files_, std::move(rewritten)));
    TENON_TRY_VOID(SetModified(path, *modified));
    struct stat info;
    if (::stat(path.c_str(), &info) == 0) new_size = static_cast<uint64_t>(info.st_size);
  }
  TENON_TRY(const bool gone, RemoveUnlessUsed(pack.path(), *modified));
  if (gone) {
    removed_.objects += dead;
    removed_.bytes_on_disk += pack.size() - std::min(pack.size(), new_size);
  }
  return {};
}

Status Collector::CollectLargeFolder(const std::string& two) {
  const std::string folder = files_.objects() + "/" + two;
  auto names = ListDir(folder);
  if (!names.ok()) return {};
  for (const std::string& name : *names) {
    const auto parsed = StoreFiles::ParseLarge(two, name);
    if (!parsed || live_.contains(parsed->first)) continue;
    const std::string path = folder + "/" + name;
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) continue;
    const int64_t modified = Nanoseconds(info.st_mtim);
    if (modified > horizon_ns_) continue;
    TENON_TRY(const bool gone, RemoveUnlessUsed(path, modified));
    if (!gone) continue;
    removed_.objects += 1;
    removed_.bytes_on_disk += static_cast<uint64_t>(info.st_size);
  }
  return {};
}

Status Collector::CollectLarge() {
  TENON_TRY(const auto folders, ListDir(files_.objects()));
  for (const std::string& two : folders) TENON_TRY_VOID(CollectLargeFolder(two));
  return {};
}

}  // namespace

Status ObjectStore::Impl::JoinPacks() {
  auto only_one = FileLock::Take(files.rewrite_lock(), false);
  if (!only_one.ok()) return {};
  TENON_TRY_VOID(ListPacks());
  std::vector<std::shared_ptr<Pack>> candidates;
  {
    std::shared_lock<std::shared_mutex> lock(packs_mutex);
    candidates = packs;
  }
  const std::vector<std::shared_ptr<Pack>> chosen = ChooseToJoin(std::move(candidates));
  TENON_TRY(const auto folder_here, WriterFolder::Make(files));
  TENON_TRY(NewPack joined, BeginPack(folder_here.get()));
  std::vector<std::string> victims;
  for (const auto& pack : chosen) {
    auto entries = pack->Entries();
    if (!entries.ok()) continue;
    const Status copied = CopyEntries(*pack, *entries, CountBlocks(*entries), joined.writer.get());
    // A damaged pack stays as it is. The others are joined.
    if (!copied.ok() && copied.error().kind == ErrorKind::kCorrupt) continue;
    TENON_TRY_VOID(copied);
    victims.push_back(pack->path());
  }
  TENON_TRY(const std::string path, PublishNewPack(files, std::move(joined)));
  {
    TENON_TRY(const StoreFiles::Lock lock, files.LockExclusive());
    int64_t newest = 0;
    for (const std::string& victim : victims) {
      auto modified = ModifiedNs(victim);
      if (modified.ok()) newest = std::max(newest, *modified);
    }
    TENON_TRY_VOID(SetModified(path, newest));
    for (const std::string& victim : victims) TENON_TRY_VOID(RemoveFile(victim));
  }
  {
    std::lock_guard<std::mutex> lock(write_mutex);
    const size_t before = in_use.size();
    std::erase_if(in_use, [&](const std::string& pack) {
      return std::find(victims.begin(), victims.end(), pack) != victims.end();
    });
    if (in_use.size() != before) in_use.push_back(path);
  }
  return ListPacks();
}

Result<ObjectStore::Usage> ObjectStore::Collect(const std::unordered_set<Hash>& live,
                                                int64_t min_age_us) {
  const StoreFiles& files = impl_->files;
  TENON_TRY(const FileLock only_one, FileLock::Take(files.rewrite_lock(), true));
  TENON_TRY_VOID(WriterFolder::RemoveDead(files));
  TENON_TRY(const auto folder, WriterFolder::Make(files));
  TENON_TRY(const int64_t now_ns, folder->Now());
  TENON_TRY_VOID(impl_->ListPacks());
  std::vector<std::shared_ptr<Pack>> packs;
  {
    std::shared_lock<std::shared_mutex> lock(impl_->packs_mutex);
    packs = impl_->packs;
  }
  Collector collector(files, live, now_ns - min_age_us * 1000, folder.get());
  for (const auto& pack : packs) TENON_TRY_VOID(collector.CollectPack(*pack));
  TENON_TRY_VOID(collector.CollectLarge());
  TENON_TRY_VOID(impl_->ListPacks());
  return collector.removed();
}

Result<ObjectStore::Usage> ObjectStore::Measure() const {
  Usage usage;
  TENON_TRY_VOID(impl_->ListPacks());
  {
    std::shared_lock<std::shared_mutex> lock(impl_->packs_mutex);
    for (const auto& pack : impl_->packs) {
      usage.objects += pack->count();
      usage.bytes_on_disk += pack->size();
    }
  }
  TENON_TRY(const auto folders, ListDir(impl_->files.objects()));
  for (const std::string& two : folders) {
    const std::string folder = impl_->files.objects() + "/" + two;
    auto names = ListDir(folder);
    if (!names.ok()) continue;
    for (const std::string& name : *names) {
      struct stat info;
      if (!StoreFiles::ParseLarge(two, name) || ::stat((folder + "/" + name).c_str(), &info) != 0) {
        continue;
      }
      usage.objects += 1;
      usage.bytes_on_disk += static_cast<uint64_t>(info.st_size);
    }
  }
  return usage;
}

}  // namespace tenon::snapshot
