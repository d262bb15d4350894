// SPDX-License-Identifier: Apache-2.0
// Where a data set lies on a disk, and how one becomes another.
//
//   <shared>/NAME/…                     the files
//   <shared>/.tenon-data/NAME.json      DataHeader
//   <shared>/.tenon-data/NAME.files     its list
//   <shared>/.tenon-data/NAME.stats     what the files looked like when they were put there
//   <shared>/.tenon-data/NAME.next      the list of a put that goes on
//   <shared>/.tenon-data/NAME.ours      paths of puts that broke off while files took their places
//   <shared>/.tenon-data/NAME.incoming/ what it has brought so far, by hash; HEX.part: not whole
//   <shared>/.tenon-data/NAME.lock      held by who puts or removes
//
// While a put brings files, the old ones stay as they are. When all are there they take their
// places one by one, each whole; the header says "incomplete" as long as that lasts.
//
// Paths are never trusted: no part of one is followed if it is a symlink.
#ifndef TENON_SNAPSHOT_DATA_DATA_FOLDER_H_
#define TENON_SNAPSHOT_DATA_DATA_FOLDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "snapshot/data/data_set.h"

namespace tenon::snapshot {

struct DataPlace {
  std::string folder;  // of the files
  std::string state;   // of lists and what is on its way
  std::string name;

  std::string Of(std::string_view suffix) const { return state + "/" + name + std::string(suffix); }
};
// kInvalid: a bad name.
Result<DataPlace> DataPlaceIn(const std::string& shared, const std::string& name);

// A place for files that are copied into a folder, which need not be there yet: no data set, so
// nothing is remembered and nothing is removed. A copy that was cut off is known again by `set`.
// No symlink below the folder is followed; the folder itself may be reached through some.
Result<DataPlace> CopyPlaceIn(const std::string& folder, const DataSet& set);
// Once the files have taken their places.
Status EndCopy(const DataPlace& place);
bool IsCopyPlace(const DataPlace& place);

// A copy of a file, sharing its blocks where the file system can.
Status CopyFile(int from, const std::string& to, Durability durability);

// Bytes that were read again to see what is there, now and then; called from the same thread.
using DataLooked = std::function<Status(uint64_t bytes)>;

// A folder whose files are opened part by part.
class DataTree {
 public:
  explicit DataTree(std::string root) : root_(std::move(root)) {}

  // A plain file, for reading. kNotFound: none there. kInvalid: a symlink on the way.
  Result<UniqueFd> Open(const std::string& path);
  // Puts a whole file there; missing folders are made. `from` is on the same file system.
  Status Place(const std::string& from, const std::string& path);
  // Takes a file out, to `to`.
  Status TakeOut(const std::string& path, const std::string& to);
  // Removes a file and the folders that become empty. Not there: success.
  Status Remove(const std::string& path);

 private:
  struct Parent {
    int fd = -1;
    std::string leaf;
  };
  // The folder of a path. Stays open until the next call.
  Result<Parent> OpenParent(const std::string& path, bool make);

  std::string root_;
  std::string open_folder_;  // relative; of open_
  UniqueFd open_;
};

class DataReceiver {
 public:
  struct Lack {
    size_t file = 0;      // index in the set
    uint64_t offset = 0;  // so much of it is there
  };
  struct Done {
    uint64_t placed = 0;   // files that are new or other than before
    uint64_t removed = 0;  // files of the old set that went away
  };

  // Looks at what is there and notes that a put has begun. A file is there when it is as it was
  // left, or else when its bytes have the hash. kUnavailable: somebody else puts or removes it.
  static Result<std::unique_ptr<DataReceiver>> Begin(const DataPlace& place, DataSet set,
                                                     const DataLooked& looked);
  DataReceiver(const DataReceiver&) = delete;
  DataReceiver& operator=(const DataReceiver&) = delete;
  ~DataReceiver();

  // What must still come; each content once.
  const std::vector<Lack>& lacks() const { return lacks_; }
  const DataSet& set() const { return set_; }

  // The next bytes of a file that was lacking, in order. kInvalid: they do not follow what is
  // there. kCorrupt: all came, and they do not have the hash; they are dropped.
  Status Take(size_t file, uint64_t offset, std::string_view bytes);

  // Everything takes its place, and what the old set had and this one has not goes away.
  // kUnavailable: something is still lacking.
  Result<Done> Finish(int64_t now_us);

 private:
  struct Incoming;
  DataReceiver(DataPlace place, DataSet set, FileLock lock);

  Status LookAtOld(const DataLooked& looked);
  Result<bool> IsThere(const DataFile& file, const DataLooked& looked);
  Status FindLacks(const DataLooked& looked);
  Status LookAtIncoming(const DataFile& file, size_t index, const DataLooked& looked);
  Result<std::unique_ptr<Incoming>> OpenPart(size_t index, uint64_t offset,
                                             const DataLooked& looked) const;
  Status DropUnwanted();
  Status NoteBegin();
  Status WholeOne(const DataFile& file);
  Status StageCopies();
  Status PlaceAll(Done* done);
  Status RemoveOld(bool in_the_way, Done* done);
  bool Blocks(const std::string& path) const;
  bool Wanted(const std::string& path) const;
  Status WriteHeader(const DataHeader& header);
  std::string IncomingPath(const Hash& hash) const;

  struct Known {
    Hash hash;
    std::string stat;
  };

  DataPlace place_;
  DataSet set_;
  FileLock lock_;
  DataTree tree_;
  std::map<std::string, Known> old_;       // by path: files that puts have brought
  std::vector<bool> there_;                // by index in the set
  std::map<Hash, std::string> elsewhere_;  // contents to be had from a file of the tree
  std::map<Hash, bool> arrived_;           // contents that are whole in incoming
  std::vector<Lack> lacks_;
  std::unique_ptr<Incoming> open_;
  std::map<size_t, std::unique_ptr<Incoming>> begun_;  // by index: partly there before
};

// Removes the files that puts have brought, and what is known of them. Files of others in the
// folder stay.
struct DataRemoved {
  uint64_t files = 0;
  bool others_left = false;
};
Result<DataRemoved> RemoveDataSet(const DataPlace& place);

// The list of a data set. kNotFound: there is none of that name.
Result<DataSet> ReadDataSet(const DataPlace& place, DataHeader* header);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_FOLDER_H_
