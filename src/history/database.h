// SPDX-License-Identifier: Apache-2.0
// SQLite, as far as history needs it. The only files that include sqlite3.h are this one's .cc.
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

// One use of a prepared statement. Given back to its database's cache when it goes; at most one of
// a statement is in use at a time. Bound bytes are not copied: they outlive the Query.
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

  Result<bool> Step();  // true: there is a row
  Status Run();         // for statements without rows

  // Columns of the present row; views are valid until the next Step().
  int64_t Int(int column) const;
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;

 private:
  Database* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

// One connection. Used from one thread. Waits up to ten seconds for other writers.
class Database {
 public:
  // Opens or makes the file, in WAL mode where the file system can. A file or folder that cannot be
  // written is opened for reading. kCorrupt when this is no database.
  static Result<std::unique_ptr<Database>> Open(const std::string& path);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const std::string& path() const { return path_; }
  bool read_only() const { return read_only_; }

  // Prepares once per text.
  Result<Query> Prepare(std::string_view sql);
  // Statements without parameters and rows, separated by semicolons.
  Status Execute(const char* sql);
  Result<int64_t> ReadInt(const char* sql);

  // The connection is about to write much: checkpoints become rarer, and the destructor makes one,
  // so that the next to open the file has no long log to read.
  void ExpectManyWrites();

  // The failure of the last call, in words.
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

// BEGIN IMMEDIATE … COMMIT; rolled back when it goes without Commit().
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
