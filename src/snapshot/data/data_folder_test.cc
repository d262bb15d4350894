// SPDX-License-Identifier: Apache-2.0
#include "snapshot/data/data_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/temp_folder.h"

namespace tenon::snapshot {
namespace {

using Contents = std::map<std::string, std::string>;

DataSet SetOf(const Contents& contents) {
  DataSet set;
  for (const auto& [path, bytes] : contents) {
    set.files.push_back({path, bytes.size(), Sha256Of(bytes), 0644});
  }
  return set;
}

class DataFolderTest : public testing::Test {
 protected:
  DataFolderTest() {
    EXPECT_TRUE(MakeDirs(shared_).ok());
    place_ = *DataPlaceIn(shared_, "faces");
  }

  Result<std::unique_ptr<DataReceiver>> Begin(const Contents& contents) {
    contents_ = contents;
    looked_ = 0;
    return DataReceiver::Begin(place_, SetOf(contents), [this](uint64_t bytes) -> Status {
      looked_ += bytes;
      return {};
    });
  }
  // Sends the missing files and returns how many there were.
  size_t Send(DataReceiver& receiver) {
    for (const auto& lack : receiver.lacks()) {
      const std::string& bytes = contents_[receiver.set().files[lack.file].path];
      uint64_t at = lack.offset;
      do {
        const std::string piece = bytes.substr(at, kDataPiece);
        EXPECT_TRUE(receiver.Take(lack.file, at, piece).ok());
        at += piece.size();
      } while (at < bytes.size());
    }
    return receiver.lacks().size();
  }
  size_t Put(const Contents& contents, DataReceiver::Done* done = nullptr) {
    auto receiver = Begin(contents);
    EXPECT_TRUE(receiver.ok());
    const size_t sent = Send(**receiver);
    auto finished = (*receiver)->Finish(7);
    EXPECT_TRUE(finished.ok()) << finished.error().message;
    if (done != nullptr && finished.ok()) *done = *finished;
    return sent;
  }
  std::string Read(const std::string& path) {
    return ReadFile(JoinPath(place_.folder, path)).value_or("(none)");
  }
  void Write(const std::string& path, const std::string& bytes) {
    const std::string whole = JoinPath(place_.folder, path);
    ASSERT_TRUE(MakeDirs(DirName(whole)).ok());
    ASSERT_TRUE(WriteFileAtomically(whole, bytes, 0644, Durability::kProcess).ok());
  }
  DataHeader Header() {
    const auto all = ListDataSets(shared_);
    return all.empty() ? DataHeader() : all.front();
  }

  TempFolder folder_;
  std::string shared_ = folder_ / "shared";
  DataPlace place_;
  Contents contents_;
  uint64_t looked_ = 0;
};

TEST_F(DataFolderTest, WhatWasPutIsThereAndKnownByItsFingerprint) {
  EXPECT_EQ(Put({{"a.txt", "one"}, {"deep/er/b.bin", std::string(3 << 20, 'x')}, {"empty", ""}}),
            3u);
  EXPECT_EQ(Read("a.txt"), "one");
  EXPECT_EQ(Read("deep/er/b.bin"), std::string(3 << 20, 'x'));
  EXPECT_EQ(Read("empty"), "");
  EXPECT_TRUE(Header().complete);
  EXPECT_EQ(Header().fingerprint, SetOf(contents_).Fingerprint().Hex());
  EXPECT_EQ(Header().files, 3u);
  EXPECT_FALSE(Exists(place_.Of(".incoming")));
  DataHeader header;
  EXPECT_EQ(ReadDataSet(place_, &header)->files, SetOf(contents_).files);
}

TEST_F(DataFolderTest, OneChangedFileIsTheOnlyOneThatComes) {
  Put({{"a", "one"}, {"b", "two"}});
  DataReceiver::Done done;
  EXPECT_EQ(Put({{"a", "one"}, {"b", "TWO"}}, &done), 1u);
  EXPECT_EQ(looked_, 0u) << "what is as it was left is not read again";
  EXPECT_EQ(done.placed, 1u);
  EXPECT_EQ(Read("b"), "TWO");
}

TEST_F(DataFolderTest, RemovedFilesGoAwayWithTheirFolders) {
  Put({{"a", "one"}, {"old/x", "two"}});
  DataReceiver::Done done;
  EXPECT_EQ(Put({{"a", "one"}}, &done), 0u);
  EXPECT_EQ(done.removed, 1u);
  EXPECT_FALSE(Exists(JoinPath(place_.folder, "old")));
}

TEST_F(DataFolderTest, ARenamedOrCopiedFileDoesNotComeAgain) {
  Put({{"a", "one"}});
  EXPECT_EQ(Put({{"b", "one"}, {"c/d", "one"}}), 0u);
  EXPECT_EQ(Read("b"), "one");
  EXPECT_EQ(Read("c/d"), "one");
  EXPECT_EQ(Read("a"), "(none)");
}

TEST_F(DataFolderTest, TwoFilesThatChangePlacesKeepTheirBytes) {
  Put({{"a", "one"}, {"b", "two"}});
  EXPECT_EQ(Put({{"a", "two"}, {"b", "one"}}), 0u);
  EXPECT_EQ(Read("a"), "two");
  EXPECT_EQ(Read("b"), "one");
}

TEST_F(DataFolderTest, AFileBecomesAFolderAndBack) {
  Put({{"a", "one"}});
  Put({{"a/b", "two"}});
  EXPECT_EQ(Read("a/b"), "two");
  Put({{"a", "three"}});
  EXPECT_EQ(Read("a"), "three");
}

TEST_F(DataFolderTest, AFileThatSomebodyChangedThereComesAgain) {
  Put({{"a", "one"}});
  Write("a", "xxx");
  EXPECT_EQ(Put({{"a", "one"}}), 1u);
  EXPECT_EQ(Read("a"), "one");
}

TEST_F(DataFolderTest, FilesThatLieThereAlreadyAreRecognised) {
  Write("a", "one");
  EXPECT_EQ(Put({{"a", "one"}}), 0u);
}

TEST_F(DataFolderTest, FilesOfOthersStay) {
  Put({{"a", "one"}});
  Write("mine", "keep");
  Put({{"b", "two"}});
  EXPECT_EQ(Read("mine"), "keep");
  const auto removed = RemoveDataSet(place_);
  ASSERT_TRUE(removed.ok());
  EXPECT_TRUE(removed->others_left);
  EXPECT_EQ(Read("mine"), "keep");
  EXPECT_EQ(Read("b"), "(none)");
  EXPECT_TRUE(ListDataSets(shared_).empty());
}

TEST_F(DataFolderTest, ACutPutGoesOnAtTheByteAndTheOldSetIsAsItWas) {
  Put({{"a", "one"}});
  const std::string large(5 << 20, 'y');
  {
    auto receiver = Begin({{"a", "ONE"}, {"large", large}});
    ASSERT_TRUE(receiver.ok());
    ASSERT_TRUE((*receiver)->Take(1, 0, large.substr(0, 1 << 20)).ok());
    ASSERT_TRUE((*receiver)->Take(1, 1 << 20, large.substr(1 << 20, 100)).ok());
  }
  EXPECT_EQ(Read("a"), "one");
  EXPECT_TRUE(Header().complete);
  EXPECT_EQ(Header().next_files, 2u);
  auto again = Begin({{"a", "ONE"}, {"large", large}});
  ASSERT_TRUE(again.ok());
  ASSERT_EQ((*again)->lacks().size(), 2u);
  EXPECT_EQ((*again)->lacks()[1].offset, (1u << 20) + 100);
  Send(**again);
  ASSERT_TRUE((*again)->Finish(1).ok());
  EXPECT_EQ(Read("large"), large);
  EXPECT_EQ(Read("a"), "ONE");
}

TEST_F(DataFolderTest, WhatIsNotWholeIsNotFinished) {
  auto receiver = Begin({{"a", "one"}, {"b", "two"}});
  ASSERT_TRUE((*receiver)->Take(0, 0, "one").ok());
  EXPECT_EQ((*receiver)->Finish(1).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(Read("a"), "(none)");
}

TEST_F(DataFolderTest, BytesWithAnotherHashAreDropped) {
  {
    auto receiver = Begin({{"a", "one"}});
    EXPECT_EQ((*receiver)->Take(0, 0, "eno").error().kind, ErrorKind::kCorrupt);
    EXPECT_FALSE((*receiver)->Finish(1).ok());
  }
  EXPECT_EQ(Put({{"a", "one"}}), 1u);
}

TEST_F(DataFolderTest, PiecesThatDoNotFollowAreRefused) {
  auto receiver = Begin({{"a", "onetwo"}});
  EXPECT_FALSE((*receiver)->Take(0, 3, "two").ok());
  EXPECT_FALSE((*receiver)->Take(0, 0, "onetwothree").ok());
  EXPECT_FALSE((*receiver)->Take(9, 0, "x").ok());
}

TEST_F(DataFolderTest, ASymlinkThatLeadsOutIsNotFollowed) {
  const std::string outside = folder_ / "outside";
  ASSERT_TRUE(MakeDirs(outside).ok());
  ASSERT_TRUE(MakeDirs(place_.folder).ok());
  ASSERT_EQ(::symlink(outside.c_str(), JoinPath(place_.folder, "way").c_str()), 0);
  auto receiver = Begin({{"way/x", "one"}});
  ASSERT_TRUE(receiver.ok());
  Send(**receiver);
  EXPECT_FALSE((*receiver)->Finish(1).ok());
  EXPECT_TRUE(ListDir(outside)->empty());
  EXPECT_FALSE(Header().complete);
}

TEST_F(DataFolderTest, APutThatBrokeOffWhilePlacingLosesNoTrackOfItsFiles) {
  const std::string outside = folder_ / "outside";
  ASSERT_TRUE(MakeDirs(outside).ok());
  Put({{"a", "one"}});
  ASSERT_EQ(::symlink(outside.c_str(), JoinPath(place_.folder, "way").c_str()), 0);
  {
    auto receiver = Begin({{"a", "ONE"}, {"b", "two"}, {"way/x", "three"}});
    Send(**receiver);
    ASSERT_FALSE((*receiver)->Finish(1).ok());
  }
  EXPECT_EQ(Read("b"), "two");
  EXPECT_TRUE(Header().placing);
  EXPECT_EQ(Put({{"c", "four"}}), 1u);
  EXPECT_TRUE(Header().complete);
  EXPECT_EQ(Read("a"), "(none)");
  EXPECT_EQ(Read("b"), "(none)");
}

TEST_F(DataFolderTest, TwoPutsOfOneNameDoNotMeet) {
  auto first = Begin({{"a", "one"}});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Begin({{"a", "one"}}).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(RemoveDataSet(place_).error().kind, ErrorKind::kUnavailable);
}

TEST(DataSetTest, ListsThatLeadOutOrContradictThemselvesAreRefused) {
  const std::string hash(64, 'a');
  EXPECT_TRUE(DataSet::FromText(hash + " 644 3 a\n").ok());
  EXPECT_TRUE(DataSet::FromText("").ok());
  for (const char* bad : {" 644 3 ../a\n", " 644 3 /a\n", " 644 3 a/../b\n", " 644 3 a//b\n",
                          " 644 3 \n", " 644 3 a", " 999 3 a\n", " 644 -3 a\n", " 644 3 a%0\n",
                          " 644 3 a%41\n", " 4755 3 a\n", " 644 3 a%00b\n"}) {
    EXPECT_FALSE(DataSet::FromText(hash + bad).ok()) << bad;
  }
  const auto two = [&](const char* a, const char* b) {
    return DataSet::FromText(hash + " 644 3 " + a + "\n" + hash + " 644 3 " + b + "\n").ok();
  };
  EXPECT_TRUE(two("a", "b"));
  EXPECT_FALSE(two("b", "a"));
  EXPECT_FALSE(two("a", "a"));
  EXPECT_FALSE(two("a", "a/b"));
}

TEST(DataSetTest, AnyPathComesBackAsItWas) {
  DataSet set;
  set.files.push_back({"a\nb%\x7f\xff", 1, Hash{}, 0755});
  const auto read = DataSet::FromText(set.ToText());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->files, set.files);
}

TEST(DataSetTest, NamesThatAreNoNames) {
  EXPECT_TRUE(CheckDataName("faces-1.2_x").ok());
  for (const char* bad : {"", ".", "..", ".x", "-x", "a/b", "a b", "ä"}) {
    EXPECT_FALSE(CheckDataName(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace tenon::snapshot
