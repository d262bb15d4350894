// SPDX-License-Identifier: Apache-2.0
// Passwords, passphrases and other secrets of this user, encrypted in one file of the Tenon home.
//
// The key is in the desktop's keyring when there is one that answers, else in a file beside the
// secrets that only the user can read. Where() says which, in words for the user. Every value is
// encrypted by itself (AES-256-GCM) with its name bound to it, so values cannot be swapped. Names
// and `about` texts are not secret and not encrypted.
#ifndef TENON_SECRETS_STORE_H_
#define TENON_SECRETS_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::secrets {

class Store {
 public:
  // `home`: the Tenon home. The constructor reads nothing; nothing is made before the first Set().
  // `keyring_ms`: how long a keyring may take to give the key; the user may have to unlock it
  // meanwhile.
  explicit Store(std::string home, int keyring_ms = 30'000);

  // nullopt: there is no secret of that name. kCorrupt: the file is damaged, or was encrypted with
  // another key; kDenied: the keyring is locked or has lost the key, or others can read the key's
  // file; kNotFound: the key's file is missing. The message never has a value in it.
  Result<std::optional<std::string>> Get(const std::string& name);
  // Adds or replaces a secret; it is on disk when Set() returns. Other processes may call Set() at
  // the same time. Makes a new key when the store has no secrets and its key can't be had;
  // otherwise a missing key fails as in Get().
  Status Set(const std::string& name, const std::string& value, const std::string& about);
  Status Remove(const std::string& name);  // no such name: kNotFound

  struct Entry {
    std::string name;
    std::string about;  // for people: "password of ann on gpu1 (my_dsvm)"
    int64_t set_us = 0;
  };
  Result<std::vector<Entry>> List();

  // "encrypted; the key is in the desktop's keyring", "encrypted; the key is in ~/.tenon/…, which
  // only you can read"
  std::string Where();

 private:
  struct File;
  std::string path() const;
  std::string key_path() const;
  Result<File> Read() const;
  Status Write(const File& file) const;
  Result<std::string> Key(const File& file) const;
  Result<std::string> MakeKey(File* file) const;

  std::string home_;
  int keyring_ms_;
};

// The names of a host's secrets in the store.
std::string PasswordName(const std::string& host_id);
std::string PassphraseName(const std::string& host_id);

}  // namespace tenon::secrets

#endif  // TENON_SECRETS_STORE_H_
