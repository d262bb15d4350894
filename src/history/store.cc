// SPDX-License-Identifier: Apache-2.0
#include "history/store.h"

namespace tenon::history {

Result<std::vector<RunRow>> HistoryStore::List(const RunQuery& query) {
  std::vector<RunRow> rows;
  TENON_TRY_VOID(Visit(query, [&](const RunRow& row) {
    rows.push_back(row);
    return Status();
  }));
  return rows;
}

}  // namespace tenon::history
