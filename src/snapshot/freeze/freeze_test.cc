// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/freeze.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "snapshot/freeze/stat_cache.h"
#include "snapshot/freeze/test_files.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::snapshot {
namespace {

class FreezeTest : public testing::Test {
 protected:
  FreezeTest() {
    TENON_CHECK(MakeDirs(temp_ / "project").ok());
    auto store = ObjectStore::Open(temp_ / "store");
    TENON_CHECK(store.ok());
    store_ = std::make_unique<ObjectStore>(std::move(*store));
    options_.folder = temp_ / "project";
    options_.ignore_files = {".amlignore", ".gitignore"};
    options_.always_ignored = {".git", "/outputs"};
  }

  void Write(const std::string& path, std::string_view bytes, mode_t mode = 0644) {
    WriteTestFile(temp_ / ("project/" + path), bytes, mode);
  }
  std::string Path(const std::string& path) { return temp_ / ("project/" + path); }

  Frozen Freeze() {
    auto frozen = snapshot::Freeze(*store_, options_);
    EXPECT_TRUE(frozen.ok()) << frozen.error().message;
    return frozen.ok() ? *frozen : Frozen();
  }
  // The paths of a tree. Folders end with a slash.
  std::set<std::string> Paths(const Hash& root) {
    std::set<std::string> paths;
    auto walked = Walk(*store_, root, [&](const Entry& entry) -> Status {
      paths.insert(entry.path + (entry.type == EntryType::kFolder ? "/" : ""));
      return {};
    });
    EXPECT_TRUE(walked.ok()) << walked.error().message;
    return paths;
  }
  std::map<std::string, std::string> UnpackAndDescribe(const Hash& root) {
    const std::string folder = temp_ / ("out" + std::to_string(next_++));
    auto unpacked = Unpack(*store_, root, folder);
    EXPECT_TRUE(unpacked.ok()) << unpacked.error().message;
    return unpacked.ok() ? Describe(folder) : std::map<std::string, std::string>();
  }
  // Waits until the cache may believe the files written so far.
  void LetFilesGrowOld() {
    const int64_t start = *FileSystemNow(temp_ / "clock");
    while (*FileSystemNow(temp_ / "clock") < start + 2'100'000'000) {
      const timespec rest{0, 50'000'000};
      ::nanosleep(&rest, nullptr);
    }
  }
  void UseCache() { options_.stat_cache = temp_ / "caches/stat"; }

  TempFolder temp_;
  std::unique_ptr<ObjectStore> store_;
  FreezeOptions options_;
  int next_ = 0;
};

TEST_F(FreezeTest, EverythingComesBackAsItWas) {
  Write("a.py", "print(1)");
  Write("run.sh", "#!/bin/sh", 0755);
  Write("secret", "s", 0600);
  Write("read-only", "r", 0444);
  Write("group", "g", 0664);
  Write("empty", "");
  Write("deep/er/and/deeper/file", "x");
  Write("with\nnewline", "n");
  Write("invalid\xff\xfeutf8", "u");
  Write(std::string(255, 'l'), "long");
  Write("big", RandomBytes(3u << 20, 1));
  Write("text", std::string(2u << 20, 't'));
  ASSERT_TRUE(MakeDirs(Path("empty folder/inside")).ok());
  ASSERT_EQ(::chmod(Path("empty folder").c_str(), 01777), 0);
  ASSERT_EQ(::chmod(Path("deep/er").c_str(), 0500), 0);
  ASSERT_EQ(::symlink("a.py", Path("link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere/at/all", Path("dangling").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", Path("outside").c_str()), 0);
  ASSERT_EQ(::symlink("deep", Path("to folder").c_str()), 0);
  ASSERT_EQ(::link(Path("a.py").c_str(), Path("hard.py").c_str()), 0);
  const Frozen frozen = Freeze();
  EXPECT_EQ(frozen.root, frozen.kept_root);
  EXPECT_EQ(frozen.files, 17u);
  const mode_t before = ::umask(077);  // must not matter
  EXPECT_EQ(UnpackAndDescribe(frozen.root), Describe(options_.folder));
  ::umask(before);
}

TEST_F(FreezeTest, SameFolderSameRootAndEmptyFolderHasOne) {
  const Hash empty = Freeze().root;
  EXPECT_TRUE(Paths(empty).empty());
  Write("a", "1");
  Write("b/c", "2");
  const Hash one = Freeze().root;
  EXPECT_NE(one, empty);
  EXPECT_EQ(Freeze().root, one);
  options_.threads = 1;
  EXPECT_EQ(Freeze().root, one);
  ASSERT_EQ(::chmod(Path("a").c_str(), 0755), 0);
  EXPECT_NE(Freeze().root, one);
}

TEST_F(FreezeTest, SocketsAndFifosAreSkippedAndListed) {
  Write("file", "x");
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0644), 0);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(Path("socket").size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, Path("socket").data(), Path("socket").size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  const Frozen frozen = Freeze();
  EXPECT_EQ(frozen.skipped, (std::vector<std::string>{"fifo", "socket"}));
  EXPECT_EQ(Paths(frozen.root), std::set<std::string>{"file"});
}

TEST_F(FreezeTest, GitFoldersAreLeftOutAtAnyDepth) {
  Write(".git/HEAD", "x");
  Write("submodule/.git", "gitdir: ../.git/modules/x");
  Write("submodule/code.py", "x");
  Write("nested/repo/.git/config", "x");
  Write("nested/repo/a", "x");
  Write("outputs/model.pkl", "x");
  Write("sub/outputs/kept", "x");
  EXPECT_EQ(Paths(Freeze().root),
            (std::set<std::string>{"submodule/", "submodule/code.py", "nested/", "nested/repo/",
                                   "nested/repo/a", "sub/", "sub/outputs/", "sub/outputs/kept"}));
}

TEST_F(FreezeTest, AmlignoreReplacesTheGitignoreOfItsFolderOnly) {
  Write(".gitignore", "*.csv\n");
  Write("a.csv", "x");
  Write("sub/.amlignore", "*.txt\n");
  Write("sub/.gitignore", "*.py\n");
  Write("sub/a.csv", "x");
  Write("sub/a.py", "x");
  Write("sub/a.txt", "x");
  const Frozen frozen = Freeze();
  EXPECT_EQ(Paths(frozen.root), (std::set<std::string>{".gitignore", "sub/", "sub/.amlignore",
                                                       "sub/.gitignore", "sub/a.py"}));
  EXPECT_EQ(frozen.ignored, 3u);
}

TEST_F(FreezeTest, AlwaysIgnoredCannotBeNegated) {
  Write(".gitignore", "!outputs\n!.git\n");
  Write("outputs/a", "x");
  Write(".git/a", "x");
  const Frozen frozen = Freeze();
  EXPECT_EQ(Paths(frozen.root), std::set<std::string>{".gitignore"});
  EXPECT_EQ(frozen.ignored, 0u);
}

TEST_F(FreezeTest, SymlinkedIgnoreFileIsNotFollowed) {
  Write("rules", "*.txt\n");
  Write("a.txt", "x");
  ASSERT_EQ(::symlink("rules", Path(".gitignore").c_str()), 0);
  EXPECT_TRUE(Paths(Freeze().root).contains("a.txt"));
}

TEST_F(FreezeTest, TakesTheFilesThatGitWouldTake) {
  ASSERT_TRUE(RunAndCapture({"git", "init", "-q"}, options_.folder).ok());
  Write(".gitignore", "*.o\n/build/\n!keep.o\nlogs/*\n!logs/important\n**/cache/\ndoc/**/*.pdf\n");
  Write("src/.gitignore", "!*.o\n/local\n");
  for (const char* path : {"a.o", "keep.o", "src/b.o", "src/local/x", "src/deep/local/x", "build/x",
                           "src/build/x", "logs/a", "logs/important/x", "x/cache/y", "cache",
                           "doc/a.pdf", "doc/x/y/b.pdf", "doc/x/c.txt", "untracked"}) {
    Write(path, path);
  }
  auto git = RunAndCapture({"git", "-c", "core.excludesFile=/dev/null", "ls-files", "-o", "-z",
                            "--exclude-per-directory=.gitignore"},
                           options_.folder);
  ASSERT_TRUE(git.ok());
  std::set<std::string> theirs;
  for (const std::string& path : Split(git->out, '\0')) {
    if (!path.empty()) theirs.insert(path);
  }
  std::set<std::string> ours;
  for (const std::string& path : Paths(Freeze().root)) {
    if (path.back() != '/') ours.insert(path);
  }
  EXPECT_GT(theirs.size(), 8u);
  EXPECT_EQ(ours, theirs);
}

TEST_F(FreezeTest, WhatStaysHereNeverReachesTheOtherTreeOrTheStore) {
  Write("aml_config/vm.compute", "address: x\npassword: hunter2\n");
  Write("aml_config/local.runconfig", "x");
  Write("train.py", "x");
  options_.stays_here = [](std::string_view path) { return path.ends_with(".compute"); };
  options_.redact = [](std::string_view, std::string bytes) {
    return bytes.substr(0, bytes.find("password"));
  };
  const Frozen frozen = Freeze();
  EXPECT_NE(frozen.root, frozen.kept_root);
  EXPECT_EQ(Paths(frozen.root),
            (std::set<std::string>{"aml_config/", "aml_config/local.runconfig", "train.py"}));
  EXPECT_EQ(Paths(frozen.kept_root),
            (std::set<std::string>{"aml_config/", "aml_config/local.runconfig",
                                   "aml_config/vm.compute", "train.py"}));
  const Entry entry = *Find(*store_, frozen.kept_root, "aml_config/vm.compute");
  EXPECT_EQ(*store_->Read(entry.hash), "address: x\n");
  EXPECT_EQ(entry.size, 11u);
  EXPECT_FALSE(store_->Has(Sha256Of("address: x\npassword: hunter2\n")));
}

TEST_F(FreezeTest, TwoRootsAreTheSameWithAndWithoutTheCache) {
  Write("aml_config/vm.compute", "password: a\n");
  Write("train.py", "x");
  options_.stays_here = [](std::string_view path) { return path.ends_with(".compute"); };
  options_.redact = [](std::string_view, std::string bytes) { return "redacted " + bytes; };
  const Frozen plain = Freeze();
  UseCache();
  for (int i = 0; i < 3; ++i) {
    const Frozen cached = Freeze();
    EXPECT_EQ(cached.root, plain.root);
    EXPECT_EQ(cached.kept_root, plain.kept_root);
    if (i == 1) LetFilesGrowOld();
  }
  // `redact` is called every time: another redaction makes another tree.
  options_.redact = [](std::string_view, std::string) { return std::string("other"); };
  const Frozen other = Freeze();
  EXPECT_EQ(other.root, plain.root);
  EXPECT_NE(other.kept_root, plain.kept_root);
  Write("aml_config/vm.compute", "password: b\n");
  EXPECT_EQ(Freeze().root, plain.root);
}

TEST_F(FreezeTest, UnchangedProjectIsAnsweredByTheCache) {
  for (int i = 0; i < 300; ++i) {
    Write("d" + std::to_string(i % 7) + "/f" + std::to_string(i), std::to_string(i));
  }
  for (int i = 0; i < 5000; ++i) Write("many/f" + std::to_string(i), std::to_string(i));
  Write("large", RandomBytes(2u << 20, 1));
  ASSERT_EQ(::symlink("large", Path("link").c_str()), 0);
  UseCache();
  const Frozen first = Freeze();
  EXPECT_EQ(first.files_hashed, 5301u);
  LetFilesGrowOld();
  const Frozen second = Freeze();  // files that were too young before are read once more
  EXPECT_EQ(second.root, first.root);
  const std::string cache = *ReadFile(options_.stat_cache);
  const Frozen third = Freeze();
  EXPECT_EQ(third.root, first.root);
  EXPECT_EQ(third.files_hashed, 0u);
  EXPECT_EQ(third.bytes_hashed, 0u);
  EXPECT_EQ(third.files, first.files);
  EXPECT_EQ(third.bytes, first.bytes);
  EXPECT_EQ(*ReadFile(options_.stat_cache), cache) << "written though nothing changed";

  // One file changes, one is removed, one is added. The cache is still believed for the rest.
  Write("d3/f3", "changed");
  ASSERT_TRUE(RemoveFile(Path("many/f77")).ok());
  Write("many/new", "new");
  const Frozen fourth = Freeze();
  EXPECT_EQ(fourth.files_hashed, 2u);
  options_.stat_cache.clear();
  EXPECT_EQ(Freeze().root, fourth.root);
  UseCache();
  ASSERT_TRUE(RemoveTree(Path("d1")).ok());
  EXPECT_FALSE(Paths(Freeze().root).contains("d1/"));
}

TEST_F(FreezeTest, EditRightAfterASnapshotIsSeenWhateverItsTimesSay) {
  Write("a", "one");
  UseCache();
  struct stat info;
  ASSERT_EQ(::stat(Path("a").c_str(), &info), 0);
  const Hash before = Freeze().root;
  Write("a", "two");  // same size
  const timespec times[2] = {info.st_atim, info.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, Path("a").c_str(), times, 0), 0);
  EXPECT_NE(Freeze().root, before);
}

TEST_F(FreezeTest, FileWithATimeInTheFutureIsReadEachTime) {
  Write("a", "one");
  const timespec future[2] = {{4'000'000'000, 0}, {4'000'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, Path("a").c_str(), future, 0), 0);
  UseCache();
  Freeze();
  LetFilesGrowOld();
  Freeze();
  EXPECT_EQ(Freeze().files_hashed, 1u);
}

TEST_F(FreezeTest, DamagedCacheIsIgnoredAndWrittenAnew) {
  Write("a", "one");
  UseCache();
  const Hash root = Freeze().root;
  LetFilesGrowOld();
  Freeze();
  const std::string good = *ReadFile(options_.stat_cache);
  WriteTestFile(options_.stat_cache, good.substr(0, good.size() / 2));
  EXPECT_EQ(Freeze().root, root);
  EXPECT_EQ(ReadFile(options_.stat_cache)->size(), good.size());
  EXPECT_EQ(Freeze().files_hashed, 0u);
  ASSERT_TRUE(RemoveFile(options_.stat_cache).ok());
  ASSERT_TRUE(MakeDirs(options_.stat_cache).ok());  // cannot be written at all
  EXPECT_EQ(Freeze().root, root);
}

TEST_F(FreezeTest, CacheDoesNotVouchForObjectsThatWereCollected) {
  Write("a", "one");
  Write("sub/b", "two");
  Write("large", RandomBytes(2u << 20, 1));
  UseCache();
  Freeze();
  LetFilesGrowOld();
  const Hash root = Freeze().root;
  ASSERT_EQ(Freeze().files_hashed, 0u);
  ASSERT_GT(store_->Collect({}, -3'600'000'000)->objects, 3u);
  EXPECT_EQ(store_->Measure()->objects, 0u);
  const Frozen again = Freeze();
  EXPECT_EQ(again.root, root);
  EXPECT_EQ(again.files_hashed, 3u);
  EXPECT_EQ(UnpackAndDescribe(root), Describe(options_.folder));
}

TEST_F(FreezeTest, UnreadableFileIsDeniedAndNamed) {
  Write("fine", "x");
  Write("locked/secret", "x", 0);
  ASSERT_EQ(::chmod(temp_.path().c_str(), 0755), 0);
  const pid_t child = ::fork();
  if (child == 0) {  // root can read everything, so the test runs as another user
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(9);
    char other[] = "/tmp/tenon-snapshot-XXXXXX";
    if (!::mkdtemp(other)) ::_exit(8);
    auto store = ObjectStore::Open(std::string(other) + "/store");
    auto frozen = snapshot::Freeze(*store, options_);
    const bool right = !frozen.ok() && frozen.error().kind == ErrorKind::kDenied &&
                       frozen.error().message.find("locked/secret") != std::string::npos;
    (void)RemoveTree(other).ok();
    ::_exit(right ? 0 : 1);
  }
  int status;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(FreezeTest, FilesThatComeAndGoNeverYieldAWrongTree) {
  for (int i = 0; i < 200; ++i) Write("f" + std::to_string(i), "content " + std::to_string(i));
  std::atomic<bool> stop{false};
  std::thread churn([&] {
    for (int i = 0; !stop; ++i) {
      const std::string path = Path("temp" + std::to_string(i % 50));
      WriteTestFile(path, "temporary");
      TENON_CHECK(RemoveFile(path).ok());
    }
  });
  for (int i = 0; i < 20; ++i) {
    auto frozen = snapshot::Freeze(*store_, options_);
    if (!frozen.ok()) {
      EXPECT_EQ(frozen.error().kind, ErrorKind::kUnavailable) << frozen.error().message;
      EXPECT_NE(frozen.error().message.find("temp"), std::string::npos);
      continue;
    }
    const auto paths = Paths(frozen->root);
    for (int f = 0; f < 200; ++f) EXPECT_TRUE(paths.contains("f" + std::to_string(f)));
  }
  stop = true;
  churn.join();
}

TEST_F(FreezeTest, FileThatVanishesIsNamed) {
  Write("a/x", "1");
  // The file vanishes between listing and reading.
  std::atomic<int> asked{0};
  options_.stays_here = [&](std::string_view path) {
    if (path == "a/x") {
      ++asked;
      TENON_CHECK(RemoveFile(Path("a/x")).ok());
    }
    return false;
  };
  auto frozen = snapshot::Freeze(*store_, options_);
  EXPECT_EQ(asked, 1);
  ASSERT_FALSE(frozen.ok());
  EXPECT_EQ(frozen.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(frozen.error().message.find("a/x"), std::string::npos);
  EXPECT_NE(frozen.error().message.find("vanished"), std::string::npos);
}

TEST_F(FreezeTest, FifoInThePlaceOfAFileDoesNotHang) {
  Write("x", "1");
  options_.stays_here = [&](std::string_view) {
    TENON_CHECK(RemoveFile(Path("x")).ok() && ::mkfifo(Path("x").c_str(), 0644) == 0);
    return false;
  };
  auto frozen = snapshot::Freeze(*store_, options_);
  ASSERT_FALSE(frozen.ok());
  EXPECT_EQ(frozen.error().kind, ErrorKind::kUnavailable);
}

TEST_F(FreezeTest, MissingProjectIsNotFound) {
  options_.folder = temp_ / "none";
  auto frozen = snapshot::Freeze(*store_, options_);
  ASSERT_FALSE(frozen.ok());
  EXPECT_EQ(frozen.error().kind, ErrorKind::kNotFound);
}

TEST_F(FreezeTest, LargeFilesAreListedNotRefused) {
  Write("a", std::string(1000, 'x'));
  Write("sub/b", std::string(2000, 'x'));
  options_.large_file_hint = 1500;
  const Frozen frozen = Freeze();
  ASSERT_EQ(frozen.large.size(), 1u);
  EXPECT_EQ(frozen.large[0], (std::pair<std::string, uint64_t>("sub/b", 2000)));
}

TEST_F(FreezeTest, HugeFileIsNeverInMemory) {
  const uint64_t size = (::getenv("TENON_DEEP") ? uint64_t{5} << 30 : uint64_t{300} << 20) + 12345;
  auto fd = OpenFile(Path("sparse"), O_WRONLY | O_CREAT);
  ASSERT_TRUE(fd.ok());
  ASSERT_EQ(::ftruncate(fd->get(), static_cast<off_t>(size)), 0);
  ASSERT_TRUE(WriteAllAt(fd->get(), "end", size - 3).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    rusage before, after;
    ::getrusage(RUSAGE_SELF, &before);
    auto store = ObjectStore::Open(temp_ / "store");
    auto frozen = snapshot::Freeze(*store, options_);
    const bool same =
        frozen.ok() && frozen->bytes == size && Unpack(*store, frozen->root, temp_ / "huge").ok();
    ::getrusage(RUSAGE_SELF, &after);
    struct stat info;
    const bool there = ::stat((temp_ / "huge/sparse").c_str(), &info) == 0 &&
                       static_cast<uint64_t>(info.st_size) == size;
    const bool small = after.ru_maxrss - before.ru_maxrss < 32 << 10;  // KiB
    ::_exit(same && there && small ? 0 : 1);
  }
  int status;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  struct stat info;
  ASSERT_EQ(::stat((temp_ / "huge/sparse").c_str(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, 1 << 20) << "zeros were written out";
}

TEST_F(FreezeTest, TwoProcessesIntoOneStore) {
  for (int i = 0; i < 400; ++i) Write("shared" + std::to_string(i), std::to_string(i));
  std::vector<pid_t> children;
  for (int c = 0; c < 3; ++c) {
    const std::string folder = temp_ / ("other" + std::to_string(c));
    for (int i = 0; i < 400; ++i) {
      WriteTestFile(folder + "/f" + std::to_string(i), std::to_string(i * (c + 1)));
    }
    const pid_t child = ::fork();
    if (child == 0) {
      bool right = true;
      for (int round = 0; round < 5; ++round) {
        auto store = ObjectStore::Open(temp_ / "store");
        FreezeOptions options = options_;
        options.folder = round % 2 ? folder : options_.folder;
        options.stat_cache = temp_ / "shared-cache";
        auto frozen = snapshot::Freeze(*store, options);
        const std::string out = folder + "-out" + std::to_string(round);
        right = right && frozen.ok() && Unpack(*store, frozen->root, out).ok() &&
                Describe(out) == Describe(options.folder);
      }
      ::_exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

TEST_F(FreezeTest, VeryDeepFoldersWork) {
  std::string path = "d";
  for (int i = 1; i < 1100; ++i) path += "/d";
  ASSERT_TRUE(MakeDirs(Path(path)).ok());
  Write(path + "/bottom", "x");
  Write("d/d/file", "y");
  UseCache();
  const Frozen frozen = Freeze();
  EXPECT_EQ(*store_->Read(Find(*store_, frozen.root, path + "/bottom")->hash), "x");
  EXPECT_EQ(UnpackAndDescribe(frozen.root), Describe(options_.folder));
  LetFilesGrowOld();
  Freeze();
  EXPECT_EQ(Freeze().root, frozen.root);
}

TEST_F(FreezeTest, OneChangedFileAmongManyAddsLittleToTheStore) {
  for (int i = 0; i < 10'000; ++i) Write("one/file" + std::to_string(i), std::to_string(i));
  Freeze();
  const uint64_t before = store_->Measure()->bytes_on_disk;
  Write("one/file777", "changed");
  Freeze();
  EXPECT_LT(store_->Measure()->bytes_on_disk - before, 64u << 10);
}

TEST_F(FreezeTest, ProgressIsToldOnTheCallingThread) {
  for (int i = 0; i < 3000; ++i) Write("f" + std::to_string(i), std::to_string(i));
  Write("large", RandomBytes(30u << 20, 1));
  class FastClock : public Clock {  // every look at it adds a tenth of a second
   public:
    int64_t NowUs() const override { return 0; }
    int64_t MonotonicUs() const override { return now_ += 100'000; }
    mutable std::atomic<int64_t> now_{0};
  } clock;
  options_.clock = &clock;
  const auto caller = std::this_thread::get_id();
  uint64_t calls = 0, last_files = 0;
  options_.on_progress = [&](uint64_t files, uint64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GE(files, last_files);
    last_files = files;
    ++calls;
  };
  Freeze();
  EXPECT_GT(calls, 0u);
}

}  // namespace
}  // namespace tenon::snapshot
