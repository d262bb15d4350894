// SPDX-License-Identifier: Apache-2.0
#include "cli/print/queried.h"

#include <gtest/gtest.h>

namespace tenon::cli {
namespace {

json::Value Json(std::string_view text) { return *json::Parse(text); }

std::string Shown(std::string_view text) { return QueriedTable(Json(text)).ToText(0, false); }

TEST(QueriedTableTest, ObjectsDoNotBecomeColumns) {
  EXPECT_EQ(Shown(R"([{"id":"a","acc":0.123456789,"list":[1]},{"id":"b","n":3},{"acc":12}])"),
            "Id  Acc        N\n"
            "--  ---------  -\n"
            "a    0.123457\n"
            "b              3\n"
            "    12\n");
}

TEST(QueriedTableTest, ListsAndScalarsHaveNoPlace) {
  EXPECT_EQ(Shown(R"([["a",1],["b",2.5]])"),
            "Column1  Column2\n-------  -------\na        1\nb        2.5\n");
  EXPECT_EQ(Shown(R"(["x","y"])"), "Result\n------\nx\ny\n");
  EXPECT_EQ(Shown("0.5"), "Result\n------\n0.5\n");
  EXPECT_EQ(Shown(R"({"a":true,"b":null})"), "A     B\n----  -\ntrue\n");
}

TEST(QueriedTableTest, NothingIsATableWithoutRows) {
  EXPECT_TRUE(QueriedTable(Json("[]")).empty());
  EXPECT_TRUE(QueriedTable(Json("null")).empty());
}

TEST(QueriedTsvTest, CellsRunTogether) {
  EXPECT_EQ(QueriedTsv(Json(R"([{"a":"x\ty","b":1.25,"c":[1,2],"d":{},"e":null,"f":true}])")),
            "x y\t1.25\t2\t\t\ttrue\n");
  EXPECT_EQ(QueriedTsv(Json(R"(["a","b"])")), "a\nb\n");
  EXPECT_EQ(QueriedTsv(Json(R"([["a",1],["b",2]])")), "a\t1\nb\t2\n");
  EXPECT_EQ(QueriedTsv(Json("7")), "7\n");
  EXPECT_EQ(QueriedTsv(Json("null")), "");
}

}  // namespace
}  // namespace tenon::cli
