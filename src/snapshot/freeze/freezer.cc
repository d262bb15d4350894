// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/freezer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "snapshot/store/pack.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kBatch = 512;
constexpr int kDepthWithFd = 100;  // deeper folders are not kept open; they are reached by path
constexpr uint64_t kMaxIgnoreFile = 16u << 20;
constexpr uint64_t kMaxStaysHere = 64u << 20;
constexpr int64_t kProgressUs = 100'000;
constexpr int64_t kTrustPacksNs = int64_t{24} * 3600 * 1'000'000'000;

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Reads a whole file with ReadSteadily().
Result<std::string> ReadWhole(int folder, const char* name, uint64_t limit, FileStat* stat) {
  std::string bytes;
  auto read = ReadSteadily(folder, name, [&](int fd, const FileStat& now) -> Status {
    if (now.size > limit) return Invalid("larger than the " + HumanBytes(limit) + " allowed here");
    bytes.resize(now.size);
    TENON_TRY(const size_t got, ReadAt(fd, bytes, 0));
    bytes.resize(got);
    return {};
  });
  if (!read.ok()) return std::move(read).error();
  *stat = *read;
  return bytes;
}

}  // namespace

std::string Freezer::Folder::PathOf(std::string_view name) const {
  return path.empty() ? std::string(name) : path + "/" + std::string(name);
}

Freezer::Freezer(ObjectStore& store, const FreezeOptions& options)
    : store_(store),
      options_(options),
      clock_(options.clock ? *options.clock : SystemClock()),
      always_(IgnoreRules::Parse(JoinLines(options.always_ignored))),
      pool_(options.threads) {
  on_bytes_ = [this](uint64_t n) {
    bytes_hashed_.fetch_add(n, std::memory_order_relaxed);
    if (std::this_thread::get_id() == caller_) Progress();
  };
}

Error Freezer::Failed(const Folder& folder, std::string_view name, Error error) const {
  const std::string path = name.empty() ? folder.path : folder.PathOf(name);
  return std::move(error).Wrap("snapshot of " + ForTerminal(JoinPath(options_.folder, path)));
}

void Freezer::Progress() {
  if (!options_.on_progress) return;
  const int64_t now = clock_.MonotonicUs();
  if (now - last_progress_us_ < kProgressUs) return;
  last_progress_us_ = now;
  options_.on_progress(files_, bytes_hashed_);
}

// --- one folder ---

Status Freezer::OpenIt(Folder* folder) {
  if (folder->depth > kMaxDepth) return Invalid("folders nested too deep");
  const bool by_path = folder->depth > kDepthWithFd;
  const int at = by_path ? root_fd_.get() : folder->above ? folder->above->fd.get() : AT_FDCWD;
  if (folder->above) {
    const std::string name = by_path ? folder->path : std::string(BaseName(folder->path));
    TENON_TRY(folder->fd, OpenFolder(at, name.c_str()));
  } else {
    TENON_TRY(folder->fd, OpenFile(options_.folder, O_RDONLY | O_DIRECTORY));
  }
  struct stat info;
  if (::fstat(folder->fd.get(), &info) != 0) return FromErrno("look at", errno);
  folder->mode = info.st_mode & kModeBits;
  const FolderId id{info.st_dev, info.st_ino};
  folder->is_home =
      std::find(options_.homes.begin(), options_.homes.end(), id) != options_.homes.end();
  return {};
}

Status Freezer::ReadRules(Folder* folder, const Listing* listing) {
  for (const std::string& name : options_.ignore_files) {
    struct stat info;
    bool there = false;
    if (listing) {
      for (size_t i = 0; !there && i < listing->entries.size(); ++i) {
        there = listing->entries[i].type == DT_REG && (*listing)[i] == name;
      }
    } else {
      there = ::fstatat(folder->fd.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
              S_ISREG(info.st_mode);
    }
    if (!there) continue;
    FileStat stat;
    auto text = ReadWhole(folder->fd.get(), name.c_str(), kMaxIgnoreFile, &stat);
    if (!text.ok()) return Failed(*folder, name, std::move(text).error());
    auto scope = std::make_shared<IgnoreScope>();
    scope->above = folder->rules;
    scope->base = folder->path.empty() ? 0 : folder->path.size() + 1;
    scope->rules = IgnoreRules::Parse(*text);
    if (!scope->rules.empty()) folder->rules = std::move(scope);
    return {};
  }
  return {};
}

void Freezer::AddFolder(const FolderPtr& above, Item* item) {
  auto below = std::make_shared<Folder>();
  below->above = above;
  below->item_above = item;
  below->path = above->PathOf(item->Name());
  below->depth = above->depth + 1;
  below->rules = above->rules;
  below->on_purpose = above->on_purpose || item->on_purpose;
  above->pending.fetch_add(1);
  pool_.Add([this, below] { return DoFolder(below); }, 8);
}

bool Freezer::IsLeftOutKey(const Folder& folder, const std::string& path, bool asked,
                           bool is_folder, Item* item) {
  if (!options_.leave_out_keys || folder.on_purpose) return false;
  const KeyName known = LookAtKeyName(path, is_folder);
  // Naming an ordinary folder with "!" does not ask for the keys in it.
  item->on_purpose = asked && (!is_folder || known.kind != KeyKind::kNone);
  if (known.kind == KeyKind::kNone || asked) return false;
  if (known.kind == KeyKind::kLook && !HoldsKeyAt(folder.fd.get(), item->name)) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  if (known.kind == KeyKind::kNamed) {
    named_.push_back(path);
    return false;
  }
  keys_.push_back({path, is_folder, known.reason});
  return true;
}

Status Freezer::LeaveOutHome(Folder* folder) {
  if (!folder->above) {
    return Failed(*folder, "",
                  Invalid("this is Tenon's own folder, which holds keys and passwords")
                      .WithHint("keep the project in a folder of its own"));
  }
  folder->is_home = true;
  std::lock_guard<std::mutex> lock(mutex_);
  homes_.push_back(folder->path);
  return {};
}

Status Freezer::AddPart(const FolderPtr& folder, Listing listing, CacheCursor* cursor) {
  Part& part = folder->parts.emplace_back();
  part.names = std::move(listing.names);
  part.items.reserve(listing.entries.size());
  std::string path = folder->path.empty() ? "" : folder->path + "/";
  const size_t prefix = path.size();
  uint64_t ignored = 0;
  bool unknown = false;
  for (const Listing::Name& entry : listing.entries) {
    Item item;
    item.name = part.names.data() + entry.at;
    item.name_length = entry.length;
    const bool is_folder = entry.type == DT_DIR;
    path.replace(prefix, std::string::npos, item.Name());
    if (always_.Match(path, is_folder) == Verdict::kIgnored) continue;
    const Verdict verdict = MatchScopes(folder->rules.get(), path, is_folder);
    if (verdict == Verdict::kIgnored) {
      ++ignored;
      continue;
    }
    if ((is_folder || entry.type == DT_REG) &&
        IsLeftOutKey(*folder, path, verdict == Verdict::kKept, is_folder, &item)) {
      continue;
    }
    if (is_folder) {
      item.kind = CachedKind::kFolder;
    } else if (entry.type == DT_LNK) {
      item.kind = CachedKind::kSymlink;
    } else if (entry.type != DT_REG) {
      std::lock_guard<std::mutex> lock(mutex_);
      skipped_.push_back(path);
      continue;
    } else if (options_.stays_here && options_.stays_here(path)) {
      item.kind = CachedKind::kStaysHere;
    }
    item.cached = cursor->Find(item.Name());
    unknown |= item.cached == CacheCursor::kNone;
    part.items.push_back(item);
  }
  ignored_ += ignored;
  folder->count += part.items.size();
  if (unknown) {
    folder->node_changed = true;
    folder->cache_changed = true;
  }
  // The store has nothing of this folder yet. Sort it by name, so that files that are unpacked
  // together are stored together.
  if (!folder->cached) {
    std::sort(part.items.begin(), part.items.end(),
              [](const Item& a, const Item& b) { return a.Name() < b.Name(); });
  }
  for (Item& item : part.items) {
    if (item.kind == CachedKind::kFolder) AddFolder(folder, &item);
  }
  return AddItems(folder, &part);
}

Status Freezer::AddItems(const FolderPtr& folder, Part* part) {
  const std::span<Item> all(part->items);
  for (size_t begin = 0; begin < all.size(); begin += kBatch) {
    const std::span<Item> items = all.subspan(begin, std::min(kBatch, all.size() - begin));
    folder->pending.fetch_add(1);
    if (folder->depth > kDepthWithFd) {
      TENON_TRY_VOID(DoItems(folder, items));
    } else {
      pool_.Add([this, folder, items] { return DoItems(folder, items); }, items.size());
    }
  }
  return {};
}

// A large folder that is in the cache is worked on while it is still being listed. Otherwise all
// names are listed first: then it is known which ignore file counts, without looking for the
// others.
Status Freezer::ListIt(const FolderPtr& folder) {
  FolderLister lister(folder->fd.get());
  CacheCursor cursor(folder->cached ? &*folder->cached : nullptr);
  Listing listing;
  auto next = [&]() -> Result<bool> {
    auto got = lister.Next(&listing);
    if (!got.ok()) return Failed(*folder, "", std::move(got).error());
    return got;
  };
  TENON_TRY(bool more, next());
  if (folder->cached && folder->cached->count() > 8 * kBatch) {
    TENON_TRY_VOID(ReadRules(folder.get(), nullptr));
    while (more) {
      TENON_TRY_VOID(AddPart(folder, std::move(listing), &cursor));
      listing = Listing();
      TENON_TRY(more, next());
    }
  } else {
    while (more) {
      TENON_TRY(more, next());
    }
    if (!options_.homes.empty() && (BaseName(folder->path) == kHomeName || IsTenonHome(listing))) {
      return LeaveOutHome(folder.get());
    }
    TENON_TRY_VOID(ReadRules(folder.get(), &listing));
    TENON_TRY_VOID(AddPart(folder, std::move(listing), &cursor));
  }
  if (!folder->cached || folder->cached->count() != folder->count) {
    folder->node_changed = true;
    folder->cache_changed = true;
  }
  return {};
}

Status Freezer::DoFolder(const FolderPtr& folder) {
  Status opened = OpenIt(folder.get());
  if (!opened.ok()) return Failed(*folder, "", std::move(opened).error());
  if (use_cache_) folder->cached = cache_.Find(folder->path);
  TENON_TRY_VOID(folder->is_home ? LeaveOutHome(folder.get()) : ListIt(folder));
  if (folder->depth > kDepthWithFd) folder->fd.Reset();
  return Done(folder);
}

// --- its files ---

Status Freezer::DoItems(const FolderPtr& folder, std::span<Item> items) {
  Counts counts;
  for (Item& item : items) {
    if (item.kind == CachedKind::kFolder) continue;
    Status status = DoItem(folder.get(), &item, &counts);
    if (!status.ok()) return Failed(*folder, item.Name(), std::move(status).error());
  }
  files_ += counts.files;
  bytes_ += counts.bytes;
  files_hashed_ += counts.files_hashed;
  return Done(folder);
}

Status Freezer::DoItem(Folder* folder, Item* item, Counts* counts) {
  ++counts->files;
  switch (item->kind) {
    case CachedKind::kSymlink:
      TENON_TRY_VOID(DoSymlink(folder, item));
      break;
    case CachedKind::kStaysHere:
      TENON_TRY_VOID(DoStaysHere(folder, item));
      break;
    default:
      if (!IsCachedFile(folder, item)) {
        TENON_TRY_VOID(DoFile(folder, item, counts));
        folder->cache_changed = true;
        if (item->left_out) {
          LeaveOutKey(folder, item);
          --counts->files;
          return {};
        }
      }
      counts->bytes += item->stat.size;
      if (item->stat.size >= options_.large_file_hint) {
        std::lock_guard<std::mutex> lock(mutex_);
        large_.emplace_back(folder->PathOf(item->Name()), item->stat.size);
      }
  }
  NoteChanges(folder, *item);
  return {};
}

bool Freezer::IsCachedFile(Folder* folder, Item* item) {
  if (item->cached == CacheCursor::kNone) return false;
  CachedEntry entry;
  size_t at = item->cached;
  if (!folder->cached->Next(&at, &entry) || entry.kind != CachedKind::kFile) return false;
  struct stat info;
  if (::fstatat(folder->fd.get(), item->name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return false;
  }
  item->stat = FileStat::From(info);
  if (item->stat != entry.stat || !S_ISREG(info.st_mode) || !cache_.Believes(entry.stat)) {
    return false;
  }
  item->hash = item->kept = entry.hash;
  return (packs_kept_ && entry.stat.size < kLargeObject) ||
         store_.Keep(entry.hash, entry.stat.size);
}

Status Freezer::DoFile(Folder* folder, Item* item, Counts* counts) {
  const bool on_purpose = folder->on_purpose || item->on_purpose;
  TENON_TRY(item->stat,
            ReadSteadily(folder->fd.get(), item->name, [&](int fd, const FileStat& stat) -> Status {
              item->is_key = options_.leave_out_keys && IsKeyItselfAt(fd);
              item->left_out = item->is_key && !on_purpose;
              if (item->left_out) return {};
              TENON_TRY(item->hash, store_.PutFile(fd, stat.size, on_bytes_));
              return {};
            }));
  if (item->left_out) return {};
  item->kept = item->hash;
  ++counts->files_hashed;
  return {};
}

void Freezer::LeaveOutKey(Folder* folder, Item* item) {
  folder->node_changed = true;
  std::lock_guard<std::mutex> lock(mutex_);
  keys_.push_back({folder->PathOf(item->Name()), /*is_folder=*/false, "a private key"});
}

Status Freezer::DoSymlink(Folder* folder, Item* item) {
  TENON_TRY(std::string target, ReadTarget(folder->fd.get(), item->name));
  item->stat.mode = S_IFLNK | 0777;
  item->hash = item->kept = Sha256Of(target);
  std::lock_guard<std::mutex> lock(mutex_);
  folder->targets[item] = std::move(target);
  return {};
}

// The bytes pass through `redact` before the store gets any of them. The cache never answers for
// these files.
Status Freezer::DoStaysHere(Folder* folder, Item* item) {
  FileStat stat;
  TENON_TRY(std::string bytes, ReadWhole(folder->fd.get(), item->name, kMaxStaysHere, &stat));
  if (options_.redact) {
    bytes = options_.redact(folder->PathOf(item->Name()), std::move(bytes));
  }
  item->stat.mode = stat.mode;
  item->stat.size = bytes.size();
  TENON_TRY(item->kept, store_.Put(bytes));
  return {};
}

void Freezer::NoteChanges(Folder* folder, const Item& item) {
  if (item.cached == CacheCursor::kNone) return;  // marked as changed when it was listed
  CachedEntry entry;
  size_t at = item.cached;
  if (folder->cached->Next(&at, &entry) && entry.kind == item.kind && entry.hash == item.hash &&
      entry.kept == item.kept && ((entry.stat.mode ^ item.stat.mode) & kModeBits) == 0) {
    return;
  }
  folder->node_changed = true;
  folder->cache_changed = true;
}

// --- its node ---

Status Freezer::Done(FolderPtr folder) {
  while (folder && folder->pending.fetch_sub(1) == 1) {
    Status status = Finish(folder.get());
    if (!status.ok()) return Failed(*folder, "", std::move(status).error());
    folder = folder->above;
  }
  return {};
}

Status Freezer::Finish(Folder* folder) {
  if (folder->is_home) {
    folder->item_above->left_out = true;
    folder->above->node_changed = true;
    folder->above->cache_changed = true;
    folder->fd.Reset();
    return {};
  }
  std::vector<Hash> nodes, kept_nodes;
  auto keep = [this](const Hash& hash) { return packs_kept_ || store_.Keep(hash, 0); };
  if (!folder->node_changed) {
    nodes = folder->cached->nodes();
    kept_nodes = folder->cached->kept_nodes();
  }
  if (folder->node_changed || !std::all_of(nodes.begin(), nodes.end(), keep) ||
      !std::all_of(kept_nodes.begin(), kept_nodes.end(), keep)) {
    TENON_TRY_VOID(MakeNodes(folder, &nodes, &kept_nodes));
  }
  const Hash& node = nodes.front();
  const Hash& kept = kept_nodes.empty() ? node : kept_nodes.front();
  if (use_cache_) Remember(*folder, nodes, kept_nodes);
  if (folder->above) {
    Item& item = *folder->item_above;
    item.hash = node;
    item.kept = kept;
    item.stat.mode = S_IFDIR | folder->mode;
    NoteChanges(folder->above.get(), item);
  } else {
    root_ = node;
    kept_root_ = kept;
  }
  folder->fd.Reset();
  folder->parts.clear();
  folder->targets.clear();
  return {};
}

Status Freezer::MakeNodes(Folder* folder, std::vector<Hash>* nodes, std::vector<Hash>* kept_nodes) {
  std::vector<const Item*> sorted;
  sorted.reserve(folder->count);
  for (const Part& part : folder->parts) {
    for (const Item& item : part.items) sorted.push_back(&item);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Item* a, const Item* b) { return a->Name() < b->Name(); });
  TENON_TRY_VOID(MakeNode(*folder, sorted, false, nodes));
  kept_nodes->clear();
  const bool differs = std::any_of(sorted.begin(), sorted.end(),
                                   [](const Item* item) { return item->hash != item->kept; });
  if (differs) TENON_TRY_VOID(MakeNode(*folder, sorted, true, kept_nodes));
  return {};
}

Status Freezer::MakeNode(const Folder& folder, const std::vector<const Item*>& sorted, bool kept,
                         std::vector<Hash>* nodes) {
  std::vector<NodeItem> items;
  items.reserve(sorted.size());
  for (const Item* item : sorted) {
    if (item->left_out || (item->kind == CachedKind::kStaysHere && !kept)) continue;
    NodeItem node;
    node.name = item->Name();
    node.mode = item->stat.mode & kModeBits;
    node.hash = kept ? item->kept : item->hash;
    if (item->kind == CachedKind::kFolder) {
      node.type = EntryType::kFolder;
    } else if (item->kind == CachedKind::kSymlink) {
      node.type = EntryType::kSymlink;
      node.target = folder.targets.at(item);
    } else {
      node.size = item->stat.size;
    }
    items.push_back(node);
  }
  nodes->clear();
  auto put = [&](const std::string& bytes) -> Result<Hash> {
    TENON_TRY(const Hash hash, store_.Put(bytes));
    nodes->push_back(hash);
    return hash;
  };
  TENON_TRY(const Hash top, EncodeFolder(items, put));
  TENON_CHECK(nodes->back() == top);
  std::rotate(nodes->begin(), std::prev(nodes->end()), nodes->end());
  return {};
}

void Freezer::Remember(const Folder& folder, const std::vector<Hash>& nodes,
                       const std::vector<Hash>& kept_nodes) {
  const bool same = folder.cached && !folder.cache_changed && !folder.node_changed &&
                    folder.cached->nodes() == nodes && folder.cached->kept_nodes() == kept_nodes;
  if (same) {
    std::lock_guard<std::mutex> lock(mutex_);
    old_records_.push_back(folder.cached->record());
    return;
  }
  cache_changed_ = true;
  CachedFolderBuilder builder(folder.path, nodes, kept_nodes);
  for (const Part& part : folder.parts) {
    std::vector<const Item*> listed;
    for (const Item& item : part.items) {
      // Keys are checked every time: the ignore file that asks for one may be gone next time.
      if (!item.left_out && !item.is_key) listed.push_back(&item);
    }
    // Restores the order of the listing, which is the order of the names in memory.
    std::sort(listed.begin(), listed.end(),
              [](const Item* a, const Item* b) { return a->name < b->name; });
    for (const Item* item : listed) {
      builder.Add({item->Name(), item->kind, item->stat, item->hash, item->kept});
    }
  }
  std::string record = builder.Finish();
  std::lock_guard<std::mutex> lock(mutex_);
  new_records_.push_back(std::move(record));
}

// --- all of it ---

void Freezer::WriteCache() {
  if (!use_cache_ || (!cache_changed_ && !cache_.FromTheFuture() && packs_kept_)) return;
  StatCacheBuilder builder(taken_ns_, store_.PacksInUse());
  for (std::string_view record : old_records_) builder.Add(record);
  for (const std::string& record : new_records_) builder.Add(record);
  // Failure is ignored: without a cache the next freeze takes longer, no more.
  (void)WriteFileAtomically(options_.stat_cache, builder.Finish(), 0600, Durability::kProcess).ok();
}

Result<Frozen> Freezer::Run() {
  // The time is taken first: files written after it are newer than the cache will claim.
  if (!options_.stat_cache.empty()) {
    if (auto now = FileSystemNow(options_.stat_cache); now.ok()) {
      use_cache_ = true;
      taken_ns_ = *now;
      cache_ = StatCache::Load(options_.stat_cache);
      cache_.SetNow(taken_ns_);
      // From time to time every object is checked all the same. Otherwise packs that no longer hold
      // anything of this project would be kept forever.
      const int64_t age_ns = taken_ns_ - cache_.taken_ns();
      packs_kept_ = !cache_.empty() && age_ns >= 0 && age_ns < kTrustPacksNs &&
                    store_.KeepPacks(cache_.packs());
    }
  }
  auto top = std::make_shared<Folder>();
  TENON_TRY(root_fd_, OpenFile(options_.folder, O_RDONLY | O_DIRECTORY));
  pool_.Add([this, top] { return DoFolder(top); }, 1);
  last_progress_us_ = clock_.MonotonicUs();
  TENON_TRY_VOID(pool_.Run([this] { Progress(); }));
  if (options_.before_flush) TENON_TRY_VOID(options_.before_flush());
  // From here on the snapshot is durable.
  TENON_TRY_VOID(store_.Flush());
  WriteCache();

  Frozen frozen;
  frozen.root = root_;
  frozen.kept_root = kept_root_;
  frozen.files = files_;
  frozen.bytes = bytes_;
  frozen.files_hashed = files_hashed_;
  frozen.bytes_hashed = bytes_hashed_;
  frozen.ignored = ignored_;
  frozen.skipped = std::move(skipped_);
  frozen.large = std::move(large_);
  frozen.keys = std::move(keys_);
  frozen.homes = std::move(homes_);
  frozen.named = std::move(named_);
  std::sort(frozen.skipped.begin(), frozen.skipped.end());
  std::sort(frozen.homes.begin(), frozen.homes.end());
  std::sort(frozen.named.begin(), frozen.named.end());
  std::sort(frozen.keys.begin(), frozen.keys.end(),
            [](const LeftOut& a, const LeftOut& b) { return a.path < b.path; });
  std::sort(frozen.large.begin(), frozen.large.end());
  return frozen;
}

Result<Frozen> Freeze(ObjectStore& store, const FreezeOptions& options) {
  Freezer freezer(store, options);
  auto frozen = freezer.Run();
  // Keeps what was stored so far, so that it need not be read again, and drops what a full disk
  // left.
  if (!frozen.ok()) (void)store.Flush().ok();
  return frozen;
}

}  // namespace tenon::snapshot
