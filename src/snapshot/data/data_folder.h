// SPDX-License-Identifier: Apache-2.0
// The files of a data set on a disk, and how a put replaces one set by another.
//
//   <shared>/NAME/…                     the files
//   <shared>/.tenon-data/NAME.json      DataHeader
//   <shared>/.tenon-data/NAME.files     the list of the set
//   <shared>/.tenon-data/NAME.stats     inode, size and times of each file when it was put
//   <shared>/.tenon-data/NAME.next      the list of the put in progress
//   <shared>/.tenon-data/NAME.ours      paths of puts that stopped while moving files into place
//   <shared>/.tenon-data/NAME.incoming/ files received so far, by hash; HEX.part: incomplete
//   <shared>/.tenon-data/NAME.lock      held by the process that puts or removes
//
// While a put receives files, the old files stay as they are. When all have arrived, the put moves
// them into place one by one, each as a whole file. Until the last one is in place, the header says
// "incomplete".
//
// Paths are not trusted: no symlink in a path is followed.
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
  std::string folder;  // holds the files
  std::string state;   // folder that holds the lists and the incoming files
  std::string name;

  std::string Of(std::string_view suffix) const { return state + "/" + name + std::string(suffix); }
};
// kInvalid: `name` is not a valid data set name.
Result<DataPlace> DataPlaceIn(const std::string& shared, const std::string& name);

// A place for copying files into `folder`, which is made if it does not exist. This is not a data
// set: no list is kept afterwards and no file is removed. A copy that was interrupted goes on if it
// is started again with the same `set`. No symlink below the folder is followed; the path of the
// folder itself may contain symlinks.
Result<DataPlace> CopyPlaceIn(const std::string& folder, const DataSet& set);
// Removes the state of a copy after its files are in place. Does nothing for a data set.
Status EndCopy(const DataPlace& place);
bool IsCopyPlace(const DataPlace& place);

// Copies an open file to `to`. Shares its blocks where the file system can.
Status CopyFile(int from, const std::string& to, Durability durability);

// Called every so often with the number of bytes just re-read from files that exist already. Called
// on the thread that called Begin().
using DataLooked = std::function<Status(uint64_t bytes)>;

// A folder of files. Each part of a path is opened by itself, so that no symlink is followed.
class DataTree {
 public:
  explicit DataTree(std::string root) : root_(std::move(root)) {}

  // Opens a plain file for reading. kNotFound: there is no plain file. kInvalid: a symlink or a
  // file stands where the path needs a folder.
  Result<UniqueFd> Open(const std::string& path);
  // Moves the whole file `from` to `path` and makes missing folders. `from` must be on the same
  // file system.
  Status Place(const std::string& from, const std::string& path);
  // Moves a file of the folder to `to`.
  Status TakeOut(const std::string& path, const std::string& to);
  // Removes a file and the folders that become empty. Succeeds if the file does not exist.
  Status Remove(const std::string& path);

 private:
  struct Parent {
    int fd = -1;
    std::string leaf;
  };
  // The folder that contains `path`. Its descriptor stays open until the next call.
  Result<Parent> OpenParent(const std::string& path, bool make);

  std::string root_;
  std::string open_folder_;  // the relative path of open_
  UniqueFd open_;
};

class DataReceiver {
 public:
  struct Lack {
    size_t file = 0;      // index in the set
    uint64_t offset = 0;  // bytes that have arrived already
  };
  struct Done {
    uint64_t placed = 0;   // files that are new or differ from before
    uint64_t removed = 0;  // files of the old set that are not in the new one
  };

  // Looks at the existing files and records that a put has begun. A file counts as present if its
  // stat is the recorded one, or else if its bytes have the hash. kUnavailable: another process
  // puts or removes this set.
  static Result<std::unique_ptr<DataReceiver>> Begin(const DataPlace& place, DataSet set,
                                                     const DataLooked& looked);
  DataReceiver(const DataReceiver&) = delete;
  DataReceiver& operator=(const DataReceiver&) = delete;
  ~DataReceiver();

  // What must still be sent; each content once.
  const std::vector<Lack>& lacks() const { return lacks_; }
  const DataSet& set() const { return set_; }

  // Takes the next bytes of a missing file, in order. kCorrupt: the bytes do not follow what has
  // arrived, or the file is complete and does not have its hash; in the second case its bytes are
  // dropped. Bytes of a content that has arrived already are ignored.
  Status Take(size_t file, uint64_t offset, std::string_view bytes);

  // Moves all files into place and removes the files of the old set that are not in the new one.
  // kUnavailable: a file is still missing.
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
  std::map<std::string, Known> old_;       // by path: files of earlier puts
  std::vector<bool> there_;                // by index in the set
  std::map<Hash, std::string> elsewhere_;  // contents of files of the tree, with the path
  std::map<Hash, bool> arrived_;           // contents that are complete in incoming
  std::vector<Lack> lacks_;
  std::unique_ptr<Incoming> open_;
  std::map<size_t, std::unique_ptr<Incoming>> begun_;  // by index: files that had partly arrived
};

// Removes the files that puts have brought, and all records of them. Files that others have put
// into the folder stay. kNotFound: no such data set. kUnavailable: another process puts or removes
// it.
struct DataRemoved {
  uint64_t files = 0;
  bool others_left = false;  // the folder remains: it holds files that no put has brought
};
Result<DataRemoved> RemoveDataSet(const DataPlace& place);

// Reads the list and the header of a data set. The list is empty if no put has ever finished.
// kNotFound: there is no data set of that name. kCorrupt: its records are damaged.
Result<DataSet> ReadDataSet(const DataPlace& place, DataHeader* header);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_FOLDER_H_
