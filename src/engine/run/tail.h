// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_TAIL_H_
#define TENON_ENGINE_RUN_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "engine/context.h"
#include "engine/reporter.h"
#include "journal/reader.h"
#include "run/event.h"
#include "transport/host.h"

namespace tenon::engine {

// Reads one segment as it grows, and reports its records. An end is not reported but handed to the
// caller, because records of other segments are reported before it.
class Tail {
 public:
  // Begins at `after`. `path` is the segment's file on the context's host.
  Tail(Context& context, std::string segment, std::string path, journal::Cursor after)
      : context_(context),
        segment_(std::move(segment)),
        path_(std::move(path)),
        decoder_(after),
        offset_(after.offset) {}

  // Reads and reports one piece. Returns false when there is nothing more for now, or no file yet.
  // If the piece has an end, `end` gets it, unless it has one already.
  Result<bool> ReadOn(Reporter& reporter, std::optional<run::End>* end);
  // Reports records that begin at `before` without reading them from the file. Does nothing if the
  // tail is at another place; ReadOn() reports the records then.
  Status Take(journal::Cursor before, std::span<const journal::Record> records,
              journal::Cursor after, Reporter& reporter, std::optional<run::End>* end);
  // To be called after the file was cut. The file has, or will have, other records. All are read
  // again; those that were reported already are skipped.
  void BeginAnew();

  bool HasMore() const;
  transport::KnownLength Known() const { return {path_, offset_}; }
  bool seen() const { return seen_; }  // the file exists
  const std::string& segment() const { return segment_; }
  journal::Cursor cursor() const { return decoder_.cursor(); }

 private:
  void Tell(const journal::Record& record, Reporter& reporter, std::optional<run::End>* end);
  bool BeginAnewIfCut();

  Context& context_;
  std::string segment_, path_;
  journal::Decoder decoder_;
  uint64_t offset_;
  uint64_t told_ = 0;  // highest record number read before the file was cut
  size_t holes_reported_ = 0;
  bool seen_ = false;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_TAIL_H_
