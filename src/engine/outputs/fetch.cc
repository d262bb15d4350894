// SPDX-License-Identifier: Apache-2.0
#include "engine/outputs/fetch.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/file.h"
#include "history/store.h"
#include "journal/segments.h"
#include "journal/writer.h"
#include "run/layout.h"
#include "run/segment.h"
#include "snapshot/store/tree_read.h"
#include "snapshot/transfer/transfer.h"
#include "transport/agent.h"

namespace tenon::engine {
namespace {

// Objects of one request; the head of a frame has a size limit.
constexpr size_t kAskedAtOnce = 10'000;
constexpr size_t kMaxMark = 64 << 10;
// Objects that the nodes of one tree may name. A machine can name objects that it does not have, so
// this needs a limit.
constexpr size_t kMaxNamed = 1'000'000;
constexpr int64_t kSilenceUs = 120'000'000;

std::string Mark(const Context& context, const std::string& run_id) {
  return JoinPath(run::RunFolder(context.home, run_id).path(), "fetched");
}

// The length of our copy of a segment; 0 when there is none.
int64_t LengthOfCopy(const run::RunFolder& folder, std::string_view segment) {
  struct stat st {};
  return ::stat(folder.segment(segment).c_str(), &st) == 0 ? st.st_size : 0;
}

// Sends one request and takes in its stream.
Result<uint64_t> FetchSome(Machine& far, snapshot::ObjectReceiver& receiver,
                           std::span<const WantedObject> wanted,
                           const std::function<void(uint64_t)>& on_bytes) {
  json::Array wants;
  for (const WantedObject& one : wanted) {
    one.node ? receiver.AskForNode(one.hash) : receiver.Ask(one.hash, one.size);
    // A longer partial file belongs to something else, so the object is requested from its
    // beginning.
    const uint64_t there = receiver.PartialBytes(one.hash);
    wants.push_back(json::Object{
        {"hash", one.hash.Hex()}, {"size", one.size}, {"offset", there <= one.size ? there : 0}});
  }
  transport::FrameLink& link = *far.host().frames();
  TENON_TRY_VOID(link.Send(
      {{"op", "get"}, {"home", json::EncodeBytes(far.home().root())}, {"wants", std::move(wants)}},
      {}));
  uint64_t bytes = 0;
  for (;;) {
    TENON_TRY(const Frame frame, link.Receive(kSilenceUs));
    if (!frame.head.contains("op")) {
      TENON_TRY_VOID(receiver.Flush());
      if (!json::GetBool(frame.head, "ok")) return transport::AnswerError(frame.head);
      if (const auto missing = receiver.StillAsked()) {
        return Corrupt("the machine says that it has sent all that was asked for, but object " +
                       missing->Hex() + " has not come");
      }
      return bytes;
    }
    bytes += frame.body.size();
    on_bytes(bytes);
    auto taken = receiver.Take(frame.head, frame.body);
    if (taken.ok()) continue;
    // Does not wait for what is still on its way. Objects that came before stay.
    link.Close();
    (void)receiver.Flush().ok();
    return std::move(taken).error();
  }
}

// What the journal says. Uses the index if it can be opened, because it has to take the journal in
// anyway.
Result<journal::RunView> ReadRun(Context& context, const std::string& run_id) {
  const std::string folder = run::RunFolder(context.home, run_id).path();
  const auto store = context.History();
  if (store.ok() && history::IngestRunFolder(**store, run_id, folder).ok()) {
    if (auto run = (*store)->Get(run_id); run.ok()) return run;
  }
  return journal::FoldRunFolder(folder);
}

}  // namespace

Result<uint64_t> FetchObjects(Context& context, Machine& far,
                              const std::vector<WantedObject>& wanted, std::string_view what,
                              Reporter& reporter) {
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  std::vector<WantedObject> missing;
  std::unordered_set<Hash> seen;
  uint64_t total = 0, done = 0;
  for (const WantedObject& one : wanted) {
    if (!seen.insert(one.hash).second || objects->Keep(one.hash, one.size)) continue;
    missing.push_back(one);
    total += one.size;
  }
  snapshot::ObjectReceiver receiver(*objects, context.home.incoming());
  for (size_t begin = 0; begin < missing.size(); begin += kAskedAtOnce) {
    const size_t count = std::min(kAskedAtOnce, missing.size() - begin);
    TENON_TRY(const uint64_t bytes,
              FetchSome(far, receiver, std::span(missing).subspan(begin, count),
                        [&](uint64_t so_far) { reporter.OnProgress(what, done + so_far, total); }));
    done += bytes;
  }
  return done;
}

Result<uint64_t> FetchTree(Context& context, Machine& far, const std::string& root,
                           std::string_view what, Reporter& reporter) {
  const auto top = Hash::FromHex(root);
  TENON_EXPECT_PEER(top.has_value(), "the tree has no valid hash");
  uint64_t bytes = 0;
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  std::vector<WantedObject> level = {{*top, 0, /*node=*/true}};
  // Each object is requested once, however often the tree has it.
  std::unordered_set<Hash> nodes = {*top}, files;
  // The nodes of one level name those of the next level.
  while (!level.empty()) {
    TENON_TRY(const uint64_t came, FetchObjects(context, far, level, what, reporter));
    bytes += came;
    std::vector<WantedObject> next;
    for (const WantedObject& one : level) {
      if (!one.node) continue;
      TENON_TRY(const snapshot::LoadedNode node, snapshot::LoadNode(*objects, one.hash));
      for (const snapshot::NodeItem& item : node.node.items) {
        const bool is_node = node.node.level > 0 || item.type == snapshot::EntryType::kFolder;
        if (is_node && nodes.insert(item.hash).second) {
          next.push_back({item.hash, 0, /*node=*/true});
        } else if (!is_node && item.type == snapshot::EntryType::kFile &&
                   !objects->Has(item.hash) && files.insert(item.hash).second) {
          next.push_back({item.hash, item.size});
        }
        TENON_EXPECT_PEER(
            nodes.size() + files.size() <= kMaxNamed,
            "the machine's tree names more than " + std::to_string(kMaxNamed) + " objects");
      }
    }
    level = std::move(next);
  }
  return bytes;
}

// A power cut may leave the mark but take the end of a copy. So the mark has the lengths of the
// copies, and counts only while they are at least that long.
bool OutputsFetched(const Context& context, const std::string& run_id) {
  const auto mark = ReadFile(Mark(context, run_id), kMaxMark);
  if (!mark.ok()) return false;
  const auto lengths = json::Parse(*mark);
  if (!lengths.ok() || !lengths->is_object()) return false;
  const run::RunFolder folder(context.home, run_id);
  return std::ranges::all_of(lengths->get_object(), [&](const auto& one) {
    const std::string_view segment = one.key();
    return run::IsFarSegment(segment) &&
           LengthOfCopy(folder, segment) >= json::GetInt(lengths->get_object(), segment);
  });
}

Status FetchOutputs(Context& context, Machine& far, const std::string& run_id, Reporter& reporter) {
  if (OutputsFetched(context, run_id)) return {};
  TENON_TRY(const journal::RunView run, ReadRun(context, run_id));
  if (!run::IsFinal(run.state) || run.end->never_started) return {};
  std::vector<WantedObject> wanted;
  for (const run::Artifact& artifact : run.artifacts) {
    if (const auto hash = Hash::FromHex(artifact.hash)) wanted.push_back({*hash, artifact.size});
  }
  TENON_TRY_VOID(FetchObjects(context, far, wanted, "outputs", reporter));
  if (!run.outputs_tree.empty()) {
    TENON_TRY_VOID(FetchTree(context, far, run.outputs_tree, "outputs", reporter));
  }
  // Outputs that the machine could not collect exist only there, so the run is not marked.
  return run.outputs_left ? Status() : MarkFetched(context, run_id);
}

Status MarkFetched(const Context& context, const std::string& run_id) {
  const run::RunFolder folder(context.home, run_id);
  json::Object lengths;
  for (const std::string& segment : journal::FarSegments(folder)) {
    lengths[segment] = LengthOfCopy(folder, segment);
  }
  return WriteFileAtomically(Mark(context, run_id), json::Print(lengths), 0600,
                             Durability::kProcess);
}

Status SecureFetched(const Context& context, const std::string& run_id) {
  const run::RunFolder folder(context.home, run_id);
  for (const std::string& segment : journal::FarSegments(folder)) {
    if (LengthOfCopy(folder, segment) == 0) continue;
    TENON_TRY_VOID(journal::SyncSegment(folder.segment(segment)));
  }
  return {};
}

}  // namespace tenon::engine
