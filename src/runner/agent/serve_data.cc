// SPDX-License-Identifier: Apache-2.0
#include "runner/agent/serve_data.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "run/layout.h"
#include "runner/supervise/prepare.h"
#include "runner/verbs/account.h"

namespace tenon::runner {
namespace {

constexpr uint64_t kTellEvery = 32u << 20;
constexpr size_t kSkippedNamed = 100;

// A path in a request. `~` and relative paths are below the user's home.
Result<std::string> PathOf(const json::Object& request, const char* key) {
  const std::string told = json::DecodeBytes(json::GetString(request, key));
  Environment environment;
  environment["HOME"] = OurAccount(CurrentEnvironment()).home;
  TENON_TRY(std::string path, ExpandHome(told, environment));
  if (path.empty() || path[0] != '/') path = JoinPath(environment["HOME"], path);
  if (path[0] != '/' || path.find('\0') != std::string::npos) {
    return Invalid("reading the request: " + std::string(key) + " is no path");
  }
  return path;
}

Result<snapshot::DataPlace> PlaceOf(const json::Object& request) {
  TENON_TRY(const std::string shared, PathOf(request, "shared"));
  return snapshot::DataPlaceIn(shared, json::GetString(request, "name"));
}

}  // namespace

Status ServeData::Carry(const std::string& op, const json::Object& request,
                        const std::string& body) {
  if (op == "data-piece") return Piece(request, body);
  if (op == "data-begin") return Begin(request, body);
  if (op == "data-done") return Done();
  if (op == "data-list") return List(request);
  if (op == "data-files") return Files(request);
  if (op == "data-get") return Get(request, body);
  if (op == "data-remove") return Remove(request);
  if (op == "data-stat") return Stat(request);
  if (op == "data-scan") return Scan(request);
  return link_.Fail(Invalid("the agent knows no request \"" + op + "\"")
                        .WithHint("the client is of another version"));
}

// Makes a function that takes a number of bytes and tells the client from time to time that work
// goes on. An error of the link is also put into `link`.
std::function<Status(uint64_t)> ServeData::Teller(Status* link) {
  return [this, link, untold = uint64_t{0}](uint64_t bytes) mutable -> Status {
    note_use_();
    untold += bytes;
    if (untold < kTellEvery) return {};
    *link = link_.Send({{"looked", std::exchange(untold, 0)}});
    return *link;
  };
}

Status ServeData::Begin(const json::Object& request, const std::string& body) {
  receiver_.reset();
  failed_ = false;
  Status link;
  const auto looked = Teller(&link);
  const auto begin = [&]() -> Result<std::unique_ptr<snapshot::DataReceiver>> {
    TENON_TRY(const std::string text, snapshot::UnpackDataText(body));
    TENON_TRY(snapshot::DataSet set, snapshot::DataSet::FromText(text));
    snapshot::DataPlace place;
    if (request.contains("folder")) {
      TENON_TRY(const std::string folder, PathOf(request, "folder"));
      TENON_TRY(place, snapshot::CopyPlaceIn(folder, set));
    } else {
      TENON_TRY(place, PlaceOf(request));
    }
    return snapshot::DataReceiver::Begin(place, std::move(set), looked);
  };
  auto receiver = begin();
  if (!link.ok()) return link;
  if (!receiver.ok()) return link_.Fail(receiver.error());
  receiver_ = std::move(*receiver);
  return link_.Send({{"ok", true}, {"lacks", receiver_->lacks().size()}},
                    snapshot::PackDataText(snapshot::LacksToText(receiver_->lacks())));
}

Status ServeData::Piece(const json::Object& request, const std::string& body) {
  if (failed_) return {};
  const auto taken = receiver_ ? snapshot::TakeDataPiece(*receiver_, request, body)
                               : Result<uint64_t>(Invalid("a piece came before a put was begun"));
  if (taken.ok()) return {};
  failed_ = true;
  receiver_.reset();
  return link_.Fail(taken.error());
}

Status ServeData::Done() {
  if (!receiver_) return link_.Fail(Invalid("no put was begun, or it has failed"));
  const auto done = receiver_->Finish(SystemClock().NowUs());
  receiver_.reset();
  if (!done.ok()) return link_.Fail(done.error());
  return link_.Send({{"ok", true}, {"placed", done->placed}, {"removed", done->removed}});
}

Status ServeData::List(const json::Object& request) {
  const auto shared = PathOf(request, "shared");
  if (!shared.ok()) return link_.Fail(shared.error());
  json::Array sets;
  for (const auto& header : snapshot::ListDataSets(*shared)) sets.push_back(header.ToJson());
  return link_.Send(
      {{"ok", true}, {"shared", json::EncodeBytes(*shared)}, {"sets", std::move(sets)}});
}

Status ServeData::Files(const json::Object& request) {
  snapshot::DataHeader header;
  const auto read = [&]() -> Result<snapshot::DataSet> {
    TENON_TRY(const snapshot::DataPlace place, PlaceOf(request));
    return snapshot::ReadDataSet(place, &header);
  };
  const auto set = read();
  if (!set.ok()) return link_.Fail(set.error());
  return link_.Send({{"ok", true}, {"header", header.ToJson()}},
                    snapshot::PackDataText(set->ToText()));
}

Status ServeData::Get(const json::Object& request, const std::string& body) {
  Status link;
  const snapshot::PutDataPiece put = [&](const json::Object& head, const std::string& bytes) {
    note_use_();
    link = link_.Send(head, bytes);
    return link;
  };
  Status sent =
      json::GetBool(request, "scan") ? SendScanned(body, put) : SendSet(request, body, put);
  if (!link.ok()) return link;
  return sent.ok() ? link_.Ok() : link_.Fail(sent.error());
}

Status ServeData::SendSet(const json::Object& request, const std::string& body,
                          const snapshot::PutDataPiece& put) {
  TENON_TRY(const snapshot::DataPlace place, PlaceOf(request));
  snapshot::DataHeader header;
  TENON_TRY(const snapshot::DataSet set, snapshot::ReadDataSet(place, &header));
  if (header.fingerprint != json::GetString(request, "fingerprint")) {
    return Unavailable("the data set " + place.name + " was changed meanwhile");
  }
  TENON_TRY(const std::string text, snapshot::UnpackDataText(body));
  TENON_TRY(const auto wants, snapshot::LacksFromText(text, set));
  snapshot::DataTree tree(place.folder);
  for (const auto& want : wants) {
    const snapshot::DataFile& file = set.files[want.file];
    TENON_TRY(const UniqueFd fd, tree.Open(file.path));
    TENON_TRY_VOID(snapshot::SendDataPieces(fd.get(), file, want.file, want.offset, put));
  }
  return {};
}

Status ServeData::SendScanned(const std::string& body, const snapshot::PutDataPiece& put) {
  if (!scan_) return Invalid("nothing was scanned");
  TENON_TRY(const std::string text, snapshot::UnpackDataText(body));
  TENON_TRY(const auto wants, snapshot::LacksFromText(text, scan_->set));
  for (const auto& want : wants) {
    TENON_TRY(const UniqueFd fd, scan_->Open(want.file));
    TENON_TRY_VOID(snapshot::SendDataPieces(fd.get(), scan_->set.files[want.file], want.file,
                                            want.offset, put));
  }
  return {};
}

Status ServeData::Stat(const json::Object& request) {
  const auto path = PathOf(request, "path");
  if (!path.ok()) return link_.Fail(path.error());
  struct stat info {};
  const bool there = ::stat(path->c_str(), &info) == 0;
  if (!there && errno != ENOENT && errno != ENOTDIR) return link_.Fail(FromErrno(*path, errno));
  const char* kind = !there ? "none" : S_ISDIR(info.st_mode) ? "folder" : "file";
  return link_.Send({{"ok", true}, {"kind", kind}, {"path", json::EncodeBytes(*path)}});
}

Status ServeData::Scan(const json::Object& request) {
  scan_.reset();
  Status link;
  const auto tell = Teller(&link);
  uint64_t before = 0;
  snapshot::DataScanOptions options;
  options.progress = [&](uint64_t done, uint64_t) {
    return tell(done - std::exchange(before, done));
  };
  const auto scan = [&]() -> Result<snapshot::DataScan> {
    TENON_TRY(const std::string path, PathOf(request, "path"));
    return snapshot::ScanData(path, options);
  };
  auto found = scan();
  if (!link.ok()) return link;
  if (!found.ok()) return link_.Fail(found.error());
  scan_ = std::move(*found);
  json::Array skipped;
  for (const std::string& path : scan_->skipped) {
    if (skipped.size() < kSkippedNamed) skipped.emplace_back(json::EncodeBytes(path));
  }
  return link_.Send({{"ok", true},
                     {"is_file", scan_->is_file},
                     {"root", json::EncodeBytes(scan_->root)},
                     {"skipped", std::move(skipped)}},
                    snapshot::PackDataText(scan_->set.ToText()));
}

Status ServeData::Remove(const json::Object& request) {
  const auto remove = [&]() -> Result<snapshot::DataRemoved> {
    TENON_TRY(const snapshot::DataPlace place, PlaceOf(request));
    return snapshot::RemoveDataSet(place);
  };
  const auto removed = remove();
  if (!removed.ok()) return link_.Fail(removed.error());
  return link_.Send(
      {{"ok", true}, {"files", removed->files}, {"others_left", removed->others_left}});
}

}  // namespace tenon::runner
