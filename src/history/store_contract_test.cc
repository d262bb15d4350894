// SPDX-License-Identifier: Apache-2.0
#include "history/store_contract.h"

#include "history/failing_store.h"

namespace tenon::history {

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    testing::Values(StoreMaker{"Sqlite",
                               [](const std::string& folder) {
                                 return Must(OpenSqliteStore(JoinPath(folder, "history.db")));
                               }},
                    StoreMaker{"Memory", [](const std::string&) { return MakeMemoryStore(); }}),
    [](const auto& made) { return made.param.name; });

TEST(FailingStore, FailsEveryCallWithTheErrorItWasGiven) {
  FailingStore store(Denied("no"));
  EXPECT_EQ(store.List({}).error().kind, ErrorKind::kDenied);
  EXPECT_EQ(store.Delete("x").error().message, "no");
  EXPECT_EQ(IngestRunFolder(store, "x", testing::TempDir()).error().kind, ErrorKind::kDenied);
  // List, Delete, PlaceOf and SetUnreadable: IngestRunFolder() also tries to note the reason.
  EXPECT_EQ(store.calls(), 4);
}

}  // namespace tenon::history
