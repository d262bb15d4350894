// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/object_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <thread>
#include <utility>

#include "base/durable.h"
#include "base/file.h"
#include "snapshot/store/codec.h"
#include "snapshot/store/object_store_impl.h"
#include "snapshot/store/rewrite.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kTooManyPacks = 64;
// If a folder's time is younger than this when it is listed, the folder may change again without
// getting a newer time.
constexpr int64_t kCoarsestClockNs = 2'000'000'000;

// "packs/<name>.pack" → name
std::string_view NameOfPack(std::string_view path) {
  const std::string_view name = BaseName(path);
  return name.substr(0, name.size() - std::string_view(".pack").size());
}

}  // namespace

ObjectStore::ObjectStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ObjectStore::ObjectStore(ObjectStore&&) noexcept = default;
ObjectStore& ObjectStore::operator=(ObjectStore&&) noexcept = default;
ObjectStore::~ObjectStore() = default;

Result<ObjectStore> ObjectStore::Open(const std::string& folder) {
  auto impl = std::make_unique<Impl>(folder);
  Status listed = impl->ListPacks();
  if (!listed.ok() && listed.error().kind == ErrorKind::kNotFound) {
    TENON_TRY_VOID(impl->files.MakeFolders());
    listed = impl->ListPacks();
  }
  if (!listed.ok()) return std::move(listed).error().Wrap("open object store " + folder);
  return ObjectStore(std::move(impl));
}

// --- looking up ---

Status ObjectStore::Impl::ListPacks() const {
  std::unique_lock<std::shared_mutex> lock(packs_mutex);
  struct stat info;
  if (::stat(files.packs().c_str(), &info) != 0) return FromErrno("list " + files.packs(), errno);
  TENON_TRY(const auto names, ListDir(files.packs()));
  std::map<std::string, std::shared_ptr<Pack>> open;
  for (auto& pack : packs) open.emplace(pack->path(), pack);
  packs.clear();
  damaged.clear();
  for (const std::string& name : names) {
    if (!name.ends_with(".pack")) continue;
    const std::string path = files.packs() + "/" + name;
    if (auto known = open.find(path); known != open.end()) {
      packs.push_back(known->second);
      continue;
    }
    auto pack = Pack::Open(path);
    if (pack.ok()) {
      packs.push_back(std::move(*pack));
    } else if (pack.error().kind != ErrorKind::kNotFound) {
      damaged.emplace(path, pack.error().message);
    }
  }
  std::sort(packs.begin(), packs.end(),
            [](const auto& a, const auto& b) { return a->count() > b->count(); });
  listed_mtime = info.st_mtim;
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  listed_racy = Nanoseconds(now) - Nanoseconds(info.st_mtim) < kCoarsestClockNs;
  return {};
}

Status ObjectStore::Impl::ListPacksIfChanged() const {
  {
    std::shared_lock<std::shared_mutex> lock(packs_mutex);
    struct stat info;
    if (::stat(files.packs().c_str(), &info) != 0) return FromErrno("list " + files.packs(), errno);
    if (!listed_racy && Nanoseconds(info.st_mtim) == Nanoseconds(listed_mtime)) return {};
  }
  return ListPacks();
}

std::optional<ObjectStore::Impl::InPack> ObjectStore::Impl::FindInPacks(const Hash& hash) const {
  std::shared_lock<std::shared_mutex> lock(packs_mutex);
  for (const auto& pack : packs) {
    auto found = pack->Find(hash);
    if (found.ok() && found->has_value()) return InPack{pack, **found};
  }
  return std::nullopt;
}

std::optional<bool> ObjectStore::Impl::FindLarge(const Hash& hash) const {
  for (bool compressed : {false, true}) {
    if (::access(files.LargePath(hash, compressed).c_str(), F_OK) == 0) return compressed;
  }
  return std::nullopt;
}

bool ObjectStore::Impl::IsPending(const Hash& hash) const {
  std::lock_guard<std::mutex> lock(write_mutex);
  return (writer && writer->Has(hash)) || pending_large.contains(hash);
}

Error ObjectStore::Impl::Missing(const Hash& hash) const {
  std::shared_lock<std::shared_mutex> lock(packs_mutex);
  if (!damaged.empty()) {
    return Corrupt("object " + hash.Hex() + " cannot be found, and " + damaged.begin()->second);
  }
  for (const auto& pack : packs) {
    auto found = pack->Find(hash);
    if (!found.ok()) return std::move(found).error().Wrap("object " + hash.Hex());
  }
  return NotFound("object " + hash.Hex() + " is not in " + files.folder());
}

bool ObjectStore::Has(const Hash& hash) const {
  if (impl_->FindInPacks(hash) || impl_->IsPending(hash) || impl_->FindLarge(hash)) return true;
  return impl_->ListPacksIfChanged().ok() && impl_->FindInPacks(hash);
}

Status ObjectStore::Impl::ReadPending(const Hash& hash, std::string* out, bool* found) const {
  std::lock_guard<std::mutex> lock(write_mutex);
  if (!writer) return {};
  TENON_TRY(*found, writer->Read(hash, out));
  return {};
}

Status ObjectStore::ReadInto(const Hash& hash, std::string* out, bool* found) const {
  *found = true;
  for (bool listed_again : {false, true}) {
    if (auto packed = impl_->FindInPacks(hash)) return packed->pack->Read(packed->entry, out);
    if (listed_again) break;
    bool pending = false;
    TENON_TRY_VOID(impl_->ReadPending(hash, out, &pending));
    if (pending) return {};
    if (impl_->FindLarge(hash)) break;
    TENON_TRY_VOID(impl_->ListPacks());
  }
  *found = false;
  return {};
}

Status ObjectStore::ReadTo(const Hash& hash,
                           const std::function<Status(std::string_view)>& sink) const {
  std::string small;
  bool found;
  TENON_TRY_VOID(ReadInto(hash, &small, &found));
  if (found) return sink(small);
  TENON_TRY(const LargePlace place, FindLarge(hash));
  return ReadLarge(place.path, place.compressed, hash, sink);
}

Result<ObjectStore::LargePlace> ObjectStore::FindLarge(const Hash& hash) const {
  {
    std::lock_guard<std::mutex> lock(impl_->write_mutex);
    auto pending = impl_->pending_large.find(hash);
    if (pending != impl_->pending_large.end()) {
      return LargePlace{pending->second.temp, pending->second.compressed};
    }
  }
  if (const auto compressed = impl_->FindLarge(hash)) {
    return LargePlace{impl_->files.LargePath(hash, *compressed), *compressed};
  }
  return impl_->Missing(hash);
}

Result<std::string> ObjectStore::Read(const Hash& hash, size_t limit) const {
  std::string bytes;
  bool found;
  TENON_TRY_VOID(ReadInto(hash, &bytes, &found));
  const auto too_large = [&] {
    return Invalid("object " + hash.Hex() + " is larger than the " + std::to_string(limit) +
                   " bytes allowed here");
  };
  if (found) {
    if (bytes.size() > limit) return too_large();
    return bytes;
  }
  TENON_TRY_VOID(ReadTo(hash, [&](std::string_view piece) -> Status {
    if (bytes.size() + piece.size() > limit) return too_large();
    bytes += piece;
    return {};
  }));
  return bytes;
}

Result<bool> ObjectStore::CopyOrClone(const Hash& hash, int fd) const {
  thread_local std::string small;
  bool found;
  TENON_TRY_VOID(ReadInto(hash, &small, &found));
  if (found) {
    TENON_TRY_VOID(WriteAll(fd, small));
    return false;
  }
  TENON_TRY(const LargePlace place, FindLarge(hash));
  return CopyLarge(place.path, place.compressed, hash, fd);
}

Status ObjectStore::CopyTo(const Hash& hash, int fd) const {
  auto copied = CopyOrClone(hash, fd);
  if (!copied.ok()) return std::move(copied).error();
  return {};
}

// --- adding ---

bool ObjectStore::Impl::KeepPacked(const InPack& found) {
  if (found.pack->kept.load(std::memory_order_acquire)) return true;
  auto lock = files.LockShared();
  if (!lock.ok()) return false;
  auto touched = StoreFiles::Touch(found.pack->path());
  if (!touched.ok() || !*touched) return false;
  found.pack->kept.store(true, std::memory_order_release);
  return true;
}

bool ObjectStore::Impl::KeepLarge(const Hash& hash, uint64_t size) {
  const auto compressed = FindLarge(hash);
  if (!compressed) return false;
  const std::string path = files.LargePath(hash, *compressed);
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return false;
  const auto length = static_cast<uint64_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || (*compressed ? length == 0 : length != size)) {
    (void)RemoveLarge(files, path, info).ok();
    return false;
  }
  auto lock = files.LockShared();
  if (!lock.ok()) return false;
  auto touched = StoreFiles::Touch(path);
  return touched.ok() && *touched;
}

bool ObjectStore::Keep(const Hash& hash, uint64_t size) {
  if (size >= kLargeObject) return impl_->IsPending(hash) || impl_->KeepLarge(hash, size);
  for (bool listed_again : {false, true}) {
    const auto found = impl_->FindInPacks(hash);
    if (!found) break;
    if (impl_->KeepPacked(*found)) return true;
    // The pack was joined or collected meanwhile. The object may be in another pack now.
    if (listed_again || !impl_->ListPacks().ok()) return false;
  }
  return impl_->IsPending(hash);
}

bool ObjectStore::KeepPacks(const std::vector<std::string>& names) {
  std::map<std::string_view, std::shared_ptr<Pack>> there;
  {
    std::shared_lock<std::shared_mutex> lock(impl_->packs_mutex);
    for (const auto& pack : impl_->packs) there.emplace(NameOfPack(pack->path()), pack);
  }
  for (const std::string& name : names) {
    const auto found = there.find(name);
    if (found == there.end() || !impl_->KeepPacked({found->second, {}})) return false;
  }
  return true;
}

std::vector<std::string> ObjectStore::PacksInUse() const {
  std::lock_guard<std::mutex> lock(impl_->write_mutex);
  std::vector<std::string> names;
  for (const std::string& path : impl_->in_use) names.emplace_back(NameOfPack(path));
  return names;
}

Error ObjectStore::Impl::FailLocked(Error error) {
  // A thread may still compress a block of the writer. Then Flush() drops the writer after that.
  if (compressing == 0) writer.reset();
  pending_large.clear();
  folder.reset();
  failure = error;
  return error;
}

Status ObjectStore::Impl::BeginLocked() {
  if (failure) return *failure;
  if (folder) return {};
  auto made = WriterFolder::Make(files);
  if (!made.ok() && made.error().kind == ErrorKind::kNotFound) {
    TENON_TRY_VOID(files.MakeFolders());
    made = WriterFolder::Make(files);
  }
  if (!made.ok()) return std::move(made).error().Wrap("write to object store " + files.folder());
  folder = std::move(*made);
  return {};
}

Status ObjectStore::Impl::BeginPackLocked() {
  TENON_TRY_VOID(BeginLocked());
  if (writer) return {};
  writer_path = folder->NewPath();
  TENON_TRY(UniqueFd fd, OpenFile(writer_path, O_RDWR | O_CREAT | O_EXCL, 0400));
  writer = std::make_unique<PackWriter>(std::move(fd));
  return {};
}

Status ObjectStore::Impl::FailUnlessLocked(Status status) {
  if (status.ok()) return {};
  return FailLocked(std::move(status).error().Wrap("write to object store " + files.folder()));
}

// Puts the object into a block of its own.
Status ObjectStore::Impl::PutAlone(const Hash& hash, std::string_view bytes) {
  const std::string_view frame = CompressIfItPays(bytes);
  std::lock_guard<std::mutex> lock(write_mutex);
  TENON_TRY_VOID(BeginPackLocked());
  if (writer->Has(hash)) return {};  // another thread added it first
  const std::string_view stored = frame.empty() ? bytes : frame;
  return FailUnlessLocked(writer->AddBlock(hash, stored, static_cast<uint32_t>(bytes.size())));
}

// Adds the object to a block shared with others. The thread that fills a block compresses it.
Status ObjectStore::Impl::PutAmongOthers(const Hash& hash, std::string_view bytes) {
  std::unique_lock<std::mutex> lock(write_mutex);
  TENON_TRY_VOID(BeginPackLocked());
  if (writer->Has(hash)) return {};
  const uint64_t group = std::hash<std::thread::id>()(std::this_thread::get_id());
  const auto full = writer->Append(hash, bytes, group);
  if (!full) return {};
  // `compressing` keeps other threads from finishing or dropping the writer meanwhile.
  ++compressing;
  lock.unlock();
  const std::string_view frame = CompressIfItPays(full->bytes);
  lock.lock();
  Status status = FailUnlessPlacing(*full, frame);
  if (--compressing == 0) none_compressing.notify_all();
  return status;
}

Status ObjectStore::Impl::FailUnlessPlacing(const PackWriter::FullBlock& full,
                                            std::string_view frame) {
  if (failure) return *failure;
  return FailUnlessLocked(writer->Place(full, frame));
}

Result<Hash> ObjectStore::Put(std::string_view bytes) {
  if (bytes.size() >= kLargeObject) {
    TENON_TRY(const std::string temp, impl_->NewTempPath());
    TENON_TRY(const LargeObject object, StoreLargeBytes(bytes, temp));
    return impl_->AddLarge(temp, object, bytes.size());
  }
  const Hash hash = Sha256Of(bytes);
  TENON_TRY_VOID(PutSmall(hash, bytes, false));
  return hash;
}

Status ObjectStore::PutAs(const Hash& hash, std::string_view bytes) {
  if (Sha256Of(bytes) != hash) {
    return Corrupt("bytes that are said to be object " + hash.Hex() + " are not it");
  }
  if (bytes.size() < kLargeObject) return PutSmall(hash, bytes, true);
  TENON_TRY_VOID(Put(bytes));
  return {};
}

Status ObjectStore::PutSmall(const Hash& hash, std::string_view bytes, bool among_others) {
  if (Keep(hash, bytes.size())) return {};
  return among_others && bytes.size() < kOwnBlock ? impl_->PutAmongOthers(hash, bytes)
                                                  : impl_->PutAlone(hash, bytes);
}

Status ObjectStore::Adopt(const std::string& path, const Hash& hash) {
  TENON_TRY(const std::string temp, impl_->NewTempPath());
  if (::chmod(path.c_str(), 0400) != 0) return FromErrno("take over " + path, errno);
  TENON_TRY_VOID(RenameFile(path, temp));
  struct stat info;
  if (::stat(temp.c_str(), &info) != 0) return FromErrno("take over " + path, errno);
  TENON_TRY_VOID(impl_->AddLarge(temp, {hash, false}, static_cast<uint64_t>(info.st_size)));
  return {};
}

Result<std::string> ObjectStore::Impl::NewTempPath() {
  std::lock_guard<std::mutex> lock(write_mutex);
  TENON_TRY_VOID(BeginLocked());
  return folder->NewPath();
}

Result<Hash> ObjectStore::Impl::AddLarge(const std::string& temp, const LargeObject& object,
                                         uint64_t size) {
  const bool known = KeepLarge(object.hash, size);
  std::lock_guard<std::mutex> lock(write_mutex);
  if (failure) return *failure;
  if (known || !pending_large.emplace(object.hash, PendingLarge{temp, object.compressed}).second) {
    ::unlink(temp.c_str());
  }
  return object.hash;
}

Result<Hash> ObjectStore::PutFile(int fd, uint64_t expected_size,
                                  const std::function<void(uint64_t)>& on_bytes) {
  if (expected_size < kLargeObject) {
    thread_local std::string bytes;
    bytes.resize(expected_size + 1);  // one byte more, to notice a longer file
    ssize_t got;
    do {
      got = ::pread(fd, bytes.data(), bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return FromErrno("read", errno);
    if (static_cast<uint64_t>(got) != expected_size) return ChangedWhileRead();
    if (on_bytes) on_bytes(expected_size);
    const std::string_view whole = std::string_view(bytes).substr(0, expected_size);
    const Hash hash = Sha256Of(whole);
    TENON_TRY_VOID(PutSmall(hash, whole, true));
    return hash;
  }
  TENON_TRY(const std::string temp, impl_->NewTempPath());
  TENON_TRY(const LargeObject object, StoreLargeFile(fd, expected_size, temp, on_bytes));
  return impl_->AddLarge(temp, object, expected_size);
}

Status ObjectStore::Impl::PublishLarge() {
  // All data goes to disk before the first rename; the later fsyncs then find little left to do.
  for (const auto& [hash, pending] : pending_large) {
    TENON_TRY(const UniqueFd fd, OpenFile(pending.temp, O_RDONLY));
    if (DurableFsync(fd.get()) != 0) return FromErrno("fsync " + pending.temp, errno);
  }
  std::set<std::string> folders;
  bool made_folder = false;
  for (const auto& [hash, pending] : pending_large) {
    const std::string path = files.LargePath(hash, pending.compressed);
    const std::string parent = DirName(path);
    if (folders.insert(parent).second) {
      if (::mkdir(parent.c_str(), 0700) == 0) {
        made_folder = true;
      } else if (errno != EEXIST) {
        return FromErrno("make folder " + parent, errno);
      }
    }
    // Under the shared lock, so that Collect() can't take this file for an old one of the same
    // name.
    TENON_TRY(const StoreFiles::Lock lock, files.LockShared());
    if (::rename(pending.temp.c_str(), path.c_str()) != 0) {
      return FromErrno("rename to " + path, errno);
    }
  }
  for (const std::string& parent : folders) TENON_TRY_VOID(FsyncDir(parent));
  if (made_folder) TENON_TRY_VOID(FsyncDir(files.objects()));
  pending_large.clear();
  return {};
}

Status ObjectStore::Impl::PublishPack() {
  TENON_TRY_VOID(writer->Finish());
  const std::string path = files.NewPackPath();
  if (::rename(writer_path.c_str(), path.c_str()) != 0)
    return FromErrno("rename to " + path, errno);
  TENON_TRY_VOID(FsyncDir(files.packs()));
  TENON_TRY(std::shared_ptr<Pack> pack, Pack::Open(path));
  std::unique_lock<std::shared_mutex> lock(packs_mutex);
  packs.push_back(std::move(pack));
  lock.unlock();
  in_use.push_back(path);
  writer.reset();
  return {};
}

Status ObjectStore::Impl::FlushLocked(std::unique_lock<std::mutex>* lock) {
  none_compressing.wait(*lock, [this] { return compressing == 0; });
  if (failure) {
    writer.reset();
    Error error = std::move(*failure);
    failure.reset();
    return error;
  }
  in_use.clear();
  {
    std::shared_lock<std::shared_mutex> packs_lock(packs_mutex);
    for (const auto& pack : packs) {
      if (pack->kept.exchange(false)) in_use.push_back(pack->path());
    }
  }
  if (!folder) return {};
  Status status = PublishLarge();
  if (status.ok() && writer) status = PublishPack();
  if (!status.ok()) {
    Error error = FailLocked(std::move(status).error().Wrap("write to object store"));
    failure.reset();
    return error;
  }
  folder.reset();
  return {};
}

Status ObjectStore::Flush() {
  size_t count;
  {
    std::unique_lock<std::mutex> lock(impl_->write_mutex);
    TENON_TRY_VOID(impl_->FlushLocked(&lock));
    std::shared_lock<std::shared_mutex> packs_lock(impl_->packs_mutex);
    count = impl_->packs.size();
  }
  // The objects are safe. If joining fails, a later Flush() does it.
  if (count > kTooManyPacks) (void)impl_->JoinPacks().ok();
  return {};
}

}  // namespace tenon::snapshot
