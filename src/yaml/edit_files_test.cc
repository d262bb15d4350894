// SPDX-License-Identifier: Apache-2.0
// Edits of whole files: changes every value of every file and puts it back; every byte must be as
// before.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/source_tree.h"
#include "yaml/edit_property.h"

namespace tenon::yaml {
namespace {

void ForEachFile(const std::string& folder, const std::function<void(const std::string&)>& visit) {
  Result<std::vector<std::string>> names = ListDir(folder);
  ASSERT_TRUE(names.ok()) << folder;
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    const std::string path = JoinPath(folder, name);
    IsDirectory(path) ? ForEachFile(path, visit) : visit(path);
  }
}

bool IsSettingsFile(std::string_view path) {
  for (const char* ending : {".compute", ".runconfig", ".amb", ".yml", ".json"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

struct Counts {
  size_t loaded = 0, refused = 0, scalars = 0;
};

Counts CheckBelow(const std::string& folder) {
  Counts counts;
  ForEachFile(folder, [&](const std::string& path) {
    if (!IsSettingsFile(path)) return;
    const Result<Document> document = Document::Load(path, path.substr(folder.size() + 1));
    if (!document.ok()) {
      ++counts.refused;
      return;
    }
    ++counts.loaded;
    EditProperty property(*document, true);
    EXPECT_EQ(property.Check(), "");
    counts.scalars += property.scalars();
  });
  return counts;
}

TEST(YamlEditFiles, EveryValueOfOwnProjectsGoesThereAndBack) {
  const Counts counts = CheckBelow(SourcePath("tests/data/projects"));
  EXPECT_GE(counts.loaded, 20u);
  EXPECT_GE(counts.scalars, 80u);
}

TEST(YamlEditFiles, EveryValueOfRealProjectsGoesThereAndBack) {
  const char* given = std::getenv("TENON_CORPUS");
  const std::string corpus = given != nullptr ? given : SourcePath("../shared/corpus");
  if (!IsDirectory(corpus)) GTEST_SKIP() << "planned: the corpus of real projects is not here";
  const Counts counts = CheckBelow(corpus);
  std::printf("%zu files, %zu values changed and put back; %zu files are refused\n", counts.loaded,
              counts.scalars, counts.refused);
  EXPECT_GE(counts.loaded, 290u);
  EXPECT_GE(counts.scalars, 2000u);
}

// One file per odd form, so that these are tested in a clone without real projects too.
TEST(YamlEditFiles, OddFormsGoThereAndBack) {
  for (const std::string bytes : {"a: 1\nb: two\n",
                                  "a: 1\r\nb: two\r\n",
                                  "a: 1\r\nb: two",
                                  "\xEF\xBB\xBF"
                                  "a: 1\nb: 2",
                                  "a:\t1\nb:\t\"x\"\t\n",
                                  "a: 1   \nb:    2\n\n\n",
                                  "a: 1 # one\n# b\nb: 2 # two",
                                  "\"a\": 1\n'b': '2'\n",
                                  "a:\n  b: 1\n  c:\n    d: 2\n",
                                  "a:\n    b: 1\n",
                                  "a:\n- x\n- y\n",
                                  "a:\n  - x\n  -   y\n",
                                  "a:\nb: ~\nc: null\nd: 1\n",
                                  "---\na: 1\n",
                                  "a: True\nb: FALSE\n",
                                  "{\"a\":1,\"b\":[\"x\",\"y\"],\"c\":{}}",
                                  "{\r\n\t\"a\": null,\r\n\t\"b\": \"x\"\r\n}\r\n",
                                  "{\"a\": \"x\\n y\",\n \"b\": \"l1\n  l2\"}",
                                  "a: [x, y]\nb: {c: d, e: }\n",
                                  "p:\n- g: x\n  a: y\n- g: z\n  a: w\n",
                                  "d:\n  - p=1\n  - pip:\n    - q\n    # c\n    - r\n",
                                  "a: |\n  t\n  u\nb: >-\n  v\n\nc: 1\n",
                                  "a: long\n  text\nb: 'x\n  y'\n",
                                  "a: <x>\nb: ~/s/\n",
                                  "Gr\xC3\xB6\xC3\x9F"
                                  "e: \xE2\x9C\x93 # \xC3\xA4\nb: x\n",
                                  "a: 1\n...\n",
                                  "# c\n\na: 1\n# d"}) {
    const Result<Document> document = Document::Parse(bytes, bytes);
    ASSERT_TRUE(document.ok()) << bytes << document.error().message;
    EXPECT_EQ(EditProperty(*document, true).Check(), "");
  }
}

}  // namespace
}  // namespace tenon::yaml
