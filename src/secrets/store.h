// SPDX-License-Identifier: Apache-2.0
// Passwords, passphrases and other secrets of this user, encrypted in one file of the Tenon home.
//
// The key lies in the desktop's keyring when there is one that answers, else in a file beside it
// that only the user can read; Where() says which, in words for the user. Every value is
// encrypted by itself (AES-256-GCM) with its name bound to it, so values cannot be swapped.
// The names are not secret.
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
  // `home`: the Tenon home. Reads nothing yet; nothing is made before the first Set().
  // `keyring_ms`: how long a keyring may take, in which the user may have to unlock it.
  explicit Store(std::string home, int keyring_ms = 30'000);

  // nullopt: there is none of that name. kCorrupt: damaged, or of another key; kDenied: the
  // keyring is locked, or others can read the key's file. The message never has a value in it.
  Result<std::optional<std::string>> Get(const std::string& name);
  // Replaces. On disk when it returns; other processes may do the same at the same time.
  Status Set(const std::string& name, const std::string& value, const std::string& about);
  Status Remove(const std::string& name);  // none of that name: kNotFound

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

// The name a host's secret has in the store.
std::string PasswordName(const std::string& host_id);
std::string PassphraseName(const std::string& host_id);

}  // namespace tenon::secrets

#endif  // TENON_SECRETS_STORE_H_
