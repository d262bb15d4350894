// SPDX-License-Identifier: Apache-2.0
// Checks the archives with Python's zipfile, an independent reader.
#include "engine/outputs/zip.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/process.h"
#include "base/temp_folder.h"

namespace tenon::engine {
namespace {

constexpr int64_t kTime = int64_t{1'521'077'190} * 1'000'000;

CaptureResult Python(const std::string& program, const std::string& file) {
  auto done = RunAndCapture({"python3", "-c", program, file}, "");
  EXPECT_TRUE(done.ok()) << done.error().message;
  return done.ok() ? *done : CaptureResult{};
}

TEST(Zip, PythonReadsEveryKindOfEntry) {
  TempFolder temp;
  const std::string path = JoinPath(temp.path(), "a.zip");
  std::string random;  // does not compress, longer than every buffer
  for (uint32_t i = 0, x = 1; i < 200'000; ++i)
    random += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  {
    auto zip = ZipWriter::Create(path, kTime);
    ASSERT_TRUE(zip.ok()) << zip.error().message;
    ASSERT_TRUE(zip->AddFolder("d", 0700).ok());
    ASSERT_TRUE(zip->AddFile("d/empty", "", 0600).ok());
    ASSERT_TRUE(zip->AddFile("d/\xc3\xa4 b.sh", "#!/bin/sh\n", 0755).ok());
    ASSERT_TRUE(zip->AddSymlink("link", "d/empty").ok());
    ASSERT_TRUE(zip->Begin("random", 0644, uint64_t{5} << 30).ok());  // in the 64-bit form
    for (size_t i = 0; i < random.size(); i += 777) {
      ASSERT_TRUE(zip->Write(std::string_view(random).substr(i, 777)).ok());
    }
    ASSERT_TRUE(zip->End().ok());
    EXPECT_FALSE(Exists(path)) << "not before it is whole";
    ASSERT_TRUE(zip->Finish().ok());
    EXPECT_EQ(zip->entries(), 5u);
  }
  const auto done = Python(
      "import sys, zipfile\n"
      "z = zipfile.ZipFile(sys.argv[1])\n"
      "assert z.testzip() is None\n"
      "for i in z.infolist():\n"
      "    print(i.filename, oct(i.external_attr >> 16), i.file_size, *i.date_time)\n"
      "r, x = b'', 1\n"
      "for _ in range(200000):\n"
      "    x = (x * 1664525 + 1013904223) % 2**32\n"
      "    r += bytes([x >> 24])\n"
      "assert z.read('random') == r\n"
      "assert z.read('link') == b'd/empty' and z.read('d/\\xe4 b.sh') == b'#!/bin/sh\\n'\n",
      path);
  EXPECT_EQ(done.status.AsShell(), 0) << done.err;
  EXPECT_EQ(done.out,
            "d/ 0o40700 0 2018 3 15 1 26 30\n"
            "d/empty 0o100600 0 2018 3 15 1 26 30\n"
            "d/\xc3\xa4 b.sh 0o100755 10 2018 3 15 1 26 30\n"
            "link 0o120777 7 2018 3 15 1 26 30\n"
            "random 0o100644 200000 2018 3 15 1 26 30\n");
}

TEST(Zip, MoreEntriesThanTheOldFormCanCount) {
  TempFolder temp;
  const std::string path = JoinPath(temp.path(), "many.zip");
  auto zip = ZipWriter::Create(path, 0);
  ASSERT_TRUE(zip.ok());
  for (int i = 0; i < 66'000; ++i) ASSERT_TRUE(zip->AddFile(std::to_string(i), "x").ok());
  ASSERT_TRUE(zip->Finish().ok());
  const auto done = Python(
      "import sys, zipfile\n"
      "z = zipfile.ZipFile(sys.argv[1])\n"
      "print(len(z.namelist()), z.read('65999'))\n",
      path);
  EXPECT_EQ(done.out, "66000 b'x'\n") << done.err;
}

TEST(Zip, OneThatIsGivenUpLeavesTheOldFileAndNothingElse) {
  TempFolder temp;
  const std::string path = JoinPath(temp.path(), "a.zip");
  ASSERT_TRUE(WriteFileAtomically(path, "old", 0644, Durability::kProcess).ok());
  {
    auto zip = ZipWriter::Create(path, kTime);
    ASSERT_TRUE(zip.ok());
    ASSERT_TRUE(zip->Begin("half", 0644, 10).ok());
    ASSERT_TRUE(zip->Write("12345").ok());
  }
  EXPECT_EQ(ReadFile(path).value(), "old");
  EXPECT_EQ(ListDir(temp.path())->size(), 1u);
}

TEST(Zip, WriterSaysWhenTheFolderIsNotThere) {
  TempFolder temp;
  const auto zip = ZipWriter::Create(JoinPath(temp.path(), "no/a.zip"), kTime);
  ASSERT_FALSE(zip.ok());
  EXPECT_EQ(zip.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace tenon::engine
