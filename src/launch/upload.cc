// SPDX-License-Identifier: Apache-2.0
#include "launch/upload.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "run/damage.h"
#include "snapshot/transfer/transfer.h"
#include "transport/agent.h"

namespace tenon::launch {
namespace {

// Contents of no more than this in all are sent without asking what the host lacks.
constexpr uint64_t kAheadBytes = 256u << 10;
// The host may have to look at every object of a large tree.
constexpr int64_t kHaveUs = 600'000'000;
constexpr int64_t kLastUs = 240'000'000;
constexpr int kMostAsked = 8;

struct Piece {
  Hash hash;
  uint64_t size = 0;
  uint64_t offset = 0;  // bytes that the host has already
};

class Upload {
 public:
  Upload(transport::FrameLink& link, const std::string& home, const TreeToSend& tree)
      : link_(link), home_(home), tree_(tree) {}

  Result<Frame> Run(const json::Object& last, std::string_view last_body) {
    const auto root = Hash::FromHex(tree_.root);
    if (!root) return Invalid("the run's tree is no hash: " + tree_.root);
    auto first = First(*root);
    if (!first.ok()) return NoteDamage(std::move(first).error());
    std::vector<Piece> pieces = std::move(*first);
    for (;;) {
      TENON_TRY_VOID(Send(pieces));
      TENON_TRY_VOID(link_.Send({{"op", "have"},
                                 {"home", json::EncodeBytes(home_)},
                                 {"root", tree_.root},
                                 {"base", tree_.base}},
                                {}));
      TENON_TRY_VOID(link_.Send(last, last_body));
      if (!tree_.ahead.empty()) TENON_TRY_VOID(link_.Send(tree_.ahead, {}));
      TENON_TRY(const Frame have, link_.Receive(kHaveUs));
      TENON_TRY(Frame answer, link_.Receive(kLastUs));
      if (json::GetBool(have.head, "ok")) return answer;
      if (json::GetObject(have.head, "error") != nullptr) {
        return transport::AnswerError(have.head).Wrap("sending the project");
      }
      TENON_TRY(pieces, Lacking(*root, have));
    }
  }

 private:
  // Marks an error of our own store: the host did nothing wrong, and nothing was started.
  static Error NoteDamage(Error error) {
    const bool damage = error.kind == ErrorKind::kCorrupt || error.kind == ErrorKind::kNotFound;
    return damage ? run::UnreadableHere(std::move(error)) : std::move(error);
  }

  // Returns everything that the host may lack, if that is little; else the tree without its
  // contents.
  Result<std::vector<Piece>> First(const Hash& root) {
    const Hash base = Hash::FromHex(tree_.base).value_or(Hash());
    std::vector<Piece> nodes, contents;
    uint64_t bytes = 0;
    TENON_TRY_VOID(snapshot::VisitNew(*tree_.store, root, base, [&](const snapshot::Needed& one) {
      (one.node ? nodes : contents).push_back({one.hash, one.size, 0});
      sizes_[one.hash] = one.size;
      bytes += one.size;
      return Status();
    }));
    if (bytes <= kAheadBytes) nodes.insert(nodes.end(), contents.begin(), contents.end());
    return nodes;
  }

  // Returns what the host says it lacks.
  Result<std::vector<Piece>> Lacking(const Hash& root, const Frame& have) {
    const size_t width = Hash().bytes.size();
    TENON_EXPECT_PEER(have.body.size() % width == 0, "the host's list of objects is cut off");
    const json::Object* partial = json::GetObject(have.head, "partial");
    std::vector<Piece> pieces;
    for (size_t at = 0; at < have.body.size(); at += width) {
      Piece piece{Hash::FromBytes(std::string_view(have.body).substr(at, width))};
      if (!sizes_.contains(piece.hash)) {
        auto learned = LearnAllSizes(root);
        if (!learned.ok()) return NoteDamage(std::move(learned).error());
      }
      auto known = sizes_.find(piece.hash);
      TENON_EXPECT_PEER(known != sizes_.end(), "the host asks for an object that is not ours");
      // A part may be lost on the way, or because of a full disk, but not again and again.
      TENON_EXPECT_PEER(++asked_[piece.hash] <= kMostAsked,
                        "the host asks for one object again and again");
      piece.size = known->second;
      if (partial != nullptr) {
        const int64_t there = json::GetInt(*partial, piece.hash.Hex());
        piece.offset =
            std::min<uint64_t>(static_cast<uint64_t>(std::max<int64_t>(there, 0)), piece.size);
      }
      total_ += piece.size - piece.offset;
      pieces.push_back(piece);
    }
    // The host says what it lacks until it lacks nothing. The same list twice means that sending
    // did not help.
    if (pieces.empty() || have.body == last_lack_) {
      return Unavailable("the host still lacks parts of the project after they were sent")
          .WithHint("is its disk full?");
    }
    last_lack_ = have.body;
    return pieces;
  }

  // For a host that has lost objects of a tree that it once had in full.
  Status LearnAllSizes(const Hash& root) {
    return snapshot::VisitNew(*tree_.store, root, Hash(), [&](const snapshot::Needed& one) {
      sizes_[one.hash] = one.size;
      return Status();
    });
  }

  Status Send(const std::vector<Piece>& pieces) {
    bool link_failed = false;
    snapshot::ObjectSender sender(*tree_.store, [&](json::Object head, const std::string& body) {
      head["home"] = json::EncodeBytes(home_);
      Status sent = link_.Send(head, body);
      link_failed = !sent.ok();
      return sent;
    });
    for (const Piece& piece : pieces) {
      auto sent = sender.Send(piece.hash, piece.size, piece.offset);
      if (!sent.ok()) return link_failed ? std::move(sent) : NoteDamage(std::move(sent).error());
      done_ += piece.size - piece.offset;
      if (tree_.on_progress && total_ > 0) tree_.on_progress(done_, total_);
    }
    return sender.Flush();
  }

  transport::FrameLink& link_;
  const std::string& home_;
  const TreeToSend& tree_;
  std::unordered_map<Hash, uint64_t> sizes_;
  std::unordered_map<Hash, int> asked_;  // how often the host has asked for each object
  std::string last_lack_;
  uint64_t done_ = 0, total_ = 0;
};

}  // namespace

Result<Frame> SendTree(transport::FrameLink& link, const std::string& home, const TreeToSend& tree,
                       json::Object last, std::string_view last_body) {
  last["if_ok"] = true;
  return Upload(link, home, tree).Run(last, last_body);
}

}  // namespace tenon::launch
