// SPDX-License-Identifier: Apache-2.0
// A thin wrapper of SQLite for the history. Only database.cc includes sqlite3.h.
#ifndef TENON_HISTORY_DATABASE_H_
#define TENON_HISTORY_DATABASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tenon::history {

class Database;

// What a user can do about a damaged or unusable index.
inline constexpr const char* kRebuildHint =
    "`tenon history rebuild` makes it anew from the run folders";

// One use of a prepared statement. The destructor gives the statement back to the cache of its
// database. A statement has at most one Query at a time. Bound bytes are not copied: the caller
// keeps them until the Query is destroyed.
class Query {
 public:
  Query(Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  Query(Query&& other) noexcept;
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  // Each binds the next parameter.
  Query& Bind(int64_t value);
  Query& Bind(std::string_view text);
  Query& BindBlob(std::string_view bytes);

  Result<bool> Step();  // true: a row is ready
  Status Run();         // for statements without rows

  // Columns of the current row. Views are valid until the next Step().
  int64_t Int(int column) const;
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;

 private:
  Database* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

// One connection. For one thread. A call waits up to ten seconds for other writers.
class Database {
 public:
  // Opens the file, or makes it if it is missing, in WAL mode where the file system supports that.
  // If the file or its folder cannot be written, the database is opened for reading only. kCorrupt
  // when the file is not a database; kNotFound when its folder is missing; kDenied when the file is
  // missing and the folder cannot be written.
  static Result<std::unique_ptr<Database>> Open(const std::string& path);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const std::string& path() const { return path_; }
  bool read_only() const { return read_only_; }

  // Each SQL text is prepared once and then taken from a cache.
  Result<Query> Prepare(std::string_view sql);
  // Runs statements without parameters and rows, separated by semicolons.
  Status Execute(const char* sql);
  // The first column of the first row; there must be one.
  Result<int64_t> ReadInt(const char* sql);

  // Says that this connection is about to write much. Checkpoints become rarer; the destructor
  // makes one instead, so that the next program to open the file has no long log to read.
  void ExpectManyWrites();

  // The Error of the last SQLite call that failed; `doing` says what was tried.
  Error LastError(std::string_view doing) const;

 private:
  Database(sqlite3* handle, std::string path, bool read_only)
      : handle_(handle), path_(std::move(path)), read_only_(read_only) {}
  static Result<std::unique_ptr<Database>> OpenHandle(const std::string& path, bool immutable);
  Status Configure();
  Status EnterWal();

  sqlite3* handle_;
  std::string path_;
  bool read_only_;
  bool many_writes_ = false;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// BEGIN IMMEDIATE … COMMIT. The destructor rolls back unless Commit() succeeded.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace tenon::history

#endif  // TENON_HISTORY_DATABASE_H_
