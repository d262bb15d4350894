// SPDX-License-Identifier: Apache-2.0
#include "yaml/document.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace tenon::yaml {
namespace {

Document MustParse(std::string bytes) {
  Result<Document> document = Document::Parse("f", std::move(bytes));
  if (!document.ok()) {
    ADD_FAILURE() << document.error().message;
    return std::move(Document::Parse("f", "")).value();
  }
  return std::move(document).value();
}

const Node& Get(const Document& document, std::string_view key) {
  const Node* node = document.root().Find(key);
  static const Node kNothing;
  if (node == nullptr) ADD_FAILURE() << "no key " << key;
  return node ? *node : kNothing;
}

std::string Slice(const Document& document, Range range) {
  return document.bytes().substr(range.begin, range.size());
}

// The error as "message | hint".
std::string Complaint(std::string bytes) {
  const Result<Document> document = Document::Parse("f", std::move(bytes));
  if (document.ok()) return "(accepted)";
  EXPECT_EQ(document.error().kind, ErrorKind::kInvalid);
  return document.error().message + " | " + document.error().hint;
}

// ---- What files of 2017 look like -------------------------------------------------------------

TEST(YamlOddities, CrlfLeavesNoCarriageReturnInValues) {
  const Document d = MustParse("type: local\r\npythonLocation: \"py 3\"  \r\nlist:\r\n- $file\r\n");
  EXPECT_EQ(Get(d, "type").text, "local");
  EXPECT_EQ(Get(d, "pythonLocation").text, "py 3");
  EXPECT_EQ(Get(d, "list").children.at(0).text, "$file");
}

TEST(YamlOddities, LastLineWithoutNewlineKeepsItsValue) {
  const Document d = MustParse("type: remotedocker\nnvidiaDocker: true");
  EXPECT_EQ(Get(d, "nvidiaDocker").AsBool(), true);
}

TEST(YamlOddities, JsonInOneLineAndInSeveral) {
  for (const char* bytes :
       {R"({"ArgumentVector": ["$file"], "CondaFile":null, "TrackedRun": true, "Target":"vm"})",
        "{\n\t\"ArgumentVector\":[\n    \"$file\"\n  ],\n  \"CondaFile\":null,\n"
        "\t\"TrackedRun\":true,\n  \"Target\":\"vm\"\n}"}) {
    const Document d = MustParse(bytes);
    EXPECT_TRUE(d.flow_root());
    EXPECT_EQ(Get(d, "ArgumentVector").children.at(0).text, "$file");
    EXPECT_EQ(Get(d, "CondaFile").kind, Kind::kNull);
    EXPECT_EQ(Get(d, "TrackedRun").kind, Kind::kBool);
    EXPECT_EQ(Get(d, "Target").text, "vm");
  }
}

TEST(YamlOddities, JsonWithCrlfAndEscapes) {
  const Document d =
      MustParse("{\r\n \"Description\":\"one\\ntwo \\u00e9\",\r\n \"Target\":\"vm\"\r\n}\r\n");
  EXPECT_EQ(Get(d, "Description").text, "one\ntwo é");
  EXPECT_EQ(Get(d, "Target").position, (Position{3, 11}));
}

TEST(YamlOddities, TabBetweenColonAndValue) {
  const Document d = MustParse("spark.app.name:\tX y\nb:\t\ttrue\n");
  EXPECT_EQ(Get(d, "spark.app.name").text, "X y");
  EXPECT_EQ(Get(d, "spark.app.name").position, (Position{1, 17}));
  EXPECT_EQ(Get(d, "b").AsBool(), true);
}

TEST(YamlOddities, TabInsideAndBeforeComments) {
  const Document d = MustParse("a: b\t#\tnote\n\t# indented note\n#\tnote\nc: d\n");
  EXPECT_EQ(Get(d, "a").text, "b");
  EXPECT_EQ(Get(d, "c").text, "d");
}

TEST(YamlOddities, TabsAsIndentationAreRefusedInTheRightLine) {
  const std::string want = ":1: a tab is used as indentation | indent with blanks";
  EXPECT_EQ(Complaint("type: \"localdocker\"\n\tbaseDockerImage : \"x\"\n\t#note\n"), "f:2" + want);
  EXPECT_EQ(Complaint("type: localdocker\n\tbaseDockerImage: x\n"), "f:2" + want);
  EXPECT_EQ(Complaint("# c\nArgumentVector:\n\t- $file\n"), "f:3" + want);
  EXPECT_EQ(Complaint("a:\n\tb: c\n"), "f:2" + want);
  EXPECT_EQ(Complaint("a: x\r\n\r\n\tb: c\r\n"), "f:3" + want);
  EXPECT_EQ(Complaint("a:\n  b: 1\n \tc: 2\n"),
            "f:3:2: a tab is used as indentation | indent with blanks");
}

// These files can crash libfyaml.
TEST(YamlOddities, ATabInAFileWithExplicitKeysIsRefused) {
  for (const char* text : {"? e:\t-", "? e:\t?", "? e:\t- x\n", "? - e: \t-", "- ? e:\t-",
                           "a:\n ? b:\n    - c:\t-\nd: e\n", "? \"e\":\t-", "? [a]:\t-",
                           "a:\n ? - e-t:\t:\n", "a:\tb\n? c\n: d\n"}) {
    EXPECT_NE(Complaint(text).find("a tab in a file with keys"), std::string::npos) << text;
  }
  EXPECT_EQ(Get(MustParse("a:\t1\nb: -1\n"), "b").text, "-1");
  EXPECT_EQ(Get(MustParse("? a\n: 1\n"), "a").text, "1");
}

TEST(YamlOddities, MissingBlankBehindColonIsRefusedInTheRightLine) {
  EXPECT_EQ(
      Complaint("configuration:\n  #\"a\": \"8\"\n  \"spark.wait\":\"3000\"\n  \"b\":\"1\"\n"),
      "f:3:16: a blank is missing behind the colon | "
      "write `\"spark.wait\": ` and then the value");
  EXPECT_EQ(
      Complaint("type: local\npythonLocation:python\n"),
      "f:2:16: a blank is missing behind the colon | write `pythonLocation: ` and then the value");
  EXPECT_EQ(
      Complaint("pythonLocation:python\ntype: local\n"),
      "f:1:16: a blank is missing behind the colon | write `pythonLocation: ` and then the value");
}

TEST(YamlOddities, MissingBlankDoesNotShowAPassword) {
  const std::string complaint = Complaint("type: remote\npassword:hunter2\n");
  EXPECT_EQ(complaint.find("hunter2"), std::string::npos) << complaint;
}

TEST(YamlOddities, MissingCommaInJsonIsRefusedInTheRightLine) {
  EXPECT_EQ(Complaint("{\n  \"Target\":\"docker\"\n  \"PrepareEnvironment\":true\n}"),
            "f:3:3: a comma is missing before this entry | put a comma behind the entry before it");
}

TEST(YamlOddities, MissingCommaBehindABareWordDoesNotGlueTwoEntries) {
  const std::string want =
      ": a comma is missing before this entry | "
      "put a comma behind the entry before it, or quotes around a value of several lines";
  EXPECT_EQ(Complaint("{\n  \"TrackedRun\":true\n  \"Target\":\"docker\"\n}"), "f:3:3" + want);
  EXPECT_EQ(Complaint("ArgumentVector: [\n  train.py\n  --epochs\n]"), "f:3:3" + want);
}

TEST(YamlOddities, RawLineBreakInQuotesFoldsToABlank) {
  const Document d =
      MustParse("{\n  \"Description\":\"one.\\n\nML two\",\n  \"Target\":\"docker\"\n}");
  EXPECT_EQ(Get(d, "Description").text, "one.\n ML two");
  EXPECT_EQ(Get(d, "Target").text, "docker");
  EXPECT_EQ(Get(d, "Target").position.line, 4);
}

TEST(YamlOddities, DocumentMarkerBeforeTheFirstKey) {
  const Document d = MustParse("---\nTarget: local\n");
  EXPECT_EQ(Get(d, "Target").position, (Position{2, 9}));
}

TEST(YamlOddities, KeyWithoutValueIsNull) {
  const Document d =
      MustParse("CondaFile: \naddress:\nusername: ''\npassword: null # none\nx: ~\n");
  EXPECT_EQ(Get(d, "CondaFile").kind, Kind::kNull);
  EXPECT_EQ(Get(d, "address").kind, Kind::kNull);
  EXPECT_EQ(Get(d, "username").kind, Kind::kText);
  EXPECT_EQ(Get(d, "password").kind, Kind::kNull);
  EXPECT_EQ(Get(d, "x").kind, Kind::kNull);
}

TEST(YamlOddities, TrailingBlanksAreNotPartOfValuesOrKeys) {
  const Document d = MustParse("a : b  \t \n\"c\" :  \"PASSWORD\"  \nd:   \n  - e   \n");
  EXPECT_EQ(Get(d, "a").text, "b");
  EXPECT_EQ(Get(d, "c").text, "PASSWORD");
  EXPECT_EQ(Get(d, "d").children.at(0).text, "e");
}

TEST(YamlOddities, QuotesOfAllKindsInOneFile) {
  const Document d = MustParse("a: \"$file\"\n'b': 'micro''soft/x'\n\"c\": $file\n");
  EXPECT_EQ(Get(d, "a").text, "$file");
  EXPECT_EQ(Get(d, "a").style, Style::kDoubleQuoted);
  EXPECT_EQ(Get(d, "b").text, "micro'soft/x");
  EXPECT_TRUE(Get(d, "b").key_quoted);
  EXPECT_EQ(Get(d, "c").text, "$file");
  EXPECT_FALSE(Get(d, "c").quoted());
}

TEST(YamlOddities, CapitalisedBooleans) {
  const Document d =
      MustParse("cluster: True\nnative: FALSE\nc: yes\nd: \"true\"\ne: \"yes\"\nf: 1\n");
  EXPECT_EQ(Get(d, "cluster").kind, Kind::kBool);
  EXPECT_EQ(Get(d, "cluster").text, "True");
  EXPECT_EQ(Get(d, "cluster").AsBool(), true);
  EXPECT_EQ(Get(d, "native").AsBool(), false);
  EXPECT_EQ(Get(d, "c").AsBool(), true);
  EXPECT_EQ(Get(d, "d").AsBool(), true);
  EXPECT_EQ(Get(d, "e").AsBool(), std::nullopt);
  EXPECT_EQ(Get(d, "f").AsBool(), std::nullopt);
}

TEST(YamlOddities, ListItemsAtAnyIndentation) {
  for (const char* bytes : {"A:\n- $file\nT: x\n", "A:\n  - \"$file\"\nT: x\n",
                            "A:\n    - $file\nT: x\n", "A: [ $file ]\nT: x\n"}) {
    const Document d = MustParse(bytes);
    ASSERT_EQ(Get(d, "A").kind, Kind::kList) << bytes;
    EXPECT_EQ(Get(d, "A").children.at(0).text, "$file") << bytes;
    EXPECT_EQ(Get(d, "T").text, "x") << bytes;
  }
}

TEST(YamlOddities, AngleBracketsAreTextAndSquareOnesAList) {
  const Document d = MustParse("address: <IP address>\nusername: [your name]\n");
  EXPECT_EQ(Get(d, "address").text, "<IP address>");
  EXPECT_EQ(Get(d, "username").kind, Kind::kList);
}

TEST(YamlOddities, TildeHashColonAndEqualsInsideValuesAreText) {
  const Document d = MustParse(
      "a: ~/.azureml/share/\nb: AzureMlSecret=vm#user#0123\nc: microsoft/mmlspark:plus-0.9.9\n"
      "d: x # note\n");
  EXPECT_EQ(Get(d, "a").text, "~/.azureml/share/");
  EXPECT_EQ(Get(d, "b").text, "AzureMlSecret=vm#user#0123");
  EXPECT_EQ(Get(d, "c").text, "microsoft/mmlspark:plus-0.9.9");
  EXPECT_EQ(Get(d, "d").text, "x");
}

TEST(YamlOddities, CommentedOutKeysBesideLiveOnes) {
  const Document d = MustParse("#image: old\nimage: new\n#image: older\n");
  EXPECT_EQ(Get(d, "image").text, "new");
  EXPECT_EQ(d.root().children.size(), 1u);
}

TEST(YamlOddities, ByteOrderMarkIsNeitherTextNorColumn) {
  const Document d = MustParse("\xEF\xBB\xBFtype: local\n");
  EXPECT_EQ(Get(d, "type").text, "local");
  EXPECT_EQ(Get(d, "type").key_position, (Position{1, 1}));
  EXPECT_EQ(Slice(d, Get(d, "type").key_range), "type");
  EXPECT_EQ(Complaint("\xEF\xBB\xBF@a: b\n").substr(0, 6), "f:1:1:");
}

// ---- What nobody should have to debug ----------------------------------------------------------

TEST(YamlRefuses, DuplicateKeysNamingBothLines) {
  EXPECT_EQ(Complaint("Target: a\nX: 1\n\"Target\": b\n"),
            "f:3:1: `Target` is already given in line 1 | remove one of the two lines");
  EXPECT_EQ(Complaint("{\"E\": {\"k\": 1,\n \"k\": 2}}"),
            "f:2:2: `k` is already given in line 1 | remove one of the two lines");
  EXPECT_EQ(Complaint("a: {k: 1}\nb: {k: 1}\n"), "(accepted)");
}

TEST(YamlRefuses, AliasesAndTags) {
  EXPECT_EQ(Complaint("a: &x 1\nb: *x\n"),
            "f:2:4: aliases (`*name`) are not understood here | "
            "write the value out, or put it in quotes if the `*` belongs to it");
  EXPECT_EQ(Complaint("a: !!python/object:x 1\n"),
            "f:1:4: tags (`!name`) are not understood here | "
            "remove it, or put the value in quotes if the `!` belongs to it");
}

TEST(YamlRefuses, ABillionLaughsAtTheFirstAlias) {
  std::string bytes = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string p = std::to_string(i - 1), n = std::to_string(i);
    bytes += "a" + n + ": &a" + n + " [*a" + p + ", *a" + p + "]\n";
  }
  EXPECT_EQ(Complaint(bytes).substr(0, 15), "f:2:10: aliases");
}

TEST(YamlRefuses, DepthAndCountBeyondTheLimits) {
  EXPECT_EQ(Complaint(std::string(1'000'000, '[')),
            "f:1:33: more than 32 lists or mappings inside each other | ");
  std::string deep = std::string(32, '[') + std::string(32, ']');
  EXPECT_EQ(Complaint(deep), "(accepted)");
  std::string many = "a:\n";
  for (int i = 0; i < 21'000; ++i) many += "- x\n";
  EXPECT_NE(Complaint(many).find("more than 20000 values in one file"), std::string::npos);
}

TEST(YamlRefuses, FilesThatAreTooLargeOrNotText) {
  EXPECT_EQ(Complaint(std::string(kMaxBytes + 1, ' ')),
            "f: 1.0 MB are too much for a file of settings (at most 1.0 MB) | "
            "if something else lies at this name, move it away");
  EXPECT_EQ(Complaint(std::string("a: b\nc: \0d\n", 11)),
            "f:2:4: not a text file (byte 0x00) | bring back the file as it was, or write it anew");
  EXPECT_EQ(Complaint("\x7F"
                      "ELF"),
            "f:1:1: not a text file (byte 0x7F) | bring back the file as it was, or write it anew");
  EXPECT_EQ(Complaint("a: caf\xE9\n"), "f:1:7: not UTF-8 (byte 0xE9) | save the file as UTF-8");
  EXPECT_EQ(Complaint(std::string("\xFF\xFE"
                                  "a\0:\0",
                                  6)),
            "f:1:1: the file is UTF-16 | save it as UTF-8");
}

TEST(YamlRefuses, ASecondDocument) {
  EXPECT_EQ(Complaint("a: b\n---\nc: d\n"),
            "f:2:1: a second document begins here | keep one document per file: remove this line");
}

TEST(YamlRefuses, KeysThatAreNoText) {
  EXPECT_EQ(Complaint("? [a]\n: b\n"),
            "f:1:3: a key must be text, not a list | write `key: value`");
  EXPECT_EQ(Complaint("{a: {b: c}: d}\n").substr(0, 2), "f:");
}

TEST(YamlRefuses, EachCommonSlipWithItsOwnWords) {
  EXPECT_EQ(Complaint("a: \"x\nb: c\n"),
            "f:1:4: the quote opened here is never closed | close it in the same line");
  EXPECT_EQ(Complaint("a: [x\nb: c\n").substr(0, 6), "f:2:1:");
  EXPECT_EQ(Complaint("a: [x"),
            "f:1:4: the bracket opened here is never closed | "
            "close it, or put the value in quotes if the bracket belongs to it");
  EXPECT_EQ(
      Complaint("a: b: c\n"),
      "f:1:5: a second `: ` in one line | put the value in quotes if the colon belongs to it");
  EXPECT_EQ(Complaint("a: @b\n"),
            "f:1:4: a value cannot begin with this character | put the value in quotes");
  EXPECT_EQ(Complaint("a: \"C:\\qux\"\n"),
            "f:1:7: a back-slash inside double quotes begins an escape that does not exist | "
            "use single quotes, or double the back-slash");
  EXPECT_EQ(Complaint("a: \"x\" y\n"),
            "f:1:8: there is more text behind the closing quote | "
            "put all of the value inside the quotes");
  EXPECT_EQ(
      Complaint("a: b\n  c: d\n"),
      "f:2:3: this line is indented deeper than line 1, so it would be part of the value there | "
      "indent it like line 1");
  EXPECT_EQ(
      Complaint("a: - b\n"),
      "f:1:4: a list cannot begin in the line of its key | put the `- ` into a line of its own");
  EXPECT_EQ(Complaint("a:\n   b: c\n  d: e\n"),
            "f:3:3: this line is indented like no line above it | indent it like its neighbours");
  EXPECT_EQ(Complaint("a: b\nword\n"),
            "f:2:1: expected `key: value` | write a key and a colon before the value");
  EXPECT_EQ(Complaint("{\"a\": 1,, \"b\": 2}"),
            "f:1:9: a value is missing before this | write it, or `\"\"` for an empty one");
  EXPECT_EQ(Complaint("a: b\n}\n"), "f:2:1: a closing bracket without an opening one | remove it");
}

TEST(YamlRefuses, NothingIsPrintedByTheParserItself) {
  char path[] = "/tmp/tenon-yaml-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  unlink(path);
  const int out = dup(1), err = dup(2);
  fflush(nullptr);
  dup2(file, 1);
  dup2(file, 2);
  for (const char* bytes : {"a: [x", "a: \"x", "\t- x", "a: *b", "a: b\n---\nc: d", "%FOO\n---\na",
                            "a: b: c", "{\"a\" \"b\"}", "a: \"\\q\""}) {
    (void)Document::Parse("f", bytes);
  }
  fflush(nullptr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  struct stat info;
  ASSERT_EQ(fstat(file, &info), 0);
  EXPECT_EQ(info.st_size, 0);
  close(file);
}

// ---- Positions and bytes, on which messages and edits rest -------------------------------------

TEST(YamlPositions, ColumnsCountCharactersAndLinesCountCrlfOnce) {
  const Document d = MustParse("é: ü  # x\r\nb: c\r\n");
  EXPECT_EQ(Get(d, "é").position, (Position{1, 4}));
  EXPECT_EQ(Get(d, "b").key_position, (Position{2, 1}));
  EXPECT_EQ(Get(d, "b").position, (Position{2, 4}));
}

TEST(YamlPositions, RangesAreTheBytesAsWritten) {
  const Document d = MustParse(
      "a: \"x \\\" y\"  # c\r\n\"b\" :  'q'\nc:\n- 1\n- $file # n\nd: {x: 1, y: [a, b]}\n"
      "e: |  # keep | this\n  hi\n  you\nf: plain words # c\ng: [ ]\n");
  EXPECT_EQ(Slice(d, Get(d, "a").range), "\"x \\\" y\"");
  EXPECT_EQ(Slice(d, Get(d, "b").key_range), "\"b\"");
  EXPECT_EQ(Slice(d, Get(d, "b").range), "'q'");
  EXPECT_EQ(Slice(d, Get(d, "c").range), "- 1\n- $file");
  EXPECT_EQ(Slice(d, Get(d, "c").children[1].range), "$file");
  EXPECT_EQ(Slice(d, Get(d, "d").range), "{x: 1, y: [a, b]}");
  EXPECT_EQ(Slice(d, Get(d, "d").children[1].range), "[a, b]");
  EXPECT_EQ(Slice(d, Get(d, "e").range), "|  # keep | this\n  hi\n  you\n");
  EXPECT_EQ(Get(d, "e").text, "hi\nyou\n");
  EXPECT_EQ(Slice(d, Get(d, "f").range), "plain words");
  EXPECT_EQ(Slice(d, Get(d, "g").range), "[ ]");
}

TEST(YamlPositions, AbsentValuesPointBehindTheirColonOrDash) {
  const Document d = MustParse("a:\nb:   # note\nc:\n  - x # - no\n  -\n  - y\nd : \n");
  EXPECT_EQ(Get(d, "a").range, (Range{2, 2}));
  EXPECT_EQ(Get(d, "b").position, (Position{2, 3}));
  EXPECT_EQ(Get(d, "c").children.at(1).position, (Position{5, 4}));
  EXPECT_EQ(Get(d, "c").children.at(2).text, "y");
  EXPECT_EQ(Get(d, "d").position, (Position{7, 4}));
}

TEST(YamlPositions, ReplacingOneRangeChangesThatValueAlone) {
  const std::string bytes =
      "\xEF\xBB\xBF# t\r\ntype:\tlocal  # keep\r\n\"x\": {a: 'b',c: d}\r\nend:";
  const Document d = MustParse(bytes);
  const Node& b = Get(d, "x").children.at(0);
  std::string edited = bytes;
  edited.replace(b.range.begin, b.range.size(), "\"new\"");
  EXPECT_EQ(edited, "\xEF\xBB\xBF# t\r\ntype:\tlocal  # keep\r\n\"x\": {a: \"new\",c: d}\r\nend:");
  const Document again = MustParse(edited);
  EXPECT_EQ(Get(again, "x").children.at(0).text, "new");
  EXPECT_EQ(Get(again, "x").children.at(1).text, "d");
  EXPECT_EQ(Get(again, "type").text, "local");
}

TEST(YamlPositions, EmptyFileIsNullAndNotAnError) {
  for (const char* bytes : {"", "\n", "# only a comment\n", "---\n"}) {
    const Document d = MustParse(bytes);
    EXPECT_EQ(d.root().kind, Kind::kNull) << bytes;
  }
}

// ---- Files -------------------------------------------------------------------------------------

class YamlLoad : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/tenon-yaml-XXXXXX";
    ASSERT_NE(mkdtemp(path), nullptr);
    folder_ = path;
  }
  void TearDown() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }
  std::string folder_;
};

TEST_F(YamlLoad, MissingFileIsNotFound) {
  const Result<Document> document = Document::Load(folder_ + "/x", "aml_config/x");
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(document.error().message, "aml_config/x: No such file or directory");
}

TEST_F(YamlLoad, PipesAndFoldersDoNotHangOrCrash) {
  ASSERT_EQ(mkfifo((folder_ + "/p").c_str(), 0600), 0);
  for (const std::string& path : {folder_ + "/p", folder_}) {
    const Result<Document> document = Document::Load(path, "n");
    ASSERT_FALSE(document.ok());
    EXPECT_EQ(document.error().message, "n: not a file");
  }
}

TEST_F(YamlLoad, HugeFileIsRefusedUnread) {
  ASSERT_EQ(close(open((folder_ + "/h").c_str(), O_CREAT | O_WRONLY, 0600)), 0);
  ASSERT_EQ(truncate((folder_ + "/h").c_str(), 5'000'000'000), 0);
  const Result<Document> document = Document::Load(folder_ + "/h", "n");
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().message,
            "n: 5.0 GB are too much for a file of settings (at most 1.0 MB)");
}

}  // namespace
}  // namespace tenon::yaml
