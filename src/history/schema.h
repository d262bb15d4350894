// SPDX-License-Identifier: Apache-2.0
// The tables of the index, and how older ones are migrated. The version is SQLite's `user_version`.
// Version 1 is the first release.
#ifndef TENON_HISTORY_SCHEMA_H_
#define TENON_HISTORY_SCHEMA_H_

#include <cstdint>
#include <span>

#include "base/result.h"
#include "history/database.h"

namespace tenon::history {

// Migrates a database from one version to the next; runs inside a transaction.
using Migration = Status (*)(Database& database);

// migrations[i] turns version i into version i+1. The first one creates the tables in an empty
// file.
std::span<const Migration> Migrations();

// Migrates the file to the newest version, completely or not at all. Many programs may try at once;
// one of them migrates, the others wait. kInvalid when a newer release wrote the file. A file with
// tables and version 0 is older than every release: it is emptied, and the index fills again from
// the run folders. A database opened for reading only is checked and not changed: kDenied when it
// is older.
Status Migrate(Database& database, std::span<const Migration> migrations);

}  // namespace tenon::history

#endif  // TENON_HISTORY_SCHEMA_H_
