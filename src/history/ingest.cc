// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "history/store.h"
#include "journal/format.h"
#include "run/layout.h"

namespace tenon::history {
namespace {

// Other writers wait while we hold a transaction, so a long segment comes in pieces.
constexpr uint64_t kPieceBytes = 64u << 20;

struct Segment {
  std::string name;
  std::string path;
};

Result<std::vector<Segment>> ListSegments(const std::string& run_folder) {
  TENON_TRY(std::vector<std::string> names, ListDir(run_folder));
  std::ranges::sort(names);
  // Near ones first: they tell what run this is.
  std::stable_partition(names.begin(), names.end(),
                        [](const auto& name) { return journal::IsNearSegment(name); });
  std::vector<Segment> segments;
  for (const std::string& name : names) {
    if (!name.ends_with(run::kSegmentSuffix)) continue;
    segments.push_back(
        {name.substr(0, name.size() - run::kSegmentSuffix.size()), JoinPath(run_folder, name)});
  }
  return segments;
}

// Whether a header can be that of a record after `number`.
bool LooksLikeRecordAfter(const char* header28, uint64_t number) {
  const journal::RecordHeader header = journal::DecodeRecordHeader(header28);
  const char* zeros = header28 + journal::kRecordHeaderSize - 3;
  return header.number > number && header.length <= journal::kMaxPayload && zeros[0] == 0 &&
         zeros[1] == 0 && zeros[2] == 0;
}

// False when the segment no longer has the record that `known` says was taken in last, at that
// place. That happens after a power cut: records that had been read but were not on disk yet are
// gone, and whoever went on wrote others under their numbers.
Result<bool> StillThere(const std::string& path, journal::Cursor known) {
  if (known.record == 0) return true;
  TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return FromErrno("looking at " + path, errno);
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size < known.offset) return false;
  char header[journal::kRecordHeaderSize];
  TENON_TRY(const size_t got, ReadAt(fd.get(), header, known.offset));
  if (got < sizeof header || LooksLikeRecordAfter(header, known.record)) return true;
  // Damage after our place, or a place that no longer fits: only the records before it can tell.
  TENON_TRY(journal::Reader reader, journal::Reader::Open(path));
  while (reader.cursor().record < known.record) {
    TENON_TRY(const auto record, reader.Next());
    if (!record) return false;
  }
  return reader.cursor().record == known.record && reader.cursor().offset == known.offset;
}

// What follows the last record of a segment without a writer.
Status IngestTail(HistoryStore& store, const std::string& run_id, const std::string& segment,
                  journal::Cursor at, uint64_t bytes) {
  const auto nothing = [] { return Result<std::optional<journal::Record>>(std::nullopt); };
  TENON_TRY_VOID(store.Ingest(
      run_id, segment, nothing, [&] { return at; }, bytes));
  return {};
}

// Whether the store may have bytes of damage in mind that are no longer there.
Result<bool> MayKnowDamage(HistoryStore& store, const std::string& run_id) {
  auto view = store.Get(run_id);
  if (view.ok()) return view->hole_bytes > 0;
  if (view.error().kind == ErrorKind::kNotFound) return true;
  return std::move(view).error();
}

// A segment that strayed in from another run's folder must not become part of this one.
Status CheckBelongs(HistoryStore& store, const std::string& run_id, const journal::Reader& reader) {
  const std::optional<std::string> key = reader.run_key();
  const auto view = store.Get(run_id);
  if (!key || !view.ok() || view->spec.key == *key) return {};
  return Corrupt("the segment belongs to another run, " + *key);
}

// Takes in all records after the reader's place. Returns whether there were any.
Result<bool> IngestRecords(HistoryStore& store, const std::string& run_id,
                           const std::string& segment, journal::Reader& reader) {
  const bool from_start = reader.cursor().record == 0;
  bool any = false;
  bool more = true;
  while (more) {
    TENON_TRY(std::optional<journal::Record> first, reader.Next());
    if (!first) break;
    if (from_start && !any) TENON_TRY_VOID(CheckBelongs(store, run_id, reader));
    any = true;
    uint64_t taken = 0;
    const auto read = [&]() -> Result<std::optional<journal::Record>> {
      if (first) return std::exchange(first, std::nullopt);
      if (taken >= kPieceBytes) return std::optional<journal::Record>();
      TENON_TRY(const auto record, reader.Next());
      if (record) taken += record->payload.size() + journal::kRecordHeaderSize;
      more = record.has_value();
      return record;
    };
    TENON_TRY_VOID(store.Ingest(
        run_id, segment, read, [&] { return reader.cursor(); }, 0));
  }
  return any;
}

Status IngestSegment(HistoryStore& store, const std::string& run_id, const Segment& segment,
                     journal::Cursor after) {
  TENON_TRY(journal::Reader reader, journal::Reader::Open(segment.path, after));
  // Asked before reading: what a writer adds after the answer is read or left for next time, and
  // the end of a segment that had no writer then stays its end.
  TENON_TRY(const bool alive, reader.WriterAlive());
  TENON_TRY(const bool any, IngestRecords(store, run_id, segment.name, reader));
  if (alive) return {};
  const uint64_t tail = reader.Close();
  if (tail == 0) {
    if (any) return {};
    TENON_TRY(const bool known, MayKnowDamage(store, run_id));
    if (!known) return {};
  }
  return IngestTail(store, run_id, segment.name, reader.cursor(), tail);
}

// All of a file that is no segment is damage.
void IngestUnreadable(HistoryStore& store, const std::string& run_id, const Segment& segment) {
  struct stat info;
  if (::lstat(segment.path.c_str(), &info) != 0) return;
  // The caller has an Error to tell already.
  (void)IngestTail(store, run_id, segment.name, {}, static_cast<uint64_t>(info.st_size)).ok();
}

// Forgets a run whose journal is no longer the one that was taken in.
Result<journal::Place> CheckedPlace(HistoryStore& store, const std::string& run_id,
                                    const std::vector<Segment>& segments) {
  TENON_TRY(journal::Place place, store.PlaceOf(run_id));
  for (const Segment& segment : segments) {
    const auto known = place.find(segment.name);
    if (known == place.end()) continue;
    TENON_TRY(const bool there, StillThere(segment.path, known->second));
    if (there) continue;
    TENON_TRY_VOID(store.Delete(run_id));
    return journal::Place();
  }
  return place;
}

}  // namespace

Status IngestRunFolder(HistoryStore& store, const std::string& run_id,
                       const std::string& run_folder) {
  TENON_TRY(const std::vector<Segment> segments, ListSegments(run_folder));
  TENON_TRY(journal::Place place, CheckedPlace(store, run_id, segments));
  std::optional<Error> problem;
  for (const Segment& segment : segments) {
    Status status = IngestSegment(store, run_id, segment, place[segment.name]);
    if (status.ok()) continue;
    if (status.error().kind == ErrorKind::kCorrupt) IngestUnreadable(store, run_id, segment);
    if (problem) continue;
    problem = std::move(status).error().Wrap("taking " + segment.path + " into the history");
  }
  if (problem) return *std::move(problem);
  return {};
}

Result<RebuildResult> RebuildHistory(
    HistoryStore& store, const std::string& runs_folder,
    const std::function<void(uint64_t done, uint64_t total)>& progress) {
  RebuildResult result;
  std::vector<std::string> names;
  if (auto listed = ListDir(runs_folder); listed.ok()) {
    names = std::move(*listed);
  } else if (listed.error().kind != ErrorKind::kNotFound) {
    return std::move(listed).error();
  }
  // In the order of their ids, which is roughly that of time: neighbours lie together in the index.
  std::ranges::sort(names);
  uint64_t done = 0;
  for (const std::string& name : names) {
    const std::string folder = JoinPath(runs_folder, name);
    if (run::IsValidRunId(name) && IsDirectory(folder)) {
      Status status = IngestRunFolder(store, name, folder);
      // A store that can't be written fails for every run alike.
      if (!status.ok() && status.error().kind == ErrorKind::kDenied)
        return std::move(status).error();
      if (status.ok()) {
        ++result.runs;
      } else {
        result.problems.push_back(std::move(status).error().Wrap("run " + name));
      }
    }
    if (progress) progress(++done, names.size());
  }
  TENON_TRY_VOID(store.MarkRebuilt());
  return result;
}

Result<std::unique_ptr<HistoryStore>> OpenHistory(
    const std::string& home, const std::function<void(uint64_t done, uint64_t total)>& progress) {
  TENON_TRY(const std::string path, IndexPath(home));
  std::unique_ptr<HistoryStore> store;
  if (auto opened = OpenSqliteStore(path); opened.ok()) {
    store = std::move(*opened);
  } else if (opened.error().kind == ErrorKind::kDenied) {
    store = MakeMemoryStore();
  } else {
    return std::move(opened).error();
  }
  TENON_TRY(const bool rebuild, store->NeedsRebuild());
  if (!rebuild) return store;
  auto rebuilt = RebuildHistory(*store, run::Home(home).runs(), progress);
  // An index that was never finished and can't be written now tells what it knows.
  if (!rebuilt.ok() && rebuilt.error().kind != ErrorKind::kDenied) {
    return std::move(rebuilt).error();
  }
  return store;
}

}  // namespace tenon::history
