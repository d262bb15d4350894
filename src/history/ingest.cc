// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/regular_file.h"
#include "base/terminal.h"
#include "history/database.h"
#include "history/store.h"
#include "journal/format.h"
#include "run/layout.h"

namespace tenon::history {
namespace {

// Other writers wait during a transaction, so a long segment is ingested in pieces.
constexpr uint64_t kPieceBytes = 64u << 20;
constexpr size_t kMaxSpecFile = 4u << 20;
// A new submit makes its folder before its journal.
constexpr time_t kYoungSeconds = 60;

struct Segment {
  std::string name;
  std::string path;
};

Result<std::vector<Segment>> ListSegments(const std::string& run_folder) {
  TENON_TRY(std::vector<std::string> names, ListDir(run_folder));
  std::ranges::sort(names);
  // Near segments first: they say which run this is.
  std::stable_partition(names.begin(), names.end(),
                        [](const auto& name) { return journal::IsNearSegment(name); });
  std::erase_if(names, [](const auto& name) { return !name.ends_with(run::kSegmentSuffix); });
  if (names.size() > journal::kMaxSegments) {
    return Corrupt(run_folder + " has " + std::to_string(names.size()) +
                   " segments, more than the " + std::to_string(journal::kMaxSegments) +
                   " that are read");
  }
  std::vector<Segment> segments;
  for (const std::string& name : names) {
    segments.push_back(
        {name.substr(0, name.size() - run::kSegmentSuffix.size()), JoinPath(run_folder, name)});
  }
  return segments;
}

// Whether a header can be that of a record after record `number`.
bool LooksLikeRecordAfter(const char* header28, uint64_t number) {
  const journal::RecordHeader header = journal::DecodeRecordHeader(header28);
  const char* zeros = header28 + journal::kRecordHeaderSize - 3;
  return header.number > number && header.length <= journal::kMaxPayload && zeros[0] == 0 &&
         zeros[1] == 0 && zeros[2] == 0;
}

// False when the segment no longer has the record `known.record`, the last one ingested, at that
// offset. That happens after a power cut: records that had been read but were not yet on disk are
// gone, and a new writer used their numbers for other records.
Result<bool> StillThere(const std::string& path, journal::Cursor known) {
  if (known.record == 0) return true;
  TENON_TRY(const UniqueFd fd, OpenRegular(path, O_RDONLY | O_NOFOLLOW));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return FromErrno("looking at " + path, errno);
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size < known.offset) return false;
  char header[journal::kRecordHeaderSize];
  TENON_TRY(const size_t got, ReadAt(fd.get(), header, known.offset));
  if (got < sizeof header || LooksLikeRecordAfter(header, known.record)) return true;
  // Damage after this place, or a place that no longer fits. Only the records before it can tell.
  TENON_TRY(journal::Reader reader, journal::Reader::Open(path));
  while (reader.cursor().record < known.record) {
    TENON_TRY(const auto record, reader.Next());
    if (!record) return false;
  }
  return reader.cursor().record == known.record && reader.cursor().offset == known.offset;
}

// Tells the store how many bytes follow the last record of a segment without a writer.
Status IngestTail(HistoryStore& store, const std::string& run_id, const std::string& segment,
                  journal::Cursor at, uint64_t bytes) {
  const auto nothing = [] { return Result<std::optional<journal::Record>>(std::nullopt); };
  TENON_TRY_VOID(store.Ingest(
      run_id, segment, nothing, [&] { return at; }, bytes));
  return {};
}

// Whether the store may count damaged bytes that are no longer in the segment.
Result<bool> MayKnowDamage(HistoryStore& store, const std::string& run_id) {
  auto view = store.Get(run_id);
  if (view.ok()) return view->hole_bytes > 0;
  if (view.error().kind == ErrorKind::kNotFound) return true;
  return std::move(view).error();
}

// A segment from the folder of another run must not become part of this one.
Status CheckBelongs(HistoryStore& store, const std::string& run_id, const journal::Reader& reader) {
  const std::optional<std::string> key = reader.run_key();
  const auto view = store.Get(run_id);
  if (!key || !view.ok() || view->spec.key.empty() || view->spec.key == *key) return {};
  return Corrupt("the segment belongs to another run, " + *key);
}

// A folder that was copied under another name, or made up, must not be taken for the run that its
// record names: commands on one of the two would hit the other.
Status CheckNames(const std::string& run_id, const std::string& segment,
                  const journal::Record& record) {
  if (record.type != static_cast<uint8_t>(run::EventType::kSubmitted)) return {};
  if (!journal::IsNearSegment(segment)) return {};
  const auto event = run::DecodeEvent(record.type, record.payload);
  if (!event.ok() || !*event) return {};  // a record that cannot be decoded names no run
  const std::string& named = std::get<run::Submitted>(**event).spec.id;
  if (named == run_id) return {};
  return Corrupt("it is the record of another run, " + OneLine(named));
}

// Ingests all records after the reader's place. Returns whether there were any.
Result<bool> IngestRecords(HistoryStore& store, const std::string& run_id,
                           const std::string& segment, journal::Reader& reader) {
  const bool from_start = reader.cursor().record == 0;
  bool any = false;
  bool more = true;
  while (more) {
    TENON_TRY(std::optional<journal::Record> first, reader.Next());
    if (!first) break;
    if (from_start && !any) TENON_TRY_VOID(CheckBelongs(store, run_id, reader));
    TENON_TRY_VOID(CheckNames(run_id, segment, *first));
    any = true;
    uint64_t taken = 0;
    const auto read = [&]() -> Result<std::optional<journal::Record>> {
      if (first) return std::exchange(first, std::nullopt);
      if (taken >= kPieceBytes) return std::optional<journal::Record>();
      TENON_TRY(const auto record, reader.Next());
      if (record) {
        TENON_TRY_VOID(CheckNames(run_id, segment, *record));
        taken += record->payload.size() + journal::kRecordHeaderSize;
      }
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
  // Ask for the writer before reading. If there was none, the end that is read stays the end of the
  // segment. What a new writer adds after the answer is read now or next time.
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

// Counts the whole file as damage, because it is not a segment.
void IngestUnreadable(HistoryStore& store, const std::string& run_id, const Segment& segment) {
  struct stat info;
  if (::lstat(segment.path.c_str(), &info) != 0) return;
  // The caller already returns an Error.
  (void)IngestTail(store, run_id, segment.name, {}, static_cast<uint64_t>(info.st_size)).ok();
}

// The places of PlaceOf(). If the journal is no longer the one that was ingested, deletes the run
// from the index and returns no places.
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

Status IngestSegments(HistoryStore& store, const std::string& run_id,
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

// What is known of a run without its journal: its spec, if spec.json has it, and what the folder's
// name and time tell.
journal::RunView KnownFromFolder(const std::string& run_id, const std::string& run_folder) {
  journal::RunView known;
  const auto text = ReadFile(run::RunFolder(run_folder).spec(), kMaxSpecFile);
  const auto value = text.ok() ? json::Parse(*text) : Result<json::Value>(text.error());
  if (value.ok() && value->is_object()) {
    const json::Object* asked = json::GetObject(value->get_object(), "spec");
    auto spec = asked ? run::RunSpec::FromRecord(*asked) : Result<run::RunSpec>(NotFound(""));
    if (spec.ok() && spec->id == run_id) known.spec = std::move(*spec);
  }
  known.spec.id = run_id;
  known.created_us = run::TimeInRunId(run_id) * 1000;
  struct stat info;
  if (known.created_us == 0 && ::lstat(run_folder.c_str(), &info) == 0) {
    known.created_us = int64_t{info.st_mtim.tv_sec} * 1'000'000;
  }
  return known;
}

// The reason to list a run whose journal does not say what was submitted; "" = the folder is no
// run, or the run is just being made.
std::string WhyNothingIsSaid(const std::string& run_folder) {
  const auto segments = ListSegments(run_folder);
  if (!segments.ok()) return segments.error().message;
  struct stat info;
  bool begun = false;
  for (const Segment& segment : *segments) {
    if (IsLockedByOther(segment.path).value_or(false)) return "";
    begun = begun || (::lstat(segment.path.c_str(), &info) == 0 && info.st_size > 0);
  }
  // A submit that died before its first record was on disk leaves only this: its own near segment,
  // empty or torn. It has told nobody of a run, so there is none.
  const auto names = ListDir(run_folder);
  const auto is_near = [](const std::string& name) { return journal::IsNearSegment(name); };
  if (names.ok() && std::ranges::all_of(*names, is_near)) return "";
  if (begun) return "no segment says what was submitted";
  if (names.ok() && names->size() == segments->size()) return "";
  // Somebody else's folder is no run.
  const bool looks_like_one = run::TimeInRunId(BaseName(run_folder)) != 0 || !segments->empty() ||
                              Exists(run::RunFolder(run_folder).spec());
  if (!looks_like_one) return "";
  const bool young = ::lstat(run_folder.c_str(), &info) == 0 &&
                     std::abs(::time(nullptr) - info.st_mtim.tv_sec) < kYoungSeconds;
  return young ? "" : "it has no journal";
}

// Whether the Error is about the contents of the run's folder, not about the index or the disk.
bool IsOfTheRun(const Error& error) {
  return error.hint != kRebuildHint && error.kind != ErrorKind::kUnavailable &&
         error.kind != ErrorKind::kInternal;
}

}  // namespace

Status IngestRunFolder(HistoryStore& store, const std::string& run_id,
                       const std::string& run_folder) {
  Status status = IngestSegments(store, run_id, run_folder);
  if (!status.ok() && (!IsOfTheRun(status.error()) || !Exists(run_folder))) return status;
  std::string why = status.ok() ? "" : status.error().message;
  if (status.ok()) {
    const auto view = store.Get(run_id);
    if (!view.ok() && view.error().kind != ErrorKind::kNotFound) return view.error();
    const bool told = view.ok() && !view->untold;
    if (told && view->unreadable.empty()) return {};
    if (!told) why = WhyNothingIsSaid(run_folder);
  }
  Status noted = store.SetUnreadable(run_id, why, KnownFromFolder(run_id, run_folder));
  // If the index can't be written, return the first Error: the note fails for the same reason.
  if (!noted.ok() && (status.ok() || noted.error().kind != ErrorKind::kDenied)) return noted;
  return status;
}

}  // namespace tenon::history
