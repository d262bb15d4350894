// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freezer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/file.h"
#include "base/text.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kBatch = 512;
constexpr int kDepthWithFd = 100;  // deeper folders do not stay open and are reached by path
constexpr uint64_t kMaxIgnoreFile = 16u << 20;
constexpr uint64_t kMaxStaysHere = 64u << 20;
constexpr int64_t kProgressUs = 100'000;

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The whole file, with the same care as any other.
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
  return {};
}

Status Freezer::ReadRules(Folder* folder, const Listing& listing) {
  for (const std::string& wanted : options_.ignore_files) {
    for (size_t i = 0; i < listing.entries.size(); ++i) {
      if (listing.entries[i].type != DT_REG || listing[i] != wanted) continue;
      FileStat stat;
      auto text = ReadWhole(folder->fd.get(), wanted.c_str(), kMaxIgnoreFile, &stat);
      if (!text.ok()) return Failed(*folder, wanted, std::move(text).error());
      auto scope = std::make_shared<IgnoreScope>();
      scope->above = folder->rules;
      scope->base = folder->path.empty() ? 0 : folder->path.size() + 1;
      scope->rules = IgnoreRules::Parse(*text);
      if (!scope->rules.empty()) folder->rules = std::move(scope);
      return {};
    }
  }
  return {};
}

// Decides for each name what becomes of it. Folders to go into are added to the pool.
Status Freezer::Sort(const FolderPtr& folder, Listing listing) {
  folder->names = std::move(listing.names);
  folder->items.reserve(listing.entries.size());
  CacheCursor cursor(folder->cached ? &*folder->cached : nullptr);
  std::string path = folder->path.empty() ? "" : folder->path + "/";
  const size_t prefix = path.size();
  std::vector<size_t> folders;
  uint64_t ignored = 0;
  for (const Listing::Name& entry : listing.entries) {
    const std::string_view name(folder->names.data() + entry.at, entry.length);
    const bool is_folder = entry.type == DT_DIR;
    path.replace(prefix, std::string::npos, name);
    if (always_.Match(path, is_folder) == Verdict::kIgnored) continue;
    if (MatchScopes(folder->rules.get(), path, is_folder) == Verdict::kIgnored) {
      ++ignored;
      continue;
    }
    if (!is_folder && entry.type != DT_REG && entry.type != DT_LNK) {
      std::lock_guard<std::mutex> lock(mutex_);
      skipped_.push_back(path);
      continue;
    }
    Item item;
    item.name_at = entry.at;
    item.name_length = entry.length;
    if (is_folder) {
      item.kind = CachedKind::kFolder;
    } else if (entry.type == DT_LNK) {
      item.kind = CachedKind::kSymlink;
    } else if (options_.stays_here && options_.stays_here(path)) {
      item.kind = CachedKind::kStaysHere;
    }
    item.cached = cursor.Find(name);
    if (is_folder) folders.push_back(folder->items.size());
    folder->items.push_back(item);
  }
  ignored_ += ignored;
  const size_t known = folder->cached ? folder->cached->count() : 0;
  const auto unknown = std::count_if(folder->items.begin(), folder->items.end(),
                                     [](const Item& i) { return i.cached == CacheCursor::kNone; });
  if (!folder->cached || unknown > 0 || known != folder->items.size()) {
    folder->node_changed = true;
    folder->cache_changed = true;
  }
  for (const size_t index : folders) {
    auto below = std::make_shared<Folder>();
    below->above = folder;
    below->index_above = index;
    below->path = folder->PathOf(folder->NameOf(folder->items[index]));
    below->depth = folder->depth + 1;
    below->rules = folder->rules;
    folder->pending.fetch_add(1);
    pool_.Add([this, below] { return DoFolder(below); }, 8);
  }
  return {};
}

Status Freezer::DoFolder(const FolderPtr& folder) {
  Status opened = OpenIt(folder.get());
  if (!opened.ok()) return Failed(*folder, "", std::move(opened).error());
  auto listing = ListFolder(folder->fd.get());
  if (!listing.ok()) return Failed(*folder, "", std::move(listing).error());
  TENON_TRY_VOID(ReadRules(folder.get(), *listing));
  if (use_cache_) folder->cached = cache_.Find(folder->path);
  TENON_TRY_VOID(Sort(folder, std::move(*listing)));

  const size_t count = folder->items.size();
  const bool split = count > 2 * kBatch && folder->depth <= kDepthWithFd;
  const size_t batches = split ? (count + kBatch - 1) / kBatch : 1;
  folder->pending.fetch_add(batches);
  for (size_t batch = 1; batch < batches; ++batch) {
    pool_.Add([this, folder, begin = batch * kBatch,
               end = std::min(count, (batch + 1) * kBatch)] { return DoItems(folder, begin, end); },
              kBatch);
  }
  TENON_TRY_VOID(DoItems(folder, 0, split ? kBatch : count));
  if (folder->depth > kDepthWithFd) folder->fd.Reset();
  return Done(folder);
}

// --- its files ---

Status Freezer::DoItems(const FolderPtr& folder, size_t begin, size_t end) {
  Counts counts;
  for (size_t i = begin; i < end; ++i) {
    Item& item = folder->items[i];
    if (item.kind == CachedKind::kFolder) continue;
    Status status = DoItem(folder.get(), &item, &counts);
    if (!status.ok()) return Failed(*folder, folder->NameOf(item), std::move(status).error());
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
      }
      counts->bytes += item->stat.size;
      if (item->stat.size >= options_.large_file_hint) {
        std::lock_guard<std::mutex> lock(mutex_);
        large_.emplace_back(folder->PathOf(folder->NameOf(*item)), item->stat.size);
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
  if (::fstatat(folder->fd.get(), folder->NameZ(*item), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return false;
  }
  item->stat = FileStat::From(info);
  if (item->stat != entry.stat || !S_ISREG(info.st_mode) || !cache_.Believes(entry.stat)) {
    return false;
  }
  item->hash = item->kept = entry.hash;
  return store_.Keep(entry.hash, entry.stat.size);
}

Status Freezer::DoFile(Folder* folder, Item* item, Counts* counts) {
  TENON_TRY(item->stat, ReadSteadily(folder->fd.get(), folder->NameZ(*item),
                                     [&](int fd, const FileStat& stat) -> Status {
                                       TENON_TRY(item->hash,
                                                 store_.PutFile(fd, stat.size, on_bytes_));
                                       return {};
                                     }));
  item->kept = item->hash;
  ++counts->files_hashed;
  return {};
}

Status Freezer::DoSymlink(Folder* folder, Item* item) {
  TENON_TRY(std::string target, ReadTarget(folder->fd.get(), folder->NameZ(*item)));
  item->stat.mode = S_IFLNK | 0777;
  item->hash = item->kept = Sha256Of(target);
  const size_t index = static_cast<size_t>(item - folder->items.data());
  std::lock_guard<std::mutex> lock(mutex_);
  folder->targets[index] = std::move(target);
  return {};
}

// Its bytes go through `redact` before the store sees any of them; never answered by the cache.
Status Freezer::DoStaysHere(Folder* folder, Item* item) {
  FileStat stat;
  TENON_TRY(std::string bytes,
            ReadWhole(folder->fd.get(), folder->NameZ(*item), kMaxStaysHere, &stat));
  if (options_.redact) {
    bytes = options_.redact(folder->PathOf(folder->NameOf(*item)), std::move(bytes));
  }
  item->stat.mode = stat.mode;
  item->stat.size = bytes.size();
  TENON_TRY(item->kept, store_.Put(bytes));
  return {};
}

void Freezer::NoteChanges(Folder* folder, const Item& item) {
  if (item.cached == CacheCursor::kNone) return;  // noted when it was listed
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
  std::vector<Hash> nodes, kept_nodes;
  auto keep = [this](const Hash& hash) { return store_.Keep(hash, 0); };
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
    Item& item = folder->above->items[folder->index_above];
    item.hash = node;
    item.kept = kept;
    item.stat.mode = S_IFDIR | folder->mode;
    NoteChanges(folder->above.get(), item);
  } else {
    root_ = node;
    kept_root_ = kept;
  }
  folder->fd.Reset();
  folder->items = {};
  folder->names = {};
  folder->targets.clear();
  return {};
}

Status Freezer::MakeNodes(Folder* folder, std::vector<Hash>* nodes, std::vector<Hash>* kept_nodes) {
  std::vector<const Item*> sorted;
  sorted.reserve(folder->items.size());
  for (const Item& item : folder->items) sorted.push_back(&item);
  std::sort(sorted.begin(), sorted.end(),
            [&](const Item* a, const Item* b) { return folder->NameOf(*a) < folder->NameOf(*b); });
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
    if (item->kind == CachedKind::kStaysHere && !kept) continue;
    NodeItem node;
    node.name = folder.NameOf(*item);
    node.mode = item->stat.mode & kModeBits;
    node.hash = kept ? item->kept : item->hash;
    if (item->kind == CachedKind::kFolder) {
      node.type = EntryType::kFolder;
    } else if (item->kind == CachedKind::kSymlink) {
      node.type = EntryType::kSymlink;
      node.target = folder.targets.at(static_cast<size_t>(item - folder.items.data()));
    } else {
      node.size = item->stat.size;
    }
    items.push_back(node);
  }
  nodes->clear();
  auto put = [&](std::string bytes) -> Result<Hash> {
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
  for (const Item& item : folder.items) {
    CachedEntry entry;
    entry.name = folder.NameOf(item);
    entry.kind = item.kind;
    entry.stat = item.stat;
    entry.hash = item.hash;
    entry.kept = item.kept;
    builder.Add(entry);
  }
  std::string record = builder.Finish();
  std::lock_guard<std::mutex> lock(mutex_);
  new_records_.push_back(std::move(record));
}

// --- all of it ---

void Freezer::WriteCache() {
  if (!use_cache_ || (!cache_changed_ && !cache_.FromTheFuture())) return;
  StatCacheBuilder builder(taken_ns_);
  for (std::string_view record : old_records_) builder.Add(record);
  for (const std::string& record : new_records_) builder.Add(record);
  // A cache that cannot be written costs time, not truth.
  (void)WriteFileAtomically(options_.stat_cache, builder.Finish(), 0600, Durability::kProcess).ok();
}

Result<Frozen> Freezer::Run() {
  // The time comes first: what is written after this moment is newer than the cache will claim.
  if (!options_.stat_cache.empty()) {
    if (auto now = FileSystemNow(options_.stat_cache); now.ok()) {
      use_cache_ = true;
      taken_ns_ = *now;
      cache_ = StatCache::Load(options_.stat_cache);
      cache_.SetNow(taken_ns_);
    }
  }
  auto top = std::make_shared<Folder>();
  TENON_TRY(root_fd_, OpenFile(options_.folder, O_RDONLY | O_DIRECTORY));
  pool_.Add([this, top] { return DoFolder(top); }, 1);
  last_progress_us_ = clock_.MonotonicUs();
  TENON_TRY_VOID(pool_.Run([this] { Progress(); }));
  // After this the snapshot is durable.
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
  std::sort(frozen.skipped.begin(), frozen.skipped.end());
  std::sort(frozen.large.begin(), frozen.large.end());
  return frozen;
}

Result<Frozen> Freeze(ObjectStore& store, const FreezeOptions& options) {
  Freezer freezer(store, options);
  auto frozen = freezer.Run();
  // What was read until then need not be read again; what a full disk left behind goes.
  if (!frozen.ok()) (void)store.Flush().ok();
  return frozen;
}

}  // namespace tenon::snapshot
