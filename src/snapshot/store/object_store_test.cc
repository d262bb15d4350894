// SPDX-License-Identifier: Apache-2.0
#include "snapshot/store/object_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "snapshot/freeze/test_files.h"
#include "snapshot/store/heal.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kMiB = 1u << 20;

ObjectStore OpenStore(const std::string& folder) {
  auto store = ObjectStore::Open(folder);
  EXPECT_TRUE(store.ok());
  return std::move(*store);
}

std::string PutAndFlush(const std::string& folder, std::string_view bytes) {
  ObjectStore store = OpenStore(folder);
  auto hash = store.Put(bytes);
  EXPECT_TRUE(hash.ok() && store.Flush().ok());
  return hash->Hex();
}

std::vector<std::string> Names(const std::string& folder) {
  auto names = ListDir(folder);
  EXPECT_TRUE(names.ok());
  return std::move(*names);
}

std::vector<std::string> Packs(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : Names(folder + "/packs")) {
    paths.push_back(folder + "/packs/" + name);
  }
  return paths;
}

// Makes every file of the store look `seconds` old.
void Age(const std::string& folder, int seconds) {
  const timespec then{::time(nullptr) - seconds, 0};
  const timespec times[2] = {then, then};
  for (const std::string& path : Packs(folder)) {
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  for (const std::string& two : Names(folder + "/objects")) {
    for (const std::string& name : Names(folder + "/objects/" + two)) {
      const std::string path = folder + "/objects/" + two + "/" + name;
      ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    }
  }
}

Hash PutTestFile(ObjectStore* store, const std::string& path, std::string_view bytes) {
  WriteTestFile(path, bytes);
  auto fd = OpenFile(path, O_RDONLY);
  auto hash = store->PutFile(fd->get(), bytes.size());
  EXPECT_TRUE(hash.ok());
  return *hash;
}

TEST(ObjectStore, GivesBackWhatWasPut) {
  TempFolder temp;
  std::vector<std::string> contents = {"",
                                       "x",
                                       std::string(5000, 'a'),
                                       RandomBytes(5000, 1),
                                       std::string(200'000, 'b'),
                                       RandomBytes(200'000, 2),
                                       std::string(3 * kMiB, 'c'),
                                       RandomBytes(3 * kMiB, 3)};
  for (int i = 0; i < 500; ++i) contents.push_back("small file " + std::to_string(i));
  ObjectStore store = OpenStore(temp / "store");
  std::vector<Hash> hashes;
  for (size_t i = 0; i < contents.size(); ++i) {
    // Uses both ways to add an object, in turn.
    hashes.push_back(i % 2 ? *store.Put(contents[i])
                           : PutTestFile(&store, temp / "file", contents[i]));
    EXPECT_EQ(hashes.back(), Sha256Of(contents[i]));
  }
  auto check = [&](const ObjectStore& from) {
    for (size_t i = 0; i < contents.size(); ++i) {
      EXPECT_TRUE(from.Has(hashes[i]));
      auto whole = from.Read(hashes[i]);
      ASSERT_TRUE(whole.ok()) << whole.error().message;
      EXPECT_TRUE(*whole == contents[i]) << i;
      std::string pieces;
      ASSERT_TRUE(from.ReadTo(hashes[i],
                              [&](std::string_view piece) -> Status {
                                pieces += piece;
                                return {};
                              })
                      .ok());
      EXPECT_TRUE(pieces == contents[i]) << i;
      auto fd = OpenFile(temp / "copy", O_RDWR | O_CREAT | O_TRUNC);
      ASSERT_TRUE(from.CopyTo(hashes[i], fd->get()).ok());
      EXPECT_TRUE(*ReadFile(temp / "copy") == contents[i]) << i;
    }
  };
  check(store);  // before Flush()
  ASSERT_TRUE(store.Flush().ok());
  check(store);
  check(OpenStore(temp / "store"));
  EXPECT_EQ(store.Read(Sha256Of("never put")).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(store.Read(hashes[6], 1000).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(store.Measure()->objects, contents.size());
}

TEST(ObjectStore, NothingIsSeenByOthersBeforeFlush) {
  TempFolder temp;
  ObjectStore writer = OpenStore(temp / "store"), other = OpenStore(temp / "store");
  const Hash small = *writer.Put("small"), large = *writer.Put(RandomBytes(2 * kMiB, 1));
  EXPECT_FALSE(other.Has(small));
  EXPECT_FALSE(other.Has(large));
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_TRUE(other.Has(small));
  EXPECT_TRUE(other.Has(large));
  EXPECT_EQ(*other.Read(small), "small");
}

TEST(ObjectStore, TheSameContentIsStoredOnce) {
  TempFolder temp;
  const std::string bytes = RandomBytes(100'000, 5);
  for (int i = 0; i < 5; ++i) PutAndFlush(temp / "store", bytes);
  EXPECT_EQ(Packs(temp / "store").size(), 1u);
  EXPECT_LT(OpenStore(temp / "store").Measure()->bytes_on_disk, 110'000u);
}

TEST(ObjectStore, LargeObjectsAreCompressedOnlyWhereItPays) {
  TempFolder temp;
  ObjectStore store = OpenStore(temp / "store");
  auto put = [&](std::string_view bytes) {  // a memory file, from which no file system can clone
    const UniqueFd fd(::memfd_create("source", MFD_CLOEXEC));
    EXPECT_TRUE(fd.valid() && WriteAll(fd.get(), bytes).ok());
    auto hash = store.PutFile(fd.get(), bytes.size());
    EXPECT_TRUE(hash.ok() && store.Flush().ok());
    return temp / ("store/objects/" + hash->Hex().substr(0, 2) + "/" + hash->Hex().substr(2));
  };
  EXPECT_TRUE(Exists(put(std::string(4 * kMiB, 't')) + ".zst"));
  EXPECT_LT(store.Measure()->bytes_on_disk, 10'000u);
  EXPECT_TRUE(Exists(put(RandomBytes(4 * kMiB, 7)) + ".raw"));
}

TEST(ObjectStore, FileOfAnotherSizeThanExpectedIsRefused) {
  TempFolder temp;
  ObjectStore store = OpenStore(temp / "store");
  for (size_t size : {size_t{1000}, 3 * kMiB}) {
    WriteTestFile(temp / "file", RandomBytes(size, 1));
    auto fd = OpenFile(temp / "file", O_RDONLY);
    for (size_t claimed : {size - 1, size + 1}) {
      auto hash = store.PutFile(fd->get(), claimed);
      ASSERT_FALSE(hash.ok());
      EXPECT_EQ(hash.error().kind, ErrorKind::kUnavailable);
      EXPECT_EQ(hash.error().message, "changed while being read");
    }
  }
  ASSERT_TRUE(store.Flush().ok());
  EXPECT_EQ(store.Measure()->objects, 0u);
}

TEST(ObjectStore, PackCutAtAnyLengthIsCorruptAndNamed) {
  TempFolder temp;
  const std::string folder = temp / "store";
  const Hash hash = *Hash::FromHex(PutAndFlush(folder, "some bytes to lose"));
  const std::string pack = Packs(folder).front(), whole = *ReadFile(pack);
  for (size_t length = 0; length < whole.size(); length += length < 100 ? 1 : 13) {
    WriteTestFile(pack, whole.substr(0, length));
    ObjectStore store = OpenStore(folder);
    EXPECT_FALSE(store.Has(hash));
    auto read = store.Read(hash);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt) << length;
    EXPECT_NE(read.error().message.find(pack), std::string::npos) << read.error().message;
  }
  // A lost object can be put again.
  PutAndFlush(folder, "some bytes to lose");
  EXPECT_EQ(*OpenStore(folder).Read(hash), "some bytes to lose");
}

TEST(ObjectStore, FlippedByteAnywhereNeverYieldsWrongBytes) {
  TempFolder temp;
  const std::string folder = temp / "store";
  const std::string one(300, 'x'), two = RandomBytes(300, 9);
  Hash hash_one, hash_two;
  {
    ObjectStore store = OpenStore(folder);
    hash_one = PutTestFile(&store, temp / "f", one);
    hash_two = *store.Put(two);
    ASSERT_TRUE(store.Flush().ok());
  }
  const std::string pack = Packs(folder).front(), whole = *ReadFile(pack);
  size_t noticed = 0;
  // Damages all bytes of the objects, and every third byte of the index.
  for (size_t at = 0; at < whole.size(); at += at < 400 ? 1 : 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    WriteTestFile(pack, damaged);
    ObjectStore store = OpenStore(folder);
    for (const auto& [hash, bytes] : {std::pair(hash_one, one), std::pair(hash_two, two)}) {
      auto read = store.Read(hash);
      if (read.ok()) {
        EXPECT_EQ(*read, bytes) << at;
      } else {
        ++noticed;
        EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt) << at << read.error().message;
        EXPECT_NE(read.error().message.find(pack), std::string::npos) << read.error().message;
      }
    }
  }
  EXPECT_GT(noticed, 200u);
}

TEST(ObjectStore, DamagedLargeObjectIsCorruptAfterTheLastPiece) {
  TempFolder temp;
  for (const std::string& bytes : {RandomBytes(2 * kMiB, 1), std::string(2 * kMiB, 'a')}) {
    const std::string folder = temp / ("store" + std::to_string(bytes[0]));
    const Hash hash = *Hash::FromHex(PutAndFlush(folder, bytes));
    const std::string two = folder + "/objects/" + hash.Hex().substr(0, 2);
    const std::string path = two + "/" + ListDir(two)->front();
    std::string stored = *ReadFile(path);
    stored[stored.size() / 2] = static_cast<char>(stored[stored.size() / 2] ^ 1);
    WriteTestFile(path, stored);
    auto read = OpenStore(folder).Read(hash);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt);
    WriteTestFile(path, stored.substr(0, stored.size() / 2));
    EXPECT_EQ(OpenStore(folder).Read(hash).error().kind, ErrorKind::kCorrupt);
  }
}

// Overwrites bytes in the middle of a file.
void Damage(const std::string& path) {
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  auto fd = OpenFile(path, O_RDWR);
  ASSERT_TRUE(fd.ok());
  ASSERT_TRUE(WriteAllAt(fd->get(), std::string(16, '\x5a'), 20).ok());
}

TEST(ObjectStoreDamage, WhatIsDamagedGoesAndCanBePutAgain) {
  TempFolder temp;
  ObjectStore store = OpenStore(temp / "s");
  const std::string small = RandomBytes(3000, 1), other = RandomBytes(40'000, 2);
  const std::string large = RandomBytes(kMiB + 5, 3);
  const Hash small_hash = *store.Put(small), other_hash = *store.Put(other);
  const Hash large_hash = *store.Put(large);
  ASSERT_TRUE(store.Flush().ok());
  Damage(Packs(temp / "s").front());
  const std::string hex = large_hash.Hex();
  Damage((temp / "s") + "/objects/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".raw");
  ASSERT_EQ(store.Read(small_hash).error().kind, ErrorKind::kCorrupt);
  ASSERT_TRUE(store.Has(small_hash) && store.Has(large_hash));
  const auto dropped = DropDamagedObjects(temp / "s", {small_hash, other_hash, large_hash});
  ASSERT_TRUE(dropped.ok()) << dropped.error().message;
  EXPECT_EQ(*dropped, 2u);
  ASSERT_TRUE(store.Measure().ok());
  EXPECT_FALSE(store.Has(small_hash) || store.Has(large_hash));
  EXPECT_EQ(*store.Read(other_hash), other);
  ASSERT_TRUE(store.Put(small).ok() && store.Put(large).ok() && store.Flush().ok());
  ObjectStore again = OpenStore(temp / "s");
  EXPECT_EQ(*again.Read(small_hash), small);
  EXPECT_EQ(*again.Read(large_hash), large);
  EXPECT_EQ(*again.Read(other_hash), other);
}

TEST(ObjectStoreDamage, AWholeStoreLosesNothing) {
  TempFolder temp;
  ObjectStore store = OpenStore(temp / "s");
  std::vector<Hash> hashes;
  for (int i = 0; i < 100; ++i) hashes.push_back(*store.Put(RandomBytes(2000, i)));
  hashes.push_back(*store.Put(std::string(2 * kMiB, 'x')));
  ASSERT_TRUE(store.Flush().ok());
  const auto before = Packs(temp / "s");
  EXPECT_EQ(*DropDamagedObjects(temp / "s", hashes), 0u);
  EXPECT_EQ(Packs(temp / "s"), before);
  for (const Hash& hash : hashes) EXPECT_TRUE(store.Read(hash).ok());
}

TEST(ObjectStoreDamage, OthersInADamagedBlockGoWithItAndTheRestStays) {
  TempFolder temp;
  ObjectStore store = OpenStore(temp / "s");
  std::vector<Hash> hashes;
  for (int i = 0; i < 200; ++i) {
    const std::string bytes = std::to_string(i) + std::string(2000, 'a');
    hashes.push_back(Sha256Of(bytes));
    ASSERT_TRUE(store.PutAs(hashes.back(), bytes).ok());
  }
  ASSERT_TRUE(store.Flush().ok());
  Damage(Packs(temp / "s").front());
  std::vector<Hash> bad;
  for (const Hash& hash : hashes) {
    if (!store.Read(hash).ok()) bad.push_back(hash);
  }
  ASSERT_FALSE(bad.empty());
  ASSERT_LT(bad.size(), hashes.size());
  EXPECT_EQ(*DropDamagedObjects(temp / "s", {bad.front()}), bad.size());
  ASSERT_TRUE(store.Measure().ok());
  for (const Hash& hash : hashes) {
    const bool lost = std::find(bad.begin(), bad.end(), hash) != bad.end();
    EXPECT_EQ(store.Has(hash), !lost);
    EXPECT_EQ(store.Read(hash).ok(), !lost);
  }
}

// The length alone shows this; the bytes are not read.
TEST(ObjectStoreDamage, AnEmptyFileInPlaceOfALargeObjectIsNotIt) {
  TempFolder temp;
  ObjectStore store = OpenStore(temp / "s");
  const std::string large = RandomBytes(kMiB + 5, 3);
  const Hash hash = *store.Put(large);
  ASSERT_TRUE(store.Flush().ok());
  const std::string hex = hash.Hex();
  const std::string path =
      (temp / "s") + "/objects/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".raw";
  for (const off_t length : {off_t{0}, off_t{kMiB}}) {
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    ASSERT_EQ(::truncate(path.c_str(), length), 0);
    EXPECT_FALSE(store.Keep(hash, large.size()));
    ASSERT_TRUE(store.Put(large).ok() && store.Flush().ok());
    EXPECT_EQ(*store.Read(hash), large);
    EXPECT_TRUE(store.Keep(hash, large.size()));
  }
}

TEST(ObjectStore, KilledWriterLeavesNothingButLeftoversThatAreCollected) {
  TempFolder temp;
  const std::string folder = temp / "store";
  PutAndFlush(folder, "before");
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = ObjectStore::Open(folder);
    (void)store->Put("never flushed").ok();
    (void)store->Put(RandomBytes(2 * kMiB, 1)).ok();
    ::kill(::getpid(), SIGKILL);
  }
  int status;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(ListDir(folder + "/tmp")->size(), 1u);
  ObjectStore store = OpenStore(folder);
  EXPECT_FALSE(store.Has(Sha256Of("never flushed")));
  EXPECT_EQ(store.Measure()->objects, 1u);
  ASSERT_TRUE(store.Collect({Sha256Of("before")}, 0).ok());
  EXPECT_EQ(ListDir(folder + "/tmp")->size(), 0u);
  EXPECT_EQ(*store.Read(Sha256Of("before")), "before");
}

TEST(ObjectStore, ThreadsMayPutTheSameAndDifferentThings) {
  TempFolder temp;
  ObjectStore store = OpenStore(temp / "store");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const std::string path = temp / ("file" + std::to_string(t));
        PutTestFile(&store, path, "shared " + std::string(1000, 's') + std::to_string(i));
        EXPECT_TRUE(store.Put("own " + std::to_string(t) + " " + std::to_string(i)).ok());
        EXPECT_TRUE(store.Read(Sha256Of("own " + std::to_string(t) + " 0")).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(store.Flush().ok());
  EXPECT_EQ(store.Measure()->objects, 300u + 4 * 300u);
  for (int i = 0; i < 300; ++i) {
    const std::string bytes = "shared " + std::string(1000, 's') + std::to_string(i);
    EXPECT_EQ(*store.Read(Sha256Of(bytes)), bytes);
  }
}

TEST(ObjectStore, ManyFlushesDoNotPileUpPacks) {
  TempFolder temp;
  const std::string folder = temp / "store";
  ObjectStore reader = OpenStore(folder);
  for (int i = 0; i < 150; ++i) PutAndFlush(folder, "object " + std::to_string(i));
  EXPECT_LE(Packs(folder).size(), 65u);
  for (int i = 0; i < 150; ++i) {
    const std::string bytes = "object " + std::to_string(i);
    auto read = reader.Read(Sha256Of(bytes));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, bytes);
  }
  EXPECT_EQ(reader.Measure()->objects, 150u);
}

TEST(ObjectStore, FullDiskIsUnavailableAndLeavesTheStoreAsItWas) {
  TempFolder temp;
  const std::string folder = temp / "store";
  PutAndFlush(folder, "before");
  const pid_t child = ::fork();
  if (child == 0) {
    // A file-size limit stands in for a full disk: the same write fails, with EFBIG.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto store = ObjectStore::Open(folder);
    Status failed;
    for (int i = 0; failed.ok() && i < 100; ++i) {
      auto put = store->Put(RandomBytes(50'000, static_cast<uint64_t>(i)));
      if (!put.ok()) failed = put.error();
    }
    const bool told = failed.ok() ? false : !store->Flush().ok();
    const bool clean = ListDir(folder + "/tmp")->empty();
    // After it has reported the failure, the store works again.
    const bool again = store->Put("small enough").ok() && store->Flush().ok();
    ::_exit(told && clean && again ? 0 : 1);
  }
  int status;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ObjectStore store = OpenStore(folder);
  EXPECT_EQ(store.Measure()->objects, 2u);
  EXPECT_EQ(*store.Read(Sha256Of("before")), "before");
}

TEST(ObjectStoreCollect, RemovesTheDeadAndKeepsTheLive) {
  TempFolder temp;
  const std::string folder = temp / "store";
  ObjectStore store = OpenStore(folder);
  std::unordered_set<Hash> live;
  std::vector<std::pair<Hash, std::string>> all;
  for (int i = 0; i < 200; ++i) {
    const std::string bytes = RandomBytes(2000, static_cast<uint64_t>(i));
    all.emplace_back(PutTestFile(&store, temp / "f", bytes), bytes);
  }
  all.emplace_back(*store.Put(RandomBytes(2 * kMiB, 1000)), RandomBytes(2 * kMiB, 1000));
  all.emplace_back(*store.Put(RandomBytes(2 * kMiB, 1001)), RandomBytes(2 * kMiB, 1001));
  ASSERT_TRUE(store.Flush().ok());
  for (size_t i = 0; i < all.size(); i += 2) live.insert(all[i].first);
  Age(folder, 3600);

  ObjectStore reader = OpenStore(folder);
  auto removed = store.Collect(live, 60'000'000);
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(removed->objects, all.size() / 2);
  EXPECT_GT(removed->bytes_on_disk, 2 * kMiB + 100 * 2000);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(store.Has(all[i].first), i % 2 == 0) << i;
    // A store that was open before can still read the live objects.
    if (i % 2 == 0) {
      EXPECT_TRUE(*reader.Read(all[i].first) == all[i].second) << i;
    }
  }
  EXPECT_EQ(store.Measure()->objects, live.size());
  EXPECT_EQ(store.Collect(live, 60'000'000)->objects, 0u);
}

TEST(ObjectStoreCollect, SparesWhatIsYoung) {
  TempFolder temp;
  const std::string folder = temp / "store";
  PutAndFlush(folder, "young");
  PutAndFlush(folder, RandomBytes(2 * kMiB, 1));
  ObjectStore store = OpenStore(folder);
  EXPECT_EQ(store.Collect({}, 3'600'000'000)->objects, 0u);
  EXPECT_TRUE(store.Has(Sha256Of("young")));
  Age(folder, 7200);
  EXPECT_EQ(store.Collect({}, 3'600'000'000)->objects, 2u);
  EXPECT_FALSE(store.Has(Sha256Of("young")));
}

TEST(ObjectStoreCollect, SparesAnOldObjectThatSomebodyBeganToRelyOn) {
  TempFolder temp;
  const std::string folder = temp / "store";
  const std::string large = RandomBytes(2 * kMiB, 1);
  PutAndFlush(folder, "old but used again");
  PutAndFlush(folder, "old and dead");
  PutAndFlush(folder, large);
  Age(folder, 7200);
  ObjectStore writer = OpenStore(folder), collector = OpenStore(folder);
  EXPECT_TRUE(writer.Keep(Sha256Of("old but used again"), 18));
  EXPECT_TRUE(writer.Put(large).ok());
  EXPECT_EQ(collector.Collect({}, 3'600'000'000)->objects, 1u);
  EXPECT_TRUE(writer.Has(Sha256Of("old but used again")));
  EXPECT_TRUE(writer.Has(Sha256Of(large)));
  EXPECT_FALSE(OpenStore(folder).Has(Sha256Of("old and dead")));
}

TEST(ObjectStoreCollect, LeavesALiveWriterAlone) {
  TempFolder temp;
  const std::string folder = temp / "store";
  ObjectStore writer = OpenStore(folder), collector = OpenStore(folder);
  const Hash small = *writer.Put("not flushed yet"), large = *writer.Put(RandomBytes(2 * kMiB, 1));
  ASSERT_TRUE(collector.Collect({}, 0).ok());
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ(*collector.Read(small), "not flushed yet");
  EXPECT_TRUE(collector.Read(large).ok());
}

TEST(ObjectStoreCollect, KeepNoticesAPackThatIsGone) {
  TempFolder temp;
  const std::string folder = temp / "store";
  PutAndFlush(folder, "dead");
  ObjectStore writer = OpenStore(folder), collector = OpenStore(folder);
  Age(folder, 7200);
  ASSERT_EQ(collector.Collect({}, 3'600'000'000)->objects, 1u);
  EXPECT_FALSE(writer.Keep(Sha256Of("dead"), 4));
  // Put() must not trust the packs that the writer had open.
  ASSERT_TRUE(writer.Put("dead").ok());
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ(*OpenStore(folder).Read(Sha256Of("dead")), "dead");
}

}  // namespace
}  // namespace tenon::snapshot
