// SPDX-License-Identifier: Apache-2.0
// The work behind Freeze(): folders are listed, their files looked at in batches, and whoever
// finishes the last part of a folder makes its node and tells the folder above.
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
  // Once.
  Result<Frozen> Run();

 private:
  // An entry that goes into the snapshot.
  struct Item {
    const char* name = nullptr;  // in its part's names, with a NUL behind it
    uint8_t name_length = 0;
    CachedKind kind = CachedKind::kFile;
    size_t cached = CacheCursor::kNone;  // its entry in the cached folder
    FileStat stat;
    Hash hash, kept;
    bool on_purpose = false;  // an ignore file asks for it
    bool is_key = false;      // by its contents
    bool left_out = false;    // turned out to be a Tenon home, or such a key

    std::string_view Name() const { return {name, name_length}; }
  };

  // Some of a folder's names, complete before anybody works on them.
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
    bool on_purpose = false;  // it, or one above it, is a folder of keys that is asked for
    bool is_home = false;
    UniqueFd fd;
    std::shared_ptr<const IgnoreScope> rules;
    std::optional<CachedFolder> cached;
    std::deque<Part> parts;                      // added to by the one who lists
    size_t count = 0;                            // of items in all parts
    std::map<const Item*, std::string> targets;  // of symlinks; guarded by the Freezer's mutex_
    std::atomic<size_t> pending{1};              // tasks not done, listing included
    std::atomic<bool> node_changed{false};       // the node must be made anew
    std::atomic<bool> cache_changed{false};      // its record in the cache must be made anew

    std::string PathOf(std::string_view name) const;
  };
  using FolderPtr = std::shared_ptr<Folder>;

  // Counted by one task, added to the totals at its end.
  struct Counts {
    uint64_t files = 0, bytes = 0, files_hashed = 0;
  };

  Status DoFolder(const FolderPtr& folder);
  Status OpenIt(Folder* folder);
  // Takes the ignore file that counts, if there is one. `listing`: all names; nullptr: go and look.
  Status ReadRules(Folder* folder, const Listing* listing);
  Status ListIt(const FolderPtr& folder);
  // Whether an entry is left out because it is a key file. `asked`: an ignore file says to take it.
  bool IsLeftOutKey(const Folder& folder, const std::string& path, bool asked, bool is_folder,
                    Item* item);
  // Takes a Tenon home out of the folder above it; of the root: an Error.
  Status LeaveOutHome(Folder* folder);
  // Decides what becomes of some names and adds the work to the pool.
  Status AddPart(const FolderPtr& folder, Listing listing, CacheCursor* cursor);
  void AddFolder(const FolderPtr& above, Item* item);
  Status AddItems(const FolderPtr& folder, Part* part);
  Status DoItems(const FolderPtr& folder, std::span<Item> items);
  Status DoItem(Folder* folder, Item* item, Counts* counts);
  Status DoFile(Folder* folder, Item* item, Counts* counts);
  // A file whose contents are a key, under a name that told nothing.
  void LeaveOutKey(Folder* folder, Item* item);
  Status DoSymlink(Folder* folder, Item* item);
  Status DoStaysHere(Folder* folder, Item* item);
  bool IsCachedFile(Folder* folder, Item* item);
  // Compares a finished item with what the cache says of it.
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
  // The packs with all that the cache knows of are there and stay: no need to ask for each object.
  bool packs_kept_ = false;

  std::atomic<uint64_t> files_{0}, bytes_{0}, files_hashed_{0}, bytes_hashed_{0}, ignored_{0};
  std::atomic<bool> cache_changed_{false};
  int64_t last_progress_us_ = 0;  // of the calling thread

  std::mutex mutex_;  // guards what is below, up to the roots
  std::vector<std::string> skipped_;
  std::vector<std::pair<std::string, uint64_t>> large_;
  std::vector<LeftOut> keys_;
  std::vector<std::string> homes_, named_;
  std::vector<std::string> new_records_;
  std::vector<std::string_view> old_records_;

  Hash root_, kept_root_;  // set by the task that finishes the root
  WorkPool pool_;          // last: its threads are gone before anything else is
};

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_FREEZER_H_
