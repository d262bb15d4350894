// SPDX-License-Identifier: Apache-2.0
// The tables of the index and how older ones become newer ones. The version is SQLite's
// `user_version`. Version 1 is the first release.
#ifndef TENON_HISTORY_SCHEMA_H_
#define TENON_HISTORY_SCHEMA_H_

#include <cstdint>
#include <span>

#include "base/result.h"
#include "history/database.h"

namespace tenon::history {

// Takes a database from one version to the next; runs inside a transaction.
using Migration = Status (*)(Database& database);

// migrations[i] makes version i+1 out of version i; the first makes the tables of an empty file.
std::span<const Migration> Migrations();

// Brings the file to the newest version; many programs may try at once, one does it. All or
// nothing. kInvalid: written by a newer release. A file with tables and version 0 is older than
// every release: it is emptied, and fills again from the run folders. A database open for reading
// only is checked, not changed: older is kDenied.
Status Migrate(Database& database, std::span<const Migration> migrations);

}  // namespace tenon::history

#endif  // TENON_HISTORY_SCHEMA_H_
