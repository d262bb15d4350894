// SPDX-License-Identifier: Apache-2.0
#include "docker/tar.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/process.h"
#include "base/temp_folder.h"
#include "docker/tar_format.h"

namespace tenon::docker {
namespace {

void Put(const std::string& path, std::string_view bytes, mode_t mode = 0644) {
  auto status = WriteFileAtomically(path, bytes, mode, Durability::kProcess);
  ASSERT_TRUE(status.ok()) << status.error().message;
}

std::string Get(const std::string& path) {
  auto bytes = ReadFile(path);
  return bytes.ok() ? *bytes : "(" + bytes.error().message + ")";
}

struct stat Look(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info;
}

std::string Archive(const std::string& folder, const std::string& prefix = "", uid_t uid = 0,
                    gid_t gid = 0) {
  TarWriter writer(folder, prefix, uid, gid);
  std::string archive;
  for (;;) {
    auto piece = writer.Next();
    EXPECT_TRUE(piece.ok()) << piece.error().message;
    if (!piece.ok() || piece->empty()) return archive;
    archive += *piece;
  }
}

Status Extract(std::string_view archive, const std::string& folder, int strip = 0,
               size_t piece = std::string::npos) {
  TarExtractor extractor(folder, strip);
  for (size_t at = 0; at < archive.size(); at += std::min(piece, archive.size() - at)) {
    TENON_TRY_VOID(extractor.Feed(archive.substr(at, piece)));
  }
  return extractor.Finish();
}

// An archive made by hand.
class Made {
 public:
  Made& Add(TarEntry entry, std::string_view data = "") {
    if (!data.empty()) entry.size = data.size();
    text_ += PrintTarHead(entry);
    text_ += data;
    text_.append(TarPadding(data.size()), '\0');
    return *this;
  }
  Made& Add(char type, const std::string& name, std::string_view data = "",
            const std::string& link = "") {
    TarEntry entry;
    entry.type = type;
    entry.name = name;
    entry.link = link;
    entry.mode = type == '5' ? 0755 : 0644;
    return Add(entry, data);
  }
  std::string End() const { return text_ + std::string(1024, '\0'); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

TEST(TarTest, AFolderComesBackAsItWas) {
  TempFolder from, to;
  const std::string deep = "deep/" + std::string(90, 'd') + "/" + std::string(90, 'e');
  const std::string big(700'001, 'x');
  ASSERT_TRUE(MakeDirs(from / deep).ok());
  Put(from / "empty", "");
  Put(from / "script.sh", "#!/bin/sh\n", 0755);
  Put(from / "block", std::string(512, 'b'));
  Put(from / (deep + "/" + std::string(200, 'f')), "long");
  Put(from / "deep/big", big, 0600);
  Put(from / "n\xff\xfe name", "bytes");
  ASSERT_EQ(::symlink("script.sh", (from / "link").c_str()), 0);
  ASSERT_EQ(::symlink(std::string(150, 'l').c_str(), (from / "long link").c_str()), 0);
  ASSERT_EQ(::mkfifo((from / "pipe").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir((from / "locked").c_str(), 0700), 0);
  Put(from / "locked/inside", "in");
  ASSERT_EQ(::chmod((from / "locked").c_str(), 0500), 0);
  const timespec times[2] = {{1'000'000'000, 0}, {1'234'567'890, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (from / "empty").c_str(), times, 0), 0);
  ASSERT_EQ(::utimensat(AT_FDCWD, (from / "deep").c_str(), times, 0), 0);

  const std::string archive = Archive(from.path());
  EXPECT_EQ(archive.size() % 512, 0u);
  auto status = Extract(archive, to.path());
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(Get(to / "empty"), "");
  EXPECT_EQ(Look(to / "empty").st_mtime, 1'234'567'890);
  EXPECT_EQ(Look(to / "deep").st_mtime, 1'234'567'890);
  EXPECT_EQ(Look(to / "script.sh").st_mode & 07777, 0755u);
  EXPECT_EQ(Look(to / "deep/big").st_mode & 07777, 0600u);
  EXPECT_EQ(Look(to / "locked").st_mode & 07777, 0500u);
  EXPECT_EQ(Get(to / "locked/inside"), "in");
  EXPECT_EQ(Get(to / "block"), std::string(512, 'b'));
  EXPECT_EQ(Get(to / (deep + "/" + std::string(200, 'f'))), "long");
  EXPECT_EQ(Get(to / "deep/big"), big);
  EXPECT_EQ(Get(to / "n\xff\xfe name"), "bytes");
  EXPECT_EQ(*ReadLink(to / "link"), "script.sh");
  EXPECT_EQ(*ReadLink(to / "long link"), std::string(150, 'l'));
  EXPECT_FALSE(Exists(to / "pipe"));
}

TEST(TarTest, PiecesCutAnywhereGiveTheSameFiles) {
  TempFolder from;
  ASSERT_TRUE(MakeDirs(from / "a").ok());
  Put(from / "a/f", std::string(700, 'x'));
  Put(from / ("a/" + std::string(150, 'n')), "long");
  const std::string archive = Archive(from.path());
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{511}, size_t{513}}) {
    TempFolder to;
    auto status = Extract(archive, to.path(), 0, piece);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(Get(to / "a/f"), std::string(700, 'x'));
    EXPECT_EQ(Get(to / ("a/" + std::string(150, 'n'))), "long");
  }
}

TEST(TarTest, AnArchiveCutAnywhereIsNeverTakenForAWholeOne) {
  TempFolder from;
  Put(from / "f", "hello");
  Put(from / "g", std::string(600, 'x'));
  const std::string archive = Archive(from.path());
  const size_t last_needed =
      archive.size() - 1024 + 512;  // one empty block says that it is the end
  for (size_t cut = 0; cut < last_needed; cut += 97) {
    TempFolder to;
    auto status = Extract(std::string_view(archive).substr(0, cut), to.path());
    ASSERT_FALSE(status.ok()) << cut;
    EXPECT_EQ(status.error().kind, ErrorKind::kCorrupt);
  }
  TempFolder to;
  EXPECT_FALSE(Extract(std::string_view(archive).substr(0, archive.size() - 1024), to.path()).ok())
      << "cut between entries";
}

TEST(TarTest, AFlippedByteInAHeadIsDamage) {
  const std::string archive = Made().Add('0', "f", "hello").End();
  for (const size_t at : {0u, 101u, 126u, 150u, 156u, 300u}) {
    TempFolder to;
    std::string damaged = archive;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    auto status = Extract(damaged, to.path());
    ASSERT_FALSE(status.ok()) << at;
    EXPECT_EQ(status.error().kind, ErrorKind::kCorrupt);
    EXPECT_TRUE(ListDir(to.path())->empty());
  }
}

TEST(TarTest, NoNameLeadsOutOfTheFolder) {
  for (const std::string name :
       {"../evil", "/evil", "a/../../evil", "a/..", "..", "./../evil", "//evil"}) {
    for (const char type : {'0', '5', '2', '1'}) {
      TempFolder outer;
      ASSERT_TRUE(MakeDirs(outer / "in").ok());
      const std::string archive =
          Made().Add('0', "x", "x").Add(type, name, type == '0' ? "evil" : "", "x").End();
      auto status = Extract(archive, outer / "in");
      ASSERT_FALSE(status.ok()) << name << " " << type;
      EXPECT_EQ(status.error().kind, ErrorKind::kDenied) << status.error().message;
      EXPECT_EQ(*ListDir(outer.path()), std::vector<std::string>{"in"});
    }
  }
}

TEST(TarTest, NoSymbolicLinkIsAWayOutOfTheFolder) {
  struct Case {
    std::string what;
    std::string archive;
  };
  const Case cases[] = {
      {"a file through a link", Made().Add('2', "way", "", "..").Add('0', "way/evil", "x").End()},
      {"a folder through a link", Made().Add('2', "way", "", "..").Add('5', "way/evil").End()},
      {"a folder over a link", Made().Add('2', "way", "", "../victim").Add('5', "way").End()},
      {"a link through a link",
       Made().Add('2', "way", "", "..").Add('2', "way/evil", "", "x").End()},
      {"a hard link through a link",
       Made().Add('2', "way", "", "..").Add('1', "f", "", "way/victim/secret").End()},
      {"a hard link into a link",
       Made().Add('0', "x", "x").Add('2', "way", "", "..").Add('1', "way/evil", "", "x").End()},
  };
  for (const Case& c : cases) {
    TempFolder outer;
    ASSERT_TRUE(MakeDirs(outer / "in").ok());
    ASSERT_TRUE(MakeDirs(outer / "victim").ok());
    Put(outer / "victim/secret", "secret", 0640);
    ASSERT_EQ(::chmod((outer / "victim").c_str(), 0751), 0);
    auto status = Extract(c.archive, outer / "in");
    ASSERT_FALSE(status.ok()) << c.what;
    EXPECT_EQ(status.error().kind, ErrorKind::kDenied) << c.what << status.error().message;
    EXPECT_EQ(ListDir(outer.path())->size(), 2u) << c.what;
    EXPECT_EQ(*ListDir(outer / "victim"), std::vector<std::string>{"secret"}) << c.what;
    EXPECT_EQ(Look(outer / "victim").st_mode & 0777, 0751u) << c.what;
    EXPECT_EQ(Look(outer / "victim/secret").st_nlink, 1u) << c.what;
  }
}

TEST(TarTest, WhatALinkPointsToIsNeverWrittenTo) {
  TempFolder outer;
  ASSERT_TRUE(MakeDirs(outer / "in").ok());
  Put(outer / "victim", "untouched", 0604);
  // A symbolic link in the archive ("f"), a symbolic and a hard link that exist already.
  ASSERT_EQ(::symlink("../victim", (outer / "in/there").c_str()), 0);
  ASSERT_EQ(::link((outer / "victim").c_str(), (outer / "in/same").c_str()), 0);
  const std::string archive = Made()
                                  .Add('2', "f", "", "../victim")
                                  .Add('0', "f", "mine")
                                  .Add('0', "there", "mine")
                                  .Add('0', "same", "mine")
                                  .End();
  auto status = Extract(archive, outer / "in");
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(Get(outer / "victim"), "untouched");
  EXPECT_EQ(Look(outer / "victim").st_mode & 0777, 0604u);
  for (const char* name : {"in/f", "in/there", "in/same"}) {
    EXPECT_EQ(Get(outer / name), "mine");
    EXPECT_TRUE(S_ISREG(Look(outer / name).st_mode));
  }
}

TEST(TarTest, HardLinksAreFilesOfTheFolder) {
  TempFolder to;
  const std::string archive = Made()
                                  .Add('5', "outputs/")
                                  .Add('0', "outputs/a", "hello")
                                  .Add('1', "outputs/b/c", "", "outputs/a")
                                  .End();
  TarExtractor extractor(to.path(), 1);
  ASSERT_TRUE(extractor.Feed(archive).ok());
  auto status = extractor.Finish();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(Get(to / "a"), "hello");
  EXPECT_EQ(Get(to / "b/c"), "hello");
  EXPECT_EQ(extractor.files(), 2u);
  EXPECT_EQ(extractor.bytes(), 5u);
}

TEST(TarTest, NamesOfGnuAndOfPaxAreRead) {
  TempFolder to;
  const std::string long_name = std::string(120, 'g') + "/" + std::string(120, 'h');
  const std::string long_link(130, 'k');
  const std::string archive = Made()
                                  .Add('L', "././@LongLink", long_name + '\0')
                                  .Add('0', "cut", "gnu")
                                  .Add('K', "././@LongLink", long_link + '\0')
                                  .Add('2', "link", "", "cut")
                                  .Add('g', "global", "24 comment=of no meaning\n")
                                  .Add('x', "pax", "14 path=other\n30 mtime=1234567890.123456789\n")
                                  .Add('0', "cut", "pax")
                                  .Add('0', "plain", "plain")
                                  .End();
  auto status = Extract(archive, to.path());
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(Get(to / long_name), "gnu");
  EXPECT_EQ(*ReadLink(to / "link"), long_link);
  EXPECT_EQ(Get(to / "other"), "pax");
  EXPECT_EQ(Look(to / "other").st_mtime, 1234567890);
  EXPECT_EQ(Get(to / "plain"), "plain") << "what pax said is of one entry only";
  EXPECT_FALSE(Exists(to / "cut"));
}

TEST(TarTest, LongNamesAreNoWayOutEither) {
  for (const char type : {'L', 'x'}) {
    TempFolder outer;
    ASSERT_TRUE(MakeDirs(outer / "in").ok());
    const std::string name = type == 'L' ? "../evil" : "16 path=../evil\n";
    const std::string archive = Made().Add(type, "long", name).Add('0', "f", "x").End();
    auto status = Extract(archive, outer / "in");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::kDenied) << status.error().message;
    EXPECT_EQ(*ListDir(outer.path()), std::vector<std::string>{"in"});
  }
}

TEST(TarTest, DamagedPaxRecordsAreAnError) {
  for (const std::string records :
       {"x", "99 path=a\n", "4 a\n", "9 path=a", "0 path=a\n", "9 size=-1\n", "11 size=1x2\n",
        "99999999999999999999 path=a\n", "27 GNU.sparse.name=abcdef\n"}) {
    TempFolder to;
    EXPECT_FALSE(Extract(Made().Add('x', "pax", records).Add('0', "f").End(), to.path()).ok())
        << records;
    EXPECT_TRUE(ListDir(to.path())->empty()) << records;
  }
}

TEST(TarTest, DevicesAndPipesAreSkippedAndPowerfulBitsDropped) {
  TempFolder to;
  TarEntry powerful;
  powerful.name = "powerful";
  powerful.mode = 07755;
  const std::string archive =
      Made().Add('3', "tty").Add('4', "disk").Add('6', "pipe").Add(powerful, "x").End();
  ASSERT_TRUE(Extract(archive, to.path()).ok());
  EXPECT_EQ(*ListDir(to.path()), std::vector<std::string>{"powerful"});
  EXPECT_EQ(Look(to / "powerful").st_mode & 07777, 0755u);
}

TEST(TarTest, AFolderThatDeniesItselfIsFilledBeforeItIsClosed) {
  TempFolder to;
  TarEntry closed;
  closed.type = '5';
  closed.name = "a/";
  closed.mode = 0;
  // The parent's own entry comes after what is in it, and twice.
  const std::string archive =
      Made().Add('0', "a/b/f", "x").Add(closed).Add('5', "a/b").Add(closed).End();
  auto status = Extract(archive, to.path());
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(Look(to / "a").st_mode & 0777, 0u);
  ASSERT_EQ(::chmod((to / "a").c_str(), 0700), 0);
  EXPECT_EQ(Get(to / "a/b/f"), "x");
}

TEST(TarTest, ANamePrefixIsAFolderOfTheArchiveAndOwnersAreTheOnesAskedFor) {
  TempFolder from, to;
  Put(from / "f", "x");
  ASSERT_EQ(::chmod(from.path().c_str(), 0750), 0);
  const std::string archive = Archive(from.path(), "azureml-run/", 3'000'000, 1001);
  auto tar = RunAndCapture({"tar", "--numeric-owner", "-tv"}, "", archive);
  ASSERT_TRUE(tar.ok());
  EXPECT_EQ(tar->status.code, 0) << tar->err;
  EXPECT_NE(tar->out.find("drwxr-x--- 3000000/1001"), std::string::npos) << tar->out;
  EXPECT_NE(tar->out.find(" azureml-run/f\n"), std::string::npos) << tar->out;
}

TEST(TarTest, ArchivesAreUnderstoodByTarAndTarsByUs) {
  TempFolder from, by_tar, by_us;
  const std::string name = std::string(120, 'n') + "/" + std::string(120, 'm');
  ASSERT_TRUE(MakeDirs(from / std::string(120, 'n')).ok());
  Put(from / name, "hello");
  ASSERT_EQ(::link((from / name).c_str(), (from / "z").c_str()), 0);
  auto extracted = RunAndCapture({"tar", "-x"}, by_tar.path(), Archive(from.path()));
  ASSERT_TRUE(extracted.ok());
  EXPECT_EQ(extracted->status.code, 0) << extracted->err;
  EXPECT_EQ(Get(by_tar / name), "hello");
  for (const char* format : {"gnu", "pax", "ustar"}) {
    if (std::string(format) == "ustar") {
      ASSERT_TRUE(RemoveTree(from / std::string(120, 'n')).ok());
      ASSERT_TRUE(MakeDirs(from / std::string(90, 'n')).ok());
      Put(from / (std::string(90, 'n') + "/" + std::string(60, 'm')), "hello");
    }
    TempFolder to;
    auto made = RunAndCapture({"tar", std::string("--format=") + format, "-c", "."}, from.path());
    ASSERT_TRUE(made.ok());
    ASSERT_EQ(made->status.code, 0) << made->err;
    auto status = Extract(made->out, to.path());
    ASSERT_TRUE(status.ok()) << format << status.error().message;
    auto same = RunAndCapture({"diff", "-r", from.path(), to.path()}, "");
    ASSERT_TRUE(same.ok());
    EXPECT_EQ(same->status.code, 0) << format << same->out;
  }
}

TEST(TarTest, AFileThatBecomesShorterDoesNotMakeTheRestUnreadable) {
  TempFolder from, to;
  const std::string big(2 << 20, 'x');
  Put(from / "a", big);
  Put(from / "b", "after");
  TarWriter writer(from.path(), "", 0, 0);
  std::string archive = *writer.Next();
  ASSERT_EQ(::truncate((from / "a").c_str(), 10), 0);
  for (;;) {
    auto piece = writer.Next();
    ASSERT_TRUE(piece.ok());
    if (piece->empty()) break;
    archive += *piece;
  }
  ASSERT_TRUE(Extract(archive, to.path()).ok());
  EXPECT_EQ(Look(to / "a").st_size, 2 << 20);
  EXPECT_EQ(Get(to / "b"), "after");
}

TEST(TarTest, NumbersBeyondOctalSurvive) {
  TarEntry entry;
  entry.name = "big";
  entry.size = uint64_t{20} << 30;
  const std::string head = PrintTarHead(entry);
  ASSERT_EQ(head.size(), 3 * kTarBlock);
  auto parsed = ParseTarHead(std::string_view(head).substr(2 * kTarBlock));
  ASSERT_TRUE(parsed.ok());
  const std::string_view records = std::string_view(head).substr(kTarBlock, kTarBlock);
  ASSERT_TRUE(ApplyPax(records.substr(0, records.find('\0')), &*parsed).ok());
  EXPECT_EQ(parsed->size, uint64_t{20} << 30);
}

TEST(TarTest, NothingIsTakenAfterAFailure) {
  TempFolder to;
  TarExtractor extractor(to.path(), 0);
  ASSERT_FALSE(extractor.Feed(Made().Add('0', "../x").text()).ok());
  EXPECT_FALSE(extractor.Feed(Made().Add('0', "f", "x").End()).ok());
  EXPECT_FALSE(extractor.Finish().ok());
  EXPECT_TRUE(ListDir(to.path())->empty());
}

}  // namespace
}  // namespace tenon::docker
