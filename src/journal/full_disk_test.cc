// SPDX-License-Identifier: Apache-2.0
// Tests with a disk that is really full: a tmpfs of 1 MB in a mount namespace of a child process.
// No other process sees it, and it goes away with the child.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/file.h"
#include "base/temp_folder.h"
#include "journal/reader.h"
#include "journal/test_segment.h"
#include "journal/writer.h"

namespace tenon::journal {
namespace {

constexpr int kCannotMount = 77;

// GoogleTest does not see the child, so a failed check prints to stderr and ends the child.
#define CHILD_CHECK(condition)                                                     \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ::_exit(1);                                                                  \
    }                                                                              \
  } while (false)

void MountSmallDisk(const std::string& at) {
  const int flags = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  if (::unshare(flags) != 0) ::_exit(kCannotMount);
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(kCannotMount);
  if (::mount("tmpfs", at.c_str(), "tmpfs", 0, "size=1m") != 0) ::_exit(kCannotMount);
}

// Runs `body(folder)` on a small disk, in a child process. False when this machine does not allow
// us to mount one.
template <typename Body>
bool OnSmallDisk(Body body) {
  TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    MountSmallDisk(folder.path());
    body(folder.path());
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotMount) return false;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  return true;
}

// Uses up every byte that is left on the disk.
void FillUp(const std::string& folder) {
  UniqueFd fd(::open(JoinPath(folder, "filler").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  CHILD_CHECK(fd.valid());
  for (std::string piece(64 << 10, 'f'); !piece.empty(); piece.resize(piece.size() / 2)) {
    while (::write(fd.get(), piece.data(), piece.size()) > 0) {
    }
  }
  CHILD_CHECK(::write(fd.get(), "f", 1) < 0);
}

std::vector<Kept> ReadAll(const std::string& path) {
  auto reader = Reader::Open(path);
  CHILD_CHECK(reader.ok());
  std::vector<Kept> records;
  for (;;) {
    auto record = reader->Next();
    CHILD_CHECK(record.ok());
    if (!*record) break;
    records.push_back(Keep(**record));
  }
  reader->Close();
  CHILD_CHECK(reader->holes().empty());
  return records;
}

Writer::Options OptionsFor(const std::string& folder, bool allocate_ahead) {
  return {.path = JoinPath(folder, "host.tj"),
          .run_key = kTestKey,
          .segment = "host",
          .reserve = true,
          .allocate_ahead = allocate_ahead};
}

void AppendUntilFull(Writer& writer, uint64_t* appended) {
  const std::string piece(10'000, 'o');
  for (*appended = 0; *appended < 1000; ++*appended) {
    const uint64_t size = writer.size();
    auto number = writer.AppendOutput(run::Stream::kStdout, piece);
    if (number.ok()) continue;
    CHILD_CHECK(number.error().kind == ErrorKind::kUnavailable);
    CHILD_CHECK(writer.size() == size);
    return;
  }
  CHILD_CHECK(false);
}

void EndIsRecordedOnAFullDisk(const std::string& folder, bool allocate_ahead) {
  const std::string other = JoinPath(folder, "someone-elses");
  CHILD_CHECK(
      WriteFileAtomically(other, std::string(256 << 10, 'e'), 0600, Durability::kProcess).ok());
  auto writer = Writer::Open(OptionsFor(folder, allocate_ahead));
  CHILD_CHECK(writer.ok());
  uint64_t appended = 0;
  AppendUntilFull(*writer, &appended);
  CHILD_CHECK(appended >= 50);
  FillUp(folder);
  const std::string path = JoinPath(folder, "host.tj");
  CHILD_CHECK(ReadAll(path).size() == appended);
  CHILD_CHECK(!writer->Append(run::Notice{run::Level::kInfo, std::string(5000, 'n'), ""}).ok());
  CHILD_CHECK(writer->AppendLast(run::Gap{5, 0, 0, "disk full"}).ok());
  CHILD_CHECK(writer->AppendLast(run::End{}).ok());
  CHILD_CHECK(writer->Sync().ok());
  std::vector<Kept> records = ReadAll(path);
  CHILD_CHECK(records.size() == appended + 2);
  CHILD_CHECK(records.back().type == static_cast<uint8_t>(run::EventType::kEnd));
  // The disk has room again, so recording goes on.
  CHILD_CHECK(::unlink(other.c_str()) == 0);
  CHILD_CHECK(writer->AppendOutput(run::Stream::kStdout, "again").ok());
  CHILD_CHECK(ReadAll(path).size() == appended + 3);
}

void TheNextWriterFindsTheReserveOfAKilledOne(const std::string& folder, bool allocate_ahead) {
  const pid_t killed = ::fork();
  CHILD_CHECK(killed >= 0);
  if (killed == 0) {
    auto writer = Writer::Open(OptionsFor(folder, allocate_ahead));
    CHILD_CHECK(writer.ok());
    uint64_t appended = 0;
    AppendUntilFull(*writer, &appended);
    ::_exit(0);  // no destructor, so nothing is given back
  }
  int status = 0;
  CHILD_CHECK(::waitpid(killed, &status, 0) == killed && status == 0);
  FillUp(folder);
  auto writer = Writer::Open(OptionsFor(folder, allocate_ahead));
  CHILD_CHECK(writer.ok());
  CHILD_CHECK(!writer->AppendOutput(run::Stream::kStdout, std::string(100'000, 'x')).ok());
  run::End end;
  end.reason = std::string(3000, 'r');
  CHILD_CHECK(writer->AppendLast(end).ok());
  CHILD_CHECK(ReadAll(JoinPath(folder, "host.tj")).back().type == 8);
}

class FullDisk : public testing::TestWithParam<bool> {};

TEST_P(FullDisk, AppendFailsCleanlyAndTheEndIsStillRecorded) {
  if (!OnSmallDisk([](const std::string& f) { EndIsRecordedOnAFullDisk(f, GetParam()); })) {
    GTEST_SKIP() << "planned: no mount namespace for a small disk here";
  }
}

TEST_P(FullDisk, TheReserveOfAKilledWriterServesTheOneWhoWritesTheEnd) {
  if (!OnSmallDisk(
          [](const std::string& f) { TheNextWriterFindsTheReserveOfAKilledOne(f, GetParam()); })) {
    GTEST_SKIP() << "planned: no mount namespace for a small disk here";
  }
}

INSTANTIATE_TEST_SUITE_P(Reserve, FullDisk, testing::Bool(), [](const auto& test) {
  return test.param ? std::string("AllocatedAhead") : std::string("InAFileBeside");
});

TEST(FullDiskWithoutReserve, AHalfWrittenRecordIsTakenBack) {
  bool ran = OnSmallDisk([](const std::string& folder) {
    Writer::Options options = OptionsFor(folder, true);
    options.reserve = false;
    auto writer = Writer::Open(options);
    CHILD_CHECK(writer.ok());
    uint64_t appended = 0;
    AppendUntilFull(*writer, &appended);
    CHILD_CHECK(ReadAll(options.path).size() == appended);
    auto size = ReadFile(options.path);
    CHILD_CHECK(size.ok() && size->size() == writer->size());
  });
  if (!ran) GTEST_SKIP() << "planned: no mount namespace for a small disk here";
}

TEST(FullDiskWithoutReserve, ASegmentThatCannotBeBegunIsBegunLater) {
  bool ran = OnSmallDisk([](const std::string& folder) {
    FillUp(folder);
    for (bool ahead : {true, false}) {
      auto writer = Writer::Open(OptionsFor(folder, ahead));
      CHILD_CHECK(!writer.ok());
      CHILD_CHECK(writer.error().kind == ErrorKind::kUnavailable);
    }
    CHILD_CHECK(::unlink(JoinPath(folder, "filler").c_str()) == 0);
    auto writer = Writer::Open(OptionsFor(folder, true));
    CHILD_CHECK(writer.ok());
    CHILD_CHECK(*writer->Append(run::Notice{}) == 1);
  });
  if (!ran) GTEST_SKIP() << "planned: no mount namespace for a small disk here";
}

}  // namespace
}  // namespace tenon::journal
