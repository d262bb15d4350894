// SPDX-License-Identifier: Apache-2.0
#include "secrets/store.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "secrets/cipher.h"
#include "secrets/keyring.h"

namespace tenon::secrets {
namespace {

constexpr int kVersion = 1;
constexpr size_t kMaxFile = 16 << 20;
constexpr int kFirstKeyringMs = 5000;  // a keyring that does not answer by then is not used at all
constexpr std::string_view kInKeyring = "keyring";
constexpr std::string_view kInFile = "file";

// Tells a wrong key from a damaged value.
std::string KeyCheck(const std::string& key) {
  return Sha256Of("tenon secrets key check\n" + key).Hex().substr(0, 16);
}

}  // namespace

struct Store::File {
  struct Value {
    std::string about, sealed;
    int64_t set_us = 0;
  };
  bool there = false;     // the file exists, or is about to
  std::string id;         // of the entry in the keyring
  std::string key_place;  // "keyring" or "file"
  std::string key_check;
  std::map<std::string, Value> values;
};

Store::Store(std::string home, int keyring_ms) : home_(std::move(home)), keyring_ms_(keyring_ms) {}

std::string Store::path() const { return JoinPath(home_, "secrets.json"); }
std::string Store::key_path() const { return JoinPath(home_, "secrets.key"); }

Result<Store::File> Store::Read() const {
  File file;
  Result<std::string> bytes = ReadFile(path(), kMaxFile);
  if (!bytes.ok()) {
    if (bytes.error().kind == ErrorKind::kNotFound) return file;
    return std::move(bytes).error();
  }
  const auto damaged = [&](const std::string& why) {
    return Corrupt(path() + ": " + why)
        .WithHint("bring back a copy, or remove the file and set the secrets again");
  };
  const Result<json::Value> parsed = json::Parse(*bytes);
  if (!parsed.ok() || !parsed->is_object()) return damaged("not a file of secrets");
  const json::Object& root = parsed->get_object();
  if (const int64_t version = json::GetInt(root, "version"); version != kVersion) {
    return Invalid(path() + ": of version " + std::to_string(version) +
                   ", which this program does not know");
  }
  file.there = true;
  file.id = json::GetString(root, "id");
  file.key_place = json::GetString(root, "key");
  file.key_check = json::GetString(root, "key_check");
  const json::Object* values = json::GetObject(root, "values");
  if (values == nullptr || file.id.empty() ||
      (file.key_place != kInKeyring && file.key_place != kInFile)) {
    return damaged("something is missing in it");
  }
  for (const auto& entry : *values) {
    const json::Object* value = entry.value().if_object();
    if (value == nullptr) return damaged("an entry is damaged");
    const auto sealed = FromHex(json::GetString(*value, "sealed"));
    if (!sealed) return damaged("an entry is damaged");
    file.values[json::DecodeBytes(entry.key())] = {
        json::DecodeBytes(json::GetString(*value, "about")), *sealed,
        json::GetInt(*value, "set_us")};
  }
  return file;
}

Status Store::Write(const File& file) const {
  json::Object values;
  for (const auto& [name, value] : file.values) {
    values[json::EncodeBytes(name)] = json::Object{{"about", json::EncodeBytes(value.about)},
                                                   {"set_us", value.set_us},
                                                   {"sealed", ToHex(value.sealed)}};
  }
  const json::Object root{{"version", kVersion},
                          {"id", file.id},
                          {"key", file.key_place},
                          {"key_check", file.key_check},
                          {"values", std::move(values)}};
  return WriteFileAtomically(path(), json::PrintPretty(root) + "\n", 0600, Durability::kPowerLoss);
}

Result<std::string> Store::Key(const File& file) const {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // no core dump with secrets in it
  std::string hex;
  if (file.key_place == kInKeyring) {
    TENON_TRY(const auto found, KeyringLookup(file.id, keyring_ms_));
    if (!found) {
      return Denied("the key of " + path() + " is no longer in the desktop's keyring")
          .WithHint("remove the file and set the secrets again");
    }
    hex = *found;
  } else {
    struct stat info;
    if (::lstat(key_path().c_str(), &info) != 0) return FromErrno(key_path(), errno);
    if ((info.st_mode & 077) != 0 || (info.st_uid != ::geteuid() && info.st_uid != 0)) {
      return Denied(key_path() + ": others can read the key of your secrets")
          .WithHint("chmod 600 " + ShellQuote(key_path()) +
                    "; if others use this machine, change the "
                    "passwords too");
    }
    TENON_TRY(hex, ReadFile(key_path(), 4096));
  }
  std::optional<std::string> key = FromHex(Trim(hex));
  Wipe(&hex);
  if (!key || key->size() != kKeyBytes || KeyCheck(*key) != file.key_check) {
    return Corrupt(path() + " was encrypted with another key than the one that is there")
        .WithHint("bring back the right key, or remove the file and set the secrets again");
  }
  return *std::move(key);
}

// Puts the new key into the keyring if that answers and gives back what it was given, else into a
// file.
Result<std::string> Store::MakeKey(File* file) const {
  file->there = true;
  file->id = RandomHex(16);
  std::string key = RandomBytes(kKeyBytes);
  file->key_check = KeyCheck(key);
  std::string hex = ToHex(key);
  if (KeyringMayBeThere()) {
    if (KeyringStore(file->id, hex, kFirstKeyringMs).ok()) {
      const auto again = KeyringLookup(file->id, kFirstKeyringMs);
      if (again.ok() && *again == hex) {
        file->key_place = kInKeyring;
        Wipe(&hex);
        return key;
      }
    }
  }
  file->key_place = kInFile;
  const Status written = WriteFileAtomically(key_path(), hex + "\n", 0600, Durability::kPowerLoss);
  Wipe(&hex);
  if (!written.ok()) return written.error();
  return key;
}

Result<std::optional<std::string>> Store::Get(const std::string& name) {
  TENON_TRY(const File file, Read());
  const auto found = file.values.find(name);
  if (found == file.values.end()) return std::optional<std::string>();
  TENON_TRY(std::string key, Key(file));
  std::optional<std::string> value = Open(key, name, found->second.sealed);
  Wipe(&key);
  if (value) return value;
  return Corrupt(path() + ": the entry `" + ForTerminal(name) + "` is damaged")
      .WithHint("set it again: `tenon secrets set`");
}

Status Store::Set(const std::string& name, const std::string& value, const std::string& about) {
  TENON_TRY_VOID(MakeDirs(home_, 0700));
  TENON_TRY(const FileLock lock, FileLock::Take(path() + ".lock", true));
  TENON_TRY(File file, Read());
  std::string key;
  if (file.values.empty()) {
    Result<std::string> old = file.there ? Key(file) : Result<std::string>(NotFound(""));
    if (old.ok()) {
      key = *std::move(old);
    } else {
      TENON_TRY(key, MakeKey(&file));
    }
  } else {
    TENON_TRY(key, Key(file));
  }
  Result<std::string> sealed = Seal(key, name, value);
  Wipe(&key);
  if (!sealed.ok()) return std::move(sealed).error();
  file.values[name] = {about, *std::move(sealed), SystemClock().NowUs()};
  return Write(file);
}

Status Store::Remove(const std::string& name) {
  if (!Exists(path())) return NotFound("there is no secret `" + ForTerminal(name) + "`");
  TENON_TRY(const FileLock lock, FileLock::Take(path() + ".lock", true));
  TENON_TRY(File file, Read());
  if (file.values.erase(name) == 0) {
    return NotFound("there is no secret `" + ForTerminal(name) + "`");
  }
  return Write(file);
}

Result<std::vector<Store::Entry>> Store::List() {
  TENON_TRY(const File file, Read());
  std::vector<Entry> entries;
  for (const auto& [name, value] : file.values)
    entries.push_back({name, value.about, value.set_us});
  return entries;
}

std::string Store::Where() {
  const Result<File> file = Read();
  const bool keyring =
      file.ok() && file->there ? file->key_place == kInKeyring : KeyringMayBeThere();
  if (keyring) return "encrypted; the key is in the desktop's keyring";
  return "encrypted; the key is in " + key_path() + ", which only you can read";
}

std::string PasswordName(const std::string& host_id) { return "password/" + host_id; }
std::string PassphraseName(const std::string& host_id) { return "passphrase/" + host_id; }

}  // namespace tenon::secrets
