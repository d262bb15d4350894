// SPDX-License-Identifier: Apache-2.0
#include "snapshot/transfer/transfer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <set>

#include "base/compress.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/freeze/test_files.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/le.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/tree.h"

namespace tenon::snapshot {
namespace {

constexpr Hash kNone{};

struct SentFrame {
  json::Object head;
  std::string body;
};

ObjectStore OpenStore(const std::string& folder) {
  auto store = ObjectStore::Open(folder);
  EXPECT_TRUE(store.ok());
  return std::move(*store);
}

// Two machines: the near store freezes files and sends them to the far store.
class Transfer : public testing::Test {
 protected:
  Transfer() : near_(OpenStore(temp_ / "near")) {}

  Hash FreezeProject() {
    FreezeOptions options;
    options.folder = temp_ / "project";
    auto frozen = Freeze(near_, options);
    EXPECT_TRUE(frozen.ok()) << frozen.error().message;
    return frozen->root;
  }
  void Write(const std::string& name, std::string_view bytes) {
    WriteTestFile((temp_ / "project") + "/" + name, bytes);
  }

  std::vector<Needed> New(const Hash& root, const Hash& base) {
    std::vector<Needed> needed;
    auto visited = VisitNew(near_, root, base, [&](const Needed& one) -> Status {
      needed.push_back(one);
      return {};
    });
    EXPECT_TRUE(visited.ok()) << visited.error().message;
    return needed;
  }

  std::vector<SentFrame> Frames(const std::vector<Needed>& needed) {
    std::vector<SentFrame> frames;
    ObjectSender sender(near_, [&](json::Object head, std::string body) -> Status {
      frames.push_back({std::move(head), std::move(body)});
      return {};
    });
    for (const Needed& one : needed) {
      auto sent = sender.Send(one.hash, one.size);
      EXPECT_TRUE(sent.ok()) << sent.error().message;
    }
    EXPECT_TRUE(sender.Flush().ok());
    return frames;
  }

  Lacking Lacks(ObjectStore& store, const Hash& root, const Hash& base = kNone) {
    auto lacking = FindLacking(store, root, base, temp_ / "complete");
    EXPECT_TRUE(lacking.ok()) << lacking.error().message;
    return std::move(*lacking);
  }

  // Sends what is new and returns the number of frames.
  size_t SendAll(ObjectStore& far, const Hash& root, const Hash& base) {
    ObjectReceiver receiver(far, temp_ / "incoming");
    const auto frames = Frames(New(root, base));
    for (const SentFrame& frame : frames) {
      auto taken = receiver.Take(frame.head, frame.body);
      EXPECT_TRUE(taken.ok()) << taken.error().message;
    }
    EXPECT_TRUE(receiver.Flush().ok());
    return frames.size();
  }

  void ExpectSameFiles(const ObjectStore& far, const Hash& root) {
    (void)RemoveTree(temp_ / "unpacked").ok();
    auto unpacked = Unpack(far, root, temp_ / "unpacked");
    ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
    EXPECT_EQ(Describe(temp_ / "unpacked"), Describe(temp_ / "project"));
  }

  TempFolder temp_;
  ObjectStore near_;
};

TEST_F(Transfer, BringsATreeToAnEmptyStore) {
  Write("a.py", "print(1)");
  Write("empty", "");
  Write("one", "x");
  Write("sub/deep/b.py", "print(2)");
  Write("same/as/b.py", "print(2)");
  for (const size_t size : {kLargeObject - 1, kLargeObject, kLargeObject + 1, 3 * kLargeObject}) {
    Write("random-" + std::to_string(size), RandomBytes(size, size));
    Write("zeros-" + std::to_string(size), std::string(size, '\0'));
  }
  const Hash root = FreezeProject();
  ObjectStore far = OpenStore(temp_ / "far");
  EXPECT_EQ(Lacks(far, root).objects, std::vector<Hash>{root});
  SendAll(far, root, kNone);
  EXPECT_TRUE(Lacks(far, root).objects.empty());
  ExpectSameFiles(OpenStore(temp_ / "far"), root);
  EXPECT_TRUE(ListDir(temp_ / "incoming")->empty());
}

TEST_F(Transfer, AnEmptyTreeIsOneNode) {
  ASSERT_TRUE(MakeDirs(temp_ / "project").ok());
  const Hash root = FreezeProject();
  EXPECT_EQ(New(root, kNone).size(), 1u);
  EXPECT_TRUE(New(root, root).empty());
  Write("a", "a");
  const Hash full = FreezeProject();
  EXPECT_EQ(New(full, root).size(), 2u);
  EXPECT_EQ(New(root, full).size(), 1u);
}

TEST_F(Transfer, OneChangeAmongManyCostsAFewNodes) {
  for (int i = 0; i < 5000; ++i) Write("flat/file-" + std::to_string(i), std::to_string(i));
  for (int i = 0; i < 50; ++i) Write("d" + std::to_string(i) + "/x", std::to_string(i));
  const Hash before = FreezeProject();
  Write("flat/file-2500", "changed");
  Write("flat/file-2500b", "new");
  ASSERT_TRUE(RemoveFile((temp_ / "project") + "/flat/file-17").ok());
  const Hash after = FreezeProject();
  const auto needed = New(after, before);
  EXPECT_LE(needed.size(), 12u);
  EXPECT_GE(needed.size(), 4u);
  ObjectStore far = OpenStore(temp_ / "far");
  SendAll(far, before, kNone);
  EXPECT_TRUE(Lacks(far, before).objects.empty());
  EXPECT_EQ(SendAll(far, after, before), 1u);
  EXPECT_TRUE(Lacks(far, after, before).objects.empty());
  ExpectSameFiles(far, after);
}

// The nodes that both trees have are removed, so that reading one of them fails.
TEST_F(Transfer, ReadsNothingThatBothTreesShare) {
  for (int i = 0; i < 3000; ++i) Write("flat/file-" + std::to_string(i), std::to_string(i));
  Write("other/x", "x");
  const Hash before = FreezeProject();
  Write("flat/file-1500", "changed");
  const Hash after = FreezeProject();
  std::set<std::string> wanted;
  for (const auto& [root, base] : {std::pair(after, before), std::pair(before, after)}) {
    for (const Needed& needed : New(root, base)) wanted.insert(needed.hash.Hex());
  }
  ObjectStore poor = OpenStore(temp_ / "poor");
  for (const std::string& hex : wanted) {
    auto bytes = near_.Read(*Hash::FromHex(hex));
    ASSERT_TRUE(bytes.ok() && poor.Put(*bytes).ok());
  }
  ASSERT_TRUE(poor.Flush().ok());
  size_t count = 0;
  auto visited = VisitNew(poor, after, before, [&](const Needed&) -> Status {
    ++count;
    return {};
  });
  EXPECT_TRUE(visited.ok()) << visited.error().message;
  EXPECT_LE(count, 6u);
  // The same for FindLacking() with a base that is marked as complete.
  WriteTestFile((temp_ / "complete") + "/" + before.Hex(), "");
  EXPECT_TRUE(Lacks(poor, after, before).objects.empty());
}

TEST_F(Transfer, WhatWasMovedIsNotVisited) {
  for (int i = 0; i < 300; ++i) Write("old/sub/file-" + std::to_string(i), std::to_string(i));
  Write("single", "moved by itself");
  const Hash before = FreezeProject();
  ASSERT_EQ(
      ::rename(((temp_ / "project") + "/old").c_str(), ((temp_ / "project") + "/new").c_str()), 0);
  ASSERT_EQ(::rename(((temp_ / "project") + "/single").c_str(),
                     ((temp_ / "project") + "/new/single").c_str()),
            0);
  const Hash moved = FreezeProject();
  EXPECT_EQ(New(moved, before).size(), 2u);  // the root and new/
  Write("new/sub/file-7", "changed as well");
  const Hash changed = FreezeProject();
  for (const Needed& needed : New(changed, before)) {
    EXPECT_TRUE(needed.node || needed.hash == Sha256Of("changed as well"));
  }
  ObjectStore far = OpenStore(temp_ / "far");
  SendAll(far, before, kNone);
  SendAll(far, changed, before);
  EXPECT_TRUE(Lacks(far, changed).objects.empty());
}

TEST_F(Transfer, TreesThatGrowByALevelAreCompared) {
  for (int i = 0; i < 20; ++i) Write("f" + std::to_string(i), "v");
  const Hash small = FreezeProject();
  for (int i = 0; i < 3000; ++i) Write("f" + std::to_string(i), "v");
  const Hash big = FreezeProject();
  ObjectStore far = OpenStore(temp_ / "far");
  SendAll(far, small, kNone);
  SendAll(far, big, small);
  EXPECT_TRUE(Lacks(far, big).objects.empty());
  ObjectStore back = OpenStore(temp_ / "back");
  SendAll(back, big, kNone);
  SendAll(back, small, big);
  EXPECT_TRUE(Lacks(back, small).objects.empty());
}

TEST_F(Transfer, ABaseThatCannotBeReadCountsAsNone) {
  Write("a/b", "b");
  Write("c", "c");
  const Hash root = FreezeProject();
  EXPECT_EQ(New(root, Sha256Of("no such tree")).size(), New(root, kNone).size());
  // The tree is marked as complete, but its objects were removed from the store.
  ObjectStore far = OpenStore(temp_ / "far");
  WriteTestFile((temp_ / "complete") + "/" + root.Hex(), "");
  EXPECT_EQ(Lacks(far, root).objects.size(), 1u);
  EXPECT_FALSE(Exists((temp_ / "complete") + "/" + root.Hex()));
}

TEST_F(Transfer, ARootThatIsNoneIsAnError) {
  ASSERT_TRUE(near_.Put("no node").ok());
  const auto ignore = [](const Needed&) -> Status { return {}; };
  EXPECT_EQ(VisitNew(near_, Sha256Of("no node"), kNone, ignore).error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(VisitNew(near_, Sha256Of("absent"), kNone, ignore).error().kind, ErrorKind::kNotFound);
  auto lacking = FindLacking(near_, Sha256Of("no node"), kNone, temp_ / "complete");
  EXPECT_EQ(lacking.error().kind, ErrorKind::kCorrupt);
}

TEST_F(Transfer, OnlyWhatIsMissingLacks) {
  Write("a", "a");
  Write("sub/b", "b");
  const Hash root = FreezeProject();
  ObjectStore far = OpenStore(temp_ / "far");
  for (const Needed& needed : New(root, kNone)) {
    if (needed.hash == Sha256Of("b")) continue;
    ASSERT_TRUE(far.Put(*near_.Read(needed.hash)).ok());
  }
  EXPECT_EQ(Lacks(far, root).objects, std::vector<Hash>{Sha256Of("b")});
  EXPECT_FALSE(Exists((temp_ / "complete") + "/" + root.Hex()));
  ASSERT_TRUE(far.Put("b").ok());
  EXPECT_TRUE(Lacks(far, root).objects.empty());
  EXPECT_TRUE(Exists((temp_ / "complete") + "/" + root.Hex()));
  // The objects behind a new mark are visible to other stores.
  EXPECT_TRUE(OpenStore(temp_ / "far").Has(Sha256Of("b")));
}

TEST_F(Transfer, ResumesAfterACutAtAnyFrame) {
  Write("small", "s");
  Write("large", RandomBytes(5 * kLargeObject + 77, 1));
  Write("zeros", std::string(2 * kLargeObject + 5, '\0'));
  const Hash root = FreezeProject();
  const auto needed = New(root, kNone);
  const size_t frames = Frames(needed).size();
  ASSERT_GE(frames, 8u);
  for (size_t cut = 0; cut <= frames; ++cut) {
    const std::string folder = temp_ / ("far" + std::to_string(cut));
    const std::string incoming = folder + "-incoming";
    {
      ObjectStore far = OpenStore(folder);
      ObjectReceiver receiver(far, incoming);
      const auto all = Frames(needed);
      for (size_t i = 0; i < cut; ++i) ASSERT_TRUE(receiver.Take(all[i].head, all[i].body).ok());
    }
    ObjectStore far = OpenStore(folder);
    ObjectReceiver receiver(far, incoming);
    size_t again = 0;
    ObjectSender sender(near_, [&](json::Object head, std::string body) -> Status {
      ++again;
      return receiver.Take(head, body);
    });
    for (const Needed& one : needed) {
      auto sent = sender.Send(one.hash, one.size, receiver.PartialBytes(one.hash));
      ASSERT_TRUE(sent.ok()) << sent.error().message;
    }
    ASSERT_TRUE(sender.Flush().ok());
    ASSERT_TRUE(receiver.Flush().ok());
    (void)RemoveTree(temp_ / "complete").ok();
    EXPECT_TRUE(Lacks(far, root).objects.empty()) << cut;
    ExpectSameFiles(far, root);
  }
}

TEST_F(Transfer, AnObjectThatCameWholeButWasNotFinishedIsFinished) {
  const std::string bytes = RandomBytes(kLargeObject + 9, 4);
  const Hash hash = *near_.Put(bytes);
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  WriteTestFile((temp_ / "incoming") + "/" + hash.Hex(), bytes);
  EXPECT_EQ(receiver.PartialBytes(hash), bytes.size());
  ObjectSender sender(near_, [&](json::Object head, std::string body) {
    EXPECT_TRUE(body.empty());
    return receiver.Take(head, body);
  });
  ASSERT_TRUE(sender.Send(hash, bytes.size(), bytes.size()).ok());
  EXPECT_TRUE(far.Has(hash));
}

json::Object PieceHead(const Hash& hash, size_t at, size_t whole) {
  const auto offset = static_cast<int64_t>(at), total = static_cast<int64_t>(whole);
  return {{"op", "piece"}, {"hash", hash.Hex()}, {"offset", offset}, {"total", total}};
}

std::string Batch(const std::vector<std::pair<Hash, std::string>>& objects) {
  std::string batch;
  for (const auto& [hash, bytes] : objects) {
    batch += hash.raw();
    Append32(&batch, static_cast<uint32_t>(bytes.size()));
    batch += bytes;
  }
  return batch;
}

TEST_F(Transfer, BytesWithAWrongHashAreDropped) {
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  auto taken =
      receiver.Take({{"op", "objects"}}, Batch({{Sha256Of("good"), "good"}, {Sha256Of("a"), "b"}}));
  EXPECT_EQ(taken.error().kind, ErrorKind::kCorrupt);
  EXPECT_TRUE(far.Has(Sha256Of("good")));
  EXPECT_FALSE(far.Has(Sha256Of("a")));
  EXPECT_FALSE(far.Has(Sha256Of("b")));
  const std::string bytes = RandomBytes(kLargeObject, 5);
  const Hash wrong = Sha256Of("something else");
  EXPECT_EQ(receiver.Take(PieceHead(wrong, 0, bytes.size()), bytes).error().kind,
            ErrorKind::kCorrupt);
  EXPECT_FALSE(far.Has(wrong));
  EXPECT_EQ(receiver.PartialBytes(wrong), 0u);
}

TEST_F(Transfer, APieceThatDoesNotFollowIsRefusedAndTheRestStays) {
  const std::string bytes = RandomBytes(kLargeObject + 100, 6);
  const Hash hash = Sha256Of(bytes);
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  const uint64_t total = bytes.size();
  EXPECT_EQ(receiver.Take(PieceHead(hash, 10, total), "x").error().kind, ErrorKind::kInvalid);
  ASSERT_TRUE(receiver.Take(PieceHead(hash, 0, total), bytes.substr(0, 1000)).ok());
  EXPECT_EQ(receiver.Take(PieceHead(hash, 2000, total), bytes.substr(2000)).error().kind,
            ErrorKind::kInvalid);
  EXPECT_EQ(receiver.PartialBytes(hash), 1000u);
  // After that, a piece may start anew or at an earlier byte.
  ASSERT_TRUE(receiver.Take(PieceHead(hash, 500, total), bytes.substr(500, 700)).ok());
  EXPECT_EQ(receiver.PartialBytes(hash), 1200u);
  ASSERT_TRUE(receiver.Take(PieceHead(hash, 1200, total), bytes.substr(1200)).ok());
  EXPECT_TRUE(far.Has(hash));
  EXPECT_EQ(*far.Read(hash), bytes);
}

TEST_F(Transfer, OnlyOneSenderAddsToAnObject) {
  const std::string bytes = RandomBytes(kLargeObject + 100, 7);
  const Hash hash = Sha256Of(bytes);
  ObjectStore one = OpenStore(temp_ / "far"), two = OpenStore(temp_ / "far");
  ObjectReceiver first(one, temp_ / "incoming"), second(two, temp_ / "incoming");
  const uint64_t total = bytes.size();
  ASSERT_TRUE(first.Take(PieceHead(hash, 0, total), bytes.substr(0, 1000)).ok());
  EXPECT_EQ(second.Take(PieceHead(hash, 0, total), bytes).error().kind, ErrorKind::kUnavailable);
  ASSERT_TRUE(first.Take(PieceHead(hash, 1000, total), bytes.substr(1000)).ok());
  ASSERT_TRUE(first.Flush().ok());
  // The store has the object now: the piece is ignored, and the object is not changed.
  EXPECT_TRUE(second.Take(PieceHead(hash, 0, total), "bytes of another").ok());
  EXPECT_EQ(*OpenStore(temp_ / "far").Read(hash), bytes);
}

TEST_F(Transfer, NonsenseIsRefused) {
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  const Hash hash = Sha256Of("x");
  const auto kind = [&](const json::Object& head, std::string_view body) {
    return receiver.Take(head, body).error().kind;
  };
  const std::string batch = Batch({{hash, "x"}});
  for (size_t cut = 1; cut < batch.size(); ++cut) {
    EXPECT_EQ(kind({{"op", "objects"}}, batch.substr(0, cut)), ErrorKind::kInvalid);
  }
  EXPECT_EQ(kind({{"op", "objects"}, {"zstd", true}}, batch), ErrorKind::kInvalid);
  std::string compressed = Compress(std::string(1000, 'a'));
  compressed.resize(compressed.size() - 3);
  EXPECT_EQ(kind({{"op", "objects"}, {"zstd", true}}, compressed), ErrorKind::kInvalid);
  const std::string bomb = Compress(std::string((64u << 20) + 1, '\0'));
  EXPECT_EQ(kind({{"op", "objects"}, {"zstd", true}}, bomb), ErrorKind::kInvalid);
  EXPECT_EQ(kind({{"op", "else"}}, ""), ErrorKind::kInvalid);
  EXPECT_EQ(kind({{"op", "piece"}, {"hash", "../../etc/passwd"}, {"offset", 0}, {"total", 1}}, "x"),
            ErrorKind::kInvalid);
  EXPECT_EQ(kind({{"op", "piece"}, {"hash", hash.Hex()}, {"offset", -1}, {"total", 1}}, "x"),
            ErrorKind::kInvalid);
  EXPECT_EQ(kind(PieceHead(hash, 0, 1), "too long"), ErrorKind::kInvalid);
  EXPECT_EQ(kind(PieceHead(hash, 5, 1), ""), ErrorKind::kInvalid);
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(receiver.Take(PieceHead(Sha256Of(std::to_string(i)), 0, 1u << 21), "x").ok());
  }
  EXPECT_EQ(kind(PieceHead(hash, 0, 1u << 21), "x"), ErrorKind::kInvalid);
}

// A receiver that has asked for certain objects takes no others.
TEST_F(Transfer, ObjectsThatNobodyAskedForAreRefused) {
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  const std::string large = RandomBytes(kLargeObject + 10, 11);
  receiver.Ask(Sha256Of("wanted"), 6);
  receiver.Ask(Sha256Of(large), large.size());
  const Hash other = Sha256Of("other");
  EXPECT_EQ(receiver.Take({{"op", "objects"}}, Batch({{other, "other"}})).error().kind,
            ErrorKind::kCorrupt);
  EXPECT_EQ(receiver.Take(PieceHead(other, 0, 3u << 30), std::string(1000, 0)).error().kind,
            ErrorKind::kCorrupt);
  EXPECT_FALSE(far.Has(other));
  EXPECT_FALSE(Exists((temp_ / "incoming") + "/" + other.Hex()));
  EXPECT_TRUE(receiver.StillAsked().has_value());
  ASSERT_TRUE(receiver.Take({{"op", "objects"}}, Batch({{Sha256Of("wanted"), "wanted"}})).ok());
  ASSERT_TRUE(receiver.Take(PieceHead(Sha256Of(large), 0, large.size()), large).ok());
  EXPECT_FALSE(receiver.StillAsked().has_value());
  // Each object is taken only once.
  EXPECT_FALSE(receiver.Take({{"op", "objects"}}, Batch({{Sha256Of("wanted"), "wanted"}})).ok());
  EXPECT_EQ(*far.Read(Sha256Of(large)), large);
}

TEST_F(Transfer, AskedForObjectsHaveTheSizeTheyWereAskedForWith) {
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  const std::string large = RandomBytes(2 * kLargeObject, 12);
  const Hash hash = Sha256Of(large);
  receiver.Ask(hash, large.size() - 1);
  receiver.Ask(Sha256Of("small"), 4);
  receiver.AskForNode(Sha256Of("node"));
  EXPECT_EQ(receiver.Take(PieceHead(hash, 0, large.size()), large).error().kind,
            ErrorKind::kCorrupt);
  EXPECT_FALSE(Exists((temp_ / "incoming") + "/" + hash.Hex()));
  EXPECT_EQ(receiver.Take({{"op", "objects"}}, Batch({{Sha256Of("small"), "small"}})).error().kind,
            ErrorKind::kCorrupt);
  EXPECT_TRUE(receiver.Take({{"op", "objects"}}, Batch({{Sha256Of("node"), "node"}})).ok());
}

// A few bytes that decompress to many are refused before decompressing, by the sizes asked for.
TEST_F(Transfer, BytesThatUnpackToMoreThanWasAskedForAreRefused) {
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  const Hash hash = Sha256Of("x");
  receiver.Ask(hash, kLargeObject);
  json::Object head = PieceHead(hash, 0, kLargeObject);
  head["zstd"] = true;
  EXPECT_FALSE(receiver.Take(head, Compress(std::string(60u << 20, 0))).ok());
  EXPECT_FALSE(
      receiver.Take({{"op", "objects"}, {"zstd", true}}, Compress(std::string(60u << 20, 0))).ok());
  EXPECT_EQ(receiver.PartialBytes(hash), 0u);
}

TEST_F(Transfer, FramesThatBringNothingAreRefused) {
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  const Hash hash = Sha256Of("x");
  receiver.Ask(hash, 2 * kLargeObject);
  EXPECT_FALSE(receiver.Take({{"op", "objects"}}, "").ok());
  EXPECT_FALSE(receiver.Take(PieceHead(hash, 0, 2 * kLargeObject), "").ok());
}

TEST_F(Transfer, AnObjectThatNoDiskHasRoomForIsNotBegun) {
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  const Hash hash = Sha256Of("x");
  EXPECT_EQ(receiver.Take(PieceHead(hash, 0, uint64_t{1} << 60), "x").error().kind,
            ErrorKind::kUnavailable);
  EXPECT_EQ(receiver.PartialBytes(hash), 0u);
}

TEST_F(Transfer, AFullDiskKeepsWhatCameBefore) {
  const std::string bytes = RandomBytes(2 * kLargeObject, 8);
  const Hash hash = Sha256Of(bytes);
  ObjectStore far = OpenStore(temp_ / "far");
  ObjectReceiver receiver(far, temp_ / "incoming");
  ASSERT_TRUE(receiver.Take(PieceHead(hash, 0, bytes.size()), bytes.substr(0, 5000)).ok());
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit tight = old;
  tight.rlim_cur = 100'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto taken = receiver.Take(PieceHead(hash, 5000, bytes.size()), bytes.substr(5000));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  ::signal(SIGXFSZ, before);
  EXPECT_FALSE(taken.ok());
  EXPECT_EQ(receiver.PartialBytes(hash), 5000u);
  ASSERT_TRUE(receiver.Take(PieceHead(hash, 5000, bytes.size()), bytes.substr(5000)).ok());
  EXPECT_EQ(*far.Read(hash), bytes);
}

TEST_F(Transfer, CompressesWhatPaysAlone) {
  const Hash random = *near_.Put(RandomBytes(8 * kLargeObject, 9));
  const Hash text = *near_.Put(std::string(8 * kLargeObject, 't'));
  const auto of_random = Frames({{random, 8 * kLargeObject, false}});
  EXPECT_EQ(of_random.size(), 8u);
  for (const SentFrame& frame : of_random) EXPECT_FALSE(frame.head.contains("zstd"));
  uint64_t sent = 0;
  for (const SentFrame& frame : Frames({{text, 8 * kLargeObject, false}}))
    sent += frame.body.size();
  EXPECT_LT(sent, 100'000u);
}

TEST_F(Transfer, AnObjectOfAnotherSizeThanAskedForIsAnError) {
  const std::string bytes = RandomBytes(2 * kLargeObject, 10);
  const Hash hash = *near_.Put(bytes);
  const auto put = [](json::Object, std::string) -> Status { return {}; };
  for (const uint64_t size : {kLargeObject, 3 * kLargeObject}) {
    EXPECT_EQ(ObjectSender(near_, put).Send(hash, size).error().kind, ErrorKind::kInvalid);
  }
  EXPECT_EQ(ObjectSender(near_, put).Send(hash, bytes.size(), bytes.size() + 1).error().kind,
            ErrorKind::kInvalid);
  EXPECT_EQ(ObjectSender(near_, put).Send(Sha256Of("no"), 0).error().kind, ErrorKind::kNotFound);
  // The size is not given, and the object is sent in pieces all the same.
  EXPECT_EQ(Frames({{hash, 0, false}}).size(), 2u);
}

TEST_F(Transfer, OldMarksGoAndNewOnesStay) {
  Write("a", "a");
  const Hash root = FreezeProject();
  EXPECT_TRUE(Lacks(near_, root).objects.empty());
  const std::string old = (temp_ / "complete") + "/" + Sha256Of("old").Hex();
  WriteTestFile(old, "");
  const timespec then[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, old.c_str(), then, 0), 0);
  auto kept = ForgetOldTrees(temp_ / "complete", 3'600'000'000, {Sha256Of("old")});
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(Exists(old));
  kept = ForgetOldTrees(temp_ / "complete", 3'600'000'000, {});
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(*kept, std::vector<Hash>{root});
  EXPECT_FALSE(Exists(old));
  EXPECT_TRUE(ForgetOldTrees(temp_ / "nowhere", 0, {})->empty());
}

}  // namespace
}  // namespace tenon::snapshot
