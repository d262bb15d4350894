// SPDX-License-Identifier: Apache-2.0
#include "history/database.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/file.h"
#include "base/private_file.h"
#include "base/waiting.h"

namespace tenon::history {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

// synchronous=NORMAL: a commit does not wait for the disk, only a checkpoint does; a power cut
// costs at most the last commits. OFF would save the two syncs of a checkpoint, but could leave an
// index that is wrong without anyone noticing. The log is kept short because the first program to
// open the file reads all of it.
constexpr const char* kPragmas =
    "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=256; PRAGMA journal_size_limit=4194304;"
    "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;";

ErrorKind KindOf(int code, int system_errno) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return ErrorKind::kUnavailable;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorKind::kDenied;
    case SQLITE_CANTOPEN:
      return FromErrno("", system_errno == 0 ? EACCES : system_errno).kind;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    // The schema is not what user_version says: the file is another program's, or damaged.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return ErrorKind::kCorrupt;
    default:
      return ErrorKind::kInternal;
  }
}

Error MakeError(sqlite3* handle, const std::string& path, std::string_view doing) {
  const int code = sqlite3_extended_errcode(handle);
  Error error{KindOf(code, sqlite3_system_errno(handle)),
              std::string(doing) + " " + path + ": " + sqlite3_errmsg(handle),
              {}};
  if (error.kind == ErrorKind::kCorrupt) error.hint = kRebuildHint;
  if ((code & 0xff) == SQLITE_BUSY) {
    error.hint = "another tenon is writing; try again";
    for (const char* file : {"-shm", ""}) {
      const auto holder = FindLockHolder(path + file);
      if (!holder || !holder->stopped) continue;
      error = LockedByStopped(path, *holder).Wrap(std::string(doing));
      break;
    }
  }
  return error;
}

// "file:…?immutable=1", with unusual characters in the path escaped.
std::string ImmutableUri(const std::string& path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const unsigned char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '-' || c == '_' || c == '.';
    if (plain) {
      uri += static_cast<char>(c);
    } else {
      uri += '%';
      uri += kHex[c >> 4];
      uri += kHex[c & 15];
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Query::Query(Query&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_) {}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::Bind(int64_t value) {
  TENON_CHECK(sqlite3_bind_int64(statement_, ++bound_, value) == SQLITE_OK);
  return *this;
}

Query& Query::Bind(std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  TENON_CHECK(sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC,
                                  SQLITE_UTF8) == SQLITE_OK);
  return *this;
}

Query& Query::BindBlob(std::string_view bytes) {
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  TENON_CHECK(sqlite3_bind_blob64(statement_, ++bound_, data, bytes.size(), SQLITE_STATIC) ==
              SQLITE_OK);
  return *this;
}

Result<bool> Query::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->LastError("using the history index");
}

Status Query::Run() {
  TENON_TRY(const bool row, Step());
  TENON_CHECK(!row);
  return {};
}

int64_t Query::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Query::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {text == nullptr ? "" : text,
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Query::Blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {bytes == nullptr ? "" : bytes,
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<std::unique_ptr<Database>> Database::OpenHandle(const std::string& path, bool immutable) {
  sqlite3* handle = nullptr;
  const std::string name = immutable ? ImmutableUri(path) : path;
  const int flags = SQLITE_OPEN_NOMUTEX | (immutable ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                                     : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (sqlite3_open_v2(name.c_str(), &handle, flags, nullptr) != SQLITE_OK) {
    if (handle == nullptr) return Unavailable("opening " + path + ": out of memory");
    Error error = MakeError(handle, path, "opening the history index");
    sqlite3_close(handle);
    // SQLite then tries to open the file for reading, and that error (not found) hides the first
    // one: SQLite was not allowed to make the file.
    if (error.kind == ErrorKind::kNotFound && IsDirectory(DirName(path))) {
      return Denied("making the history index " + path + ": the folder can't be written");
    }
    return error;
  }
  const bool read_only = sqlite3_db_readonly(handle, "main") == 1;
  std::unique_ptr<Database> database(new Database(handle, path, read_only));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  // Otherwise each program that closes the database last would checkpoint and wait for the disk.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  TENON_TRY_VOID(database->Configure());
  return database;
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path) {
  // SQLite gives some names a special meaning (":memory:", "file:…"), but none that begins with "/"
  // or "./".
  const std::string name = path.starts_with('/') ? path : "./" + path;
  // SQLite would make the file with the mode of the umask. It gives the files of its log the mode
  // of the database.
  if (!Exists(name)) (void)OpenFile(name, O_WRONLY | O_CREAT, 0600).ok();
  for (const char* suffix : {"", "-wal", "-shm"}) KeepPrivate(name + suffix);
  auto opened = OpenHandle(name, false);
  if (opened.ok() || opened.error().kind != ErrorKind::kDenied || !Exists(path)) return opened;
  // The files of the log can't be made beside the database. Others can't write the database either,
  // so it may be opened as immutable.
  auto frozen = OpenHandle(name, true);
  return frozen.ok() ? std::move(frozen) : std::move(opened);
}

Status Database::Configure() {
  // The first read. It fails when the file is not a database, or not one that can be used here.
  TENON_TRY_VOID(ReadInt("SELECT count(*) FROM sqlite_schema"));
  if (read_only_) return {};
  TENON_TRY_VOID(EnterWal());
  return Execute(kPragmas);
}

Status Database::EnterWal() {
  // When many programs make a new file at once, SQLite does not wait for the others in the change
  // of mode.
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
  while (true) {
    const int code = sqlite3_exec(handle_, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return {};
    const bool busy = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
    if (!busy || std::chrono::steady_clock::now() > deadline) {
      return LastError("preparing the history index");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Database::~Database() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  if (many_writes_) {
    // Empties the log if no other program uses it. The next program to open the file reads all of
    // the log, checkpointed or not.
    sqlite3_busy_timeout(handle_, 0);
    sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  }
  sqlite3_close(handle_);
}

void Database::ExpectManyWrites() {
  if (many_writes_ || read_only_) return;
  many_writes_ = true;
  sqlite3_wal_autocheckpoint(handle_, 4096);
}

Result<Query> Database::Prepare(std::string_view sql) {
  if (auto it = statements_.find(sql); it != statements_.end()) return Query(*this, it->second);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return LastError("using the history index");
  }
  statements_.emplace(std::string(sql), statement);
  return Query(*this, statement);
}

Status Database::Execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return LastError("using the history index");
}

Result<int64_t> Database::ReadInt(const char* sql) {
  TENON_TRY(Query query, Prepare(sql));
  TENON_TRY(const bool row, query.Step());
  TENON_CHECK(row);
  return query.Int(0);
}

Error Database::LastError(std::string_view doing) const { return MakeError(handle_, path_, doing); }

Result<Transaction> Transaction::Begin(Database& database) {
  TENON_TRY_VOID(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  // Fails only when SQLite has already rolled back by itself.
  (void)database_->Execute("ROLLBACK").ok();
}

Status Transaction::Commit() {
  TENON_TRY_VOID(database_->Execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace tenon::history
