// SPDX-License-Identifier: Apache-2.0
#include "yaml/edit.h"

#include <gtest/gtest.h>

#include <string>

namespace tenon::yaml {
namespace {

Document Parsed(const std::string& bytes) {
  Result<Document> document = Document::Parse("f", bytes);
  if (!document.ok()) {
    ADD_FAILURE() << bytes << "\n" << document.error().message;
    return std::move(Document::Parse("f", "")).value();
  }
  return std::move(document).value();
}

std::string Text(Result<std::string> result) {
  return result.ok() ? std::move(result).value() : "error: " + result.error().message;
}
std::string SetText(const std::string& bytes, const Path& path, const std::string& text) {
  return Text(Set(Parsed(bytes), path, NewValue::Text(text)));
}
std::string SetBool(const std::string& bytes, const Path& path, bool value) {
  return Text(Set(Parsed(bytes), path, NewValue::Bool(value)));
}
std::string Removed(const std::string& bytes, const Path& path) {
  return Text(Remove(Parsed(bytes), path));
}
std::string Appended(const std::string& bytes, const Path& path, const std::string& text) {
  return Text(Append(Parsed(bytes), path, NewValue::Text(text)));
}

// ---- One value ---------------------------------------------------------------------------------

TEST(YamlSet, CommentsBlanksAndCarriageReturnsAroundTheValueStay) {
  EXPECT_EQ(SetText("a: 1\r\ntype: local   # mine\r\nb:  2  \r\n", {"type"}, "docker"),
            "a: 1\r\ntype: docker   # mine\r\nb:  2  \r\n");
  EXPECT_EQ(SetText("\xEF\xBB\xBFtype:\tlocal\t\nb: 2", {"type"}, "x"),
            "\xEF\xBB\xBFtype:\tx\t\nb: 2");
  EXPECT_EQ(SetText("a: 1\nb: 2", {"b"}, "3"), "a: 1\nb: 3");
  EXPECT_EQ(SetText("  a  :   1\n  b: 2\n", {"a"}, "3"), "  a  :   3\n  b: 2\n");
}

TEST(YamlSet, QuotesStayQuotes) {
  EXPECT_EQ(SetText("t: \"x\"  \n", {"t"}, "a\"b"), "t: \"a\\\"b\"  \n");
  EXPECT_EQ(SetText("t: 'x'\n", {"t"}, "it's"), "t: 'it''s'\n");
  EXPECT_EQ(SetText("t: 'x'\n", {"t"}, "a\nb"), "t: \"a\\nb\"\n");
  EXPECT_EQ(SetText("\"t\": x\n", {"t"}, "y"), "\"t\": y\n");
}

TEST(YamlSet, ValuesThatWouldReadAsSomethingElseAreQuoted) {
  for (const char* text :
       {"yes", "No", "null", "~",   "true", "1e3:", "[x",   "{x",  "a: b", "a #b",
        " a",  "a ", "",     "- a", "? a",  "*a",   "&a",   "!a",  "@a",   "`a",
        "%a",  "|",  ">",    "#a",  "'a",   "\"a",  "a\tb", "---", "on",   "\xC2\x85"}) {
    const std::string bytes = SetText("t: x\nu: y\n", {"t"}, text);
    const Document again = Parsed(bytes);
    ASSERT_NE(again.root().Find("t"), nullptr) << bytes;
    EXPECT_EQ(again.root().Find("t")->kind, Kind::kText) << bytes;
    EXPECT_EQ(again.root().Find("t")->text, text) << bytes;
    EXPECT_TRUE(again.root().Find("t")->quoted()) << bytes;
  }
  for (const char* text :
       {"~/share/", "a#b", "microsoft/x:plus-0.9", "-a", "a:b", "<x>", "$file", "3.5", "C:\\x",
        "Gr\xC3\xB6\xC3\x9F"
        "e",
        "a, b", "x]"}) {
    EXPECT_EQ(SetText("t: x\nu: y\n", {"t"}, text), "t: " + std::string(text) + "\nu: y\n");
  }
  EXPECT_EQ(SetText("[x, y]\n", {"0"}, "a, b"), "[\"a, b\", y]\n");
}

TEST(YamlSet, BooleansKeepTheirCaseAndQuotes) {
  EXPECT_EQ(SetBool("a: False\n", {"a"}, true), "a: True\n");
  EXPECT_EQ(SetBool("a: FALSE\n", {"a"}, true), "a: TRUE\n");
  EXPECT_EQ(SetBool("a: false\n", {"a"}, true), "a: true\n");
  EXPECT_EQ(SetBool("a: \"false\"\n", {"a"}, true), "a: \"true\"\n");
  EXPECT_EQ(SetBool("a: 'False'\n", {"a"}, true), "a: 'True'\n");
  EXPECT_EQ(SetBool("a: yes\n", {"a"}, false), "a: false\n");
  EXPECT_EQ(SetBool("a: yes\n", {"a"}, true), "a: yes\n");
  EXPECT_EQ(SetBool("a: \"x\"\n", {"a"}, true), "a: true\n");
}

TEST(YamlSet, KeyWithoutValueGetsOne) {
  EXPECT_EQ(SetText("a:\nb: 2\n", {"a"}, "x"), "a: x\nb: 2\n");
  EXPECT_EQ(SetText("a:   # why\nb: 2\n", {"a"}, "x"), "a: x   # why\nb: 2\n");
  EXPECT_EQ(SetText("a: ~\n", {"a"}, "x"), "a: x\n");
  EXPECT_EQ(SetText("b: 2\na:", {"a"}, "x"), "b: 2\na: x");
  EXPECT_EQ(Text(Set(Parsed("a: x\n"), {"a"}, NewValue::Null())), "a: null\n");
}

TEST(YamlSet, JsonStaysJson) {
  EXPECT_EQ(SetText("{\"a\":\"x\",\"b\":null,\"n\":2}", {"b"}, "y"),
            "{\"a\":\"x\",\"b\":\"y\",\"n\":2}");
  EXPECT_EQ(SetText("{\"a\":\"x\",\"n\":2}", {"n"}, "3"), "{\"a\":\"x\",\"n\":3}");
  EXPECT_EQ(SetText("{\"a\":\"x\",\"n\":2}", {"n"}, "three"), "{\"a\":\"x\",\"n\":\"three\"}");
  EXPECT_EQ(SetBool("{\r\n  \"a\": false,\r\n  \"b\": [\"$file\"]\r\n}", {"a"}, true),
            "{\r\n  \"a\": true,\r\n  \"b\": [\"$file\"]\r\n}");
  EXPECT_EQ(SetText("{\"b\": [\"$file\"]}", {"b", "0"}, "x.py"), "{\"b\": [\"x.py\"]}");
}

TEST(YamlSet, ListsAndMapsAreNotReplacedByOneValue) {
  EXPECT_EQ(SetText("a:\n- x\n", {"a"}, "y"),
            "error: f:2:1: this is a list, which one value cannot replace");
  EXPECT_EQ(SetText("a: {b: c}\n", {"a"}, "y"),
            "error: f:1:4: this is a mapping, which one value cannot replace");
  EXPECT_EQ(SetText("a: x\n", {"a", "b"}, "y"), "error: f:1:4: `b` cannot be added to text");
  EXPECT_EQ(SetText("a: [x]\n", {"a", "7"}, "y"), "error: f:1:4: there is no item 7 in this list");
}

TEST(YamlSet, BlockTextBecomesOneLineAndComesBack) {
  for (const std::string bytes : {"a: |\n  x\n  y\nb: 1\n", "a: >-\n  x\n\n\nb: 1\n", "a: |\n  x",
                                  "a: |+\n  x\n\n\n", "a: |  # why\n  x  \n  \nb: 1\n"}) {
    const Document document = Parsed(bytes);
    const Node& old = *document.root().Find("a");
    const std::string changed = SetText(bytes, {"a"}, "z");
    const Document after = Parsed(changed);
    ASSERT_NE(after.root().Find("a"), nullptr) << changed;
    EXPECT_EQ(after.root().Find("a")->text, "z") << changed;
    EXPECT_EQ(Text(SetSource(after, {"a"}, bytes.substr(old.range.begin, old.range.size()))),
              bytes);
  }
}

// ---- One more member ---------------------------------------------------------------------------

TEST(YamlAdd, OneLineBehindTheLastMember) {
  EXPECT_EQ(SetBool("a: 1\nb: 2\n", {"c"}, true), "a: 1\nb: 2\nc: true\n");
  EXPECT_EQ(SetBool("a: 1\r\nb: 2", {"c"}, true), "a: 1\r\nb: 2\r\nc: true");
  EXPECT_EQ(SetBool("a: 1\nb: 2  # two\n# end\n", {"c"}, true),
            "a: 1\nb: 2  # two\nc: true\n# end\n");
  EXPECT_EQ(SetText("a: \"1\"\nl:\n  - x\n", {"c"}, "3"), "a: \"1\"\nl:\n  - x\nc: \"3\"\n");
  EXPECT_EQ(SetText("    a: 1\n    b: 2\n", {"c"}, "3"), "    a: 1\n    b: 2\n    c: 3\n");
  EXPECT_EQ(SetText("\"a\": 1\n", {"c"}, "3"), "\"a\": 1\n\"c\": 3\n");
  EXPECT_EQ(SetText("'a': 1\n", {"c"}, "3"), "'a': 1\n'c': 3\n");
  EXPECT_EQ(SetText("\xEF\xBB\xBF"
                    "a: 1",
                    {"c"}, "3"),
            "\xEF\xBB\xBF"
            "a: 1\nc: 3");
  EXPECT_EQ(SetText("---\na: 1\n...\n", {"c"}, "3"), "---\na: 1\nc: 3\n...\n");
}

TEST(YamlAdd, NestedMapsTakeTheFilesIndentation) {
  EXPECT_EQ(SetText("e:\n    A: x\nz: 1\n", {"e", "B"}, "y"), "e:\n    A: x\n    B: y\nz: 1\n");
  EXPECT_EQ(SetText("e:\n  A: x\nz:\n", {"z", "B"}, "y"), "e:\n  A: x\nz:\n  B: y\n");
  EXPECT_EQ(SetText("f:\n    - x\ne: null  # none\nz: 1\n", {"e", "B"}, "y"),
            "f:\n    - x\ne:  # none\n    B: y\nz: 1\n");
  EXPECT_EQ(SetText("a: 1\n", {"e", "B"}, "y"), "a: 1\ne:\n  B: y\n");
  EXPECT_EQ(SetText("p:\n- g: x\n  v: '1'\n- g: y\n", {"p", "1", "v"}, "2"),
            "p:\n- g: x\n  v: '1'\n- g: y\n  v: 2\n");
  EXPECT_EQ(SetText("e: {A: x}\n", {"e", "B"}, "y"), "e: {A: x, B: y}\n");
  EXPECT_EQ(SetText("e: {}\n", {"e", "B"}, "y"), "e: {B: y}\n");
}

TEST(YamlAdd, MembersOfJsonLookLikeTheirNeighbours) {
  EXPECT_EQ(SetBool("{\"a\":\"x\",\"b\":1}", {"c"}, true), "{\"a\":\"x\",\"b\":1,\"c\":true}");
  EXPECT_EQ(SetText("{\"a\": \"x\"}", {"c"}, "y"), "{\"a\": \"x\", \"c\": \"y\"}");
  EXPECT_EQ(SetText("{\r\n    \"a\": 1,\r\n    \"b\": 2\r\n}\r\n", {"c"}, "y"),
            "{\r\n    \"a\": 1,\r\n    \"b\": 2,\r\n    \"c\": \"y\"\r\n}\r\n");
  EXPECT_EQ(SetText("{\"e\": null, \"f\": 1}", {"e", "A"}, "y"),
            "{\"e\": {\"A\": \"y\"}, \"f\": 1}");
  EXPECT_EQ(SetText("{}", {"e", "A"}, "y"), "{\"e\": {\"A\": \"y\"}}");
  EXPECT_EQ(SetText("{\"a\": 1,\n}", {"c"}, "y"), "{\"a\": 1, \"c\": \"y\",\n}");
}

TEST(YamlAdd, EmptyFilesGetTheirFirstLine) {
  EXPECT_EQ(SetText("", {"a"}, "x"), "a: x\n");
  EXPECT_EQ(SetText("# only\r\n", {"a"}, "x"), "# only\r\na: x\r\n");
  EXPECT_EQ(SetText("# only", {"a"}, "x"), "# only\na: x");
  EXPECT_EQ(SetText("---\n", {"a"}, "x"), "---\na: x\n");
}

TEST(YamlAdd, RemoveGivesTheOldBytes) {
  for (const std::string bytes :
       {"a: 1\nb: 2\n", "a: 1\r\nb: 2", "a: 1\n# end", "l:\n- x\n", "l:\n  - x", "{}", "{ }",
        "{\"a\":1}", "{\n\t\"a\": [1,2],\n\t\"b\": {}\n}", "a: |\n  t\n\n", "a: |\n  t", "", "# c",
        "\xEF\xBB\xBF"
        "a: 1",
        "\xEF\xBB\xBF"
        "a: 1\n",
        "a: \"x\"   \n\n\n# d\n", "a:\n", "{\"a\": 1,\n}"}) {
    const std::string added = SetText(bytes, {"zz"}, "v");
    ASSERT_NE(added, bytes);
    EXPECT_EQ(Removed(added, {"zz"}), bytes) << added;
  }
}

// ---- One less ----------------------------------------------------------------------------------

TEST(YamlRemove, LineAndItsCommentGoTogether) {
  EXPECT_EQ(Removed("# keep\na: 1\nb: 2 # two\n# keep\nc: 3\n", {"b"}),
            "# keep\na: 1\n# keep\nc: 3\n");
  EXPECT_EQ(Removed("a: 1\nb: 2", {"b"}), "a: 1");
  EXPECT_EQ(Removed("a: 1\nb: 2", {"a"}), "b: 2");
  EXPECT_EQ(Removed("a: 1\n", {"a"}), "");
  EXPECT_EQ(Removed("a:\n  b: 1\nc: 2\n", {"a"}), "c: 2\n");
  EXPECT_EQ(Removed("a:\n  b: 1\nc: 2\n", {"a", "b"}), "a:\nc: 2\n");
  EXPECT_EQ(Removed("a: |\n  x\n  y\nb: 1\n", {"a"}), "b: 1\n");
}

TEST(YamlRemove, ListItems) {
  EXPECT_EQ(Removed("l:\n- a # x\n- b\n- c\n", {"l", "0"}), "l:\n- b\n- c\n");
  EXPECT_EQ(Removed("l:\n- a\n# note\n- b\n- c\n", {"l", "1"}), "l:\n- a\n# note\n- c\n");
  EXPECT_EQ(Removed("l:\n  - a\n  - b: 1\n    c: 2\n  - d\n", {"l", "1"}), "l:\n  - a\n  - d\n");
  EXPECT_EQ(Removed("l:\n- a\n", {"l", "0"}), "l:\n");
  EXPECT_EQ(Removed("l:\n- b: 1\n  c: 2\n", {"l", "0", "b"}), "l:\n- c: 2\n");
  EXPECT_EQ(Removed("l:\n- b: 1\n", {"l", "0", "b"}),
            "error: f:2:6: this place cannot be changed without touching others");
  EXPECT_EQ(Removed("l: [a, b, c]\n", {"l", "0"}), "l: [b, c]\n");
  EXPECT_EQ(Removed("l: [a, b, c]\n", {"l", "1"}), "l: [a, c]\n");
  EXPECT_EQ(Removed("l: [a, b, c]\n", {"l", "2"}), "l: [a, b]\n");
  EXPECT_EQ(Removed("l: [ a, ]\n", {"l", "0"}), "l: [  ]\n");
}

TEST(YamlRemove, WhatIsNotThereIsNotFound) {
  const Result<std::string> result = Remove(Parsed("a: 1\n"), {"b"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
}

TEST(YamlAppend, ItemsLookLikeTheirNeighbours) {
  EXPECT_EQ(Appended("l:\n- a\nb: 1\n", {"l"}, "x"), "l:\n- a\n- x\nb: 1\n");
  EXPECT_EQ(Appended("l:\n  -   'a' # c", {"l"}, "x"), "l:\n  -   'a' # c\n  -   'x'");
  EXPECT_EQ(Appended("l: [a]\n", {"l"}, "x"), "l: [a, x]\n");
  EXPECT_EQ(Appended("l: []\n", {"l"}, "x"), "l: [x]\n");
  EXPECT_EQ(Appended("l:\nb: 1\n", {"l"}, "x"), "l:\n- x\nb: 1\n");
  EXPECT_EQ(Appended("d:\n  - p=1\n  - pip:\n    - q\n", {"d", "1", "pip"}, "x"),
            "d:\n  - p=1\n  - pip:\n    - q\n    - x\n");
  EXPECT_EQ(Appended("d:\n  - pip:\n    - q\n", {"d"}, "x"), "d:\n  - pip:\n    - q\n  - x\n");
  EXPECT_EQ(Appended("{\"l\":[\"a\"]}", {"l"}, "x"), "{\"l\":[\"a\", \"x\"]}");
}

TEST(YamlSetSource, WritesTheBytesAsGivenOrNothing) {
  const Document document = Parsed("a: 'x'  # c\nb: 1\n");
  EXPECT_EQ(Text(SetSource(document, {"a"}, "\"y\"")), "a: \"y\"  # c\nb: 1\n");
  EXPECT_EQ(Text(SetSource(document, {"a"}, "[p, q]")), "a: [p, q]  # c\nb: 1\n");
  EXPECT_EQ(Text(SetSource(document, {"a"}, "")), "a:  # c\nb: 1\n");
  EXPECT_EQ(Text(SetSource(document, {"c"}, "{p: q}")), "a: 'x'  # c\nb: 1\nc: {p: q}\n");
  for (const char* bad : {"x # y", "- a", "a: b", "\"", "x\ny: z", " x", "*a"}) {
    EXPECT_FALSE(SetSource(document, {"a"}, bad).ok()) << bad;
  }
  EXPECT_EQ(Text(SetSource(Parsed("l: [a]\n"), {"l"}, "[a, b]")), "l: [a, b]\n");
  EXPECT_FALSE(SetSource(Parsed("l: [a]\n"), {"l", "0"}, "a, b").ok());
}

}  // namespace
}  // namespace tenon::yaml
