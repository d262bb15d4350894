// SPDX-License-Identifier: Apache-2.0
// The implementation of Freeze(). Tasks list folders and look at their files in batches. The task
// that finishes the last part of a folder makes the folder's node and reports to the folder above.
#ifndef TENON_SNAPSHOT_FREEZE_FREEZER_H_
#define TENON_SNAPSHOT_FREEZE_FREEZER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "snapshot/freeze/folder_scan.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/freeze/ignore.h"
#include "snapshot/freeze/stat_cache.h"
#include "snapshot/freeze/work_pool.h"
#include "snapshot/store/tree.h"

namespace tenon::snapshot {

class Freezer {
 public:
  Freezer(ObjectStore& store, const FreezeOptions& options);
  // May be called once.
  Result<Frozen> Run();

 private:
  // An entry that goes into the snapshot.
  struct Item {
    const char* name = nullptr;  // in its part's names, followed by a NUL
    uint8_t name_length = 0;
    CachedKind kind = CachedKind::kFile;
    size_t cached = CacheCursor::kNone;  // its entry in the cached folder
    FileStat stat;
    Hash hash, kept;
    bool on_purpose = false;  // an ignore file names it with "!"
    bool is_key = false;      // its contents are a private key
    bool left_out = false;    // it turned out to be a Tenon home or an unwanted private key

    std::string_view Name() const { return {name, name_length}; }
  };

  // Some of a folder's names. No longer changed once a task works on its items.
  struct Part {
    std::string names;
    std::vector<Item> items;
  };

  struct Folder {
    std::shared_ptr<Folder> above;
    Item* item_above = nullptr;
    std::string path;  // within the root
    int depth = 0;
    uint32_t mode = 0;
    bool on_purpose = false;  // it or a folder above it is a key folder that an ignore file names
    bool is_home = false;
    UniqueFd fd;
    std::shared_ptr<const IgnoreScope> rules;
    std::optional<CachedFolder> cached;
    std::deque<Part> parts;                      // only the task that lists adds to it
    size_t count = 0;                            // of items in all parts
    std::map<const Item*, std::string> targets;  // of symlinks; guarded by the Freezer's mutex_
    std::atomic<size_t> pending{1};              // unfinished tasks, listing included
    std::atomic<bool> node_changed{false};       // the node must be made again
    std::atomic<bool> cache_changed{false};      // its record in the cache must be made again

    std::string PathOf(std::string_view name) const;
  };
  using FolderPtr = std::shared_ptr<Folder>;

  // Counted by one task and added to the totals when it ends.
  struct Counts {
    uint64_t files = 0, bytes = 0, files_hashed = 0;
  };

  Status DoFolder(const FolderPtr& folder);
  Status OpenIt(Folder* folder);
  // Reads the folder's ignore file, if it has one. `listing`: all its names; nullptr: looks on the
  // disk.
  Status ReadRules(Folder* folder, const Listing* listing);
  Status ListIt(const FolderPtr& folder);
  // Whether to leave an entry out because it is a key file. `asked`: an ignore file names it with
  // "!".
  bool IsLeftOutKey(const Folder& folder, const std::string& path, bool asked, bool is_folder,
                    Item* item);
  // Leaves a Tenon home out of the folder above it. kInvalid if the root is one.
  Status LeaveOutHome(Folder* folder);
  // Decides for each name whether it is taken and adds the work to the pool.
  Status AddPart(const FolderPtr& folder, Listing listing, CacheCursor* cursor);
  void AddFolder(const FolderPtr& above, Item* item);
  Status AddItems(const FolderPtr& folder, Part* part);
  Status DoItems(const FolderPtr& folder, std::span<Item> items);
  Status DoItem(Folder* folder, Item* item, Counts* counts);
  Status DoFile(Folder* folder, Item* item, Counts* counts);
  // Leaves out a file that turned out to be a private key although its name did not say so.
  void LeaveOutKey(Folder* folder, Item* item);
  Status DoSymlink(Folder* folder, Item* item);
  Status DoStaysHere(Folder* folder, Item* item);
  bool IsCachedFile(Folder* folder, Item* item);
  // Marks the folder as changed if a finished item differs from its cache entry.
  void NoteChanges(Folder* folder, const Item& item);
  Status Done(FolderPtr folder);
  Status Finish(Folder* folder);
  Status MakeNodes(Folder* folder, std::vector<Hash>* nodes, std::vector<Hash>* kept_nodes);
  Status MakeNode(const Folder& folder, const std::vector<const Item*>& sorted, bool kept,
                  std::vector<Hash>* nodes);
  void Remember(const Folder& folder, const std::vector<Hash>& nodes,
                const std::vector<Hash>& kept_nodes);
  void WriteCache();
  void Progress();
  Error Failed(const Folder& folder, std::string_view name, Error error) const;

  ObjectStore& store_;
  const FreezeOptions& options_;
  const Clock& clock_;
  const std::thread::id caller_ = std::this_thread::get_id();
  const IgnoreRules always_;
  std::function<void(uint64_t)> on_bytes_;
  UniqueFd root_fd_;

  bool use_cache_ = false;
  StatCache cache_;
  int64_t taken_ns_ = 0;
  // The packs that hold all small objects of the cache exist and are kept, so these objects need
  // not be checked one by one.
  bool packs_kept_ = false;

  std::atomic<uint64_t> files_{0}, bytes_{0}, files_hashed_{0}, bytes_hashed_{0}, ignored_{0};
  std::atomic<bool> cache_changed_{false};
  int64_t last_progress_us_ = 0;  // used by the calling thread only

  std::mutex mutex_;  // guards the members from here to new_records_ and old_records_
  std::vector<std::string> skipped_;
  std::vector<std::pair<std::string, uint64_t>> large_;
  std::vector<LeftOut> keys_;
  std::vector<std::string> homes_, named_;
  std::vector<std::string> new_records_;
  std::vector<std::string_view> old_records_;

  Hash root_, kept_root_;  // set by the task that finishes the root
  WorkPool pool_;          // last, so that its threads end before the other members are destroyed
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_FREEZER_H_
