// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/key_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"

namespace tenon::snapshot {
namespace {

enum class What : uint8_t { kFolder, kFile };

struct Row {
  std::string_view end;  // of the path; begins at the beginning of a name
  What what;
  KeyKind kind;
  const char* reason;
};

// Every row begins with a dot or contains a folder that does, and LookAtKeyName() uses this table
// only for such paths. All rows are in lower case. The case of a path is ignored, because tools of
// Windows write KEY.PEM and CERT.PFX, and some disks do not distinguish the two.
constexpr Row kHidden[] = {
    {".ssh", What::kFolder, KeyKind::kKey, "SSH keys"},
    {".gnupg", What::kFolder, KeyKind::kKey, "GnuPG keys"},
    {".aws", What::kFolder, KeyKind::kKey, "credentials of AWS"},
    {".azure", What::kFolder, KeyKind::kKey, "credentials of Azure"},
    {".config/gcloud", What::kFolder, KeyKind::kKey, "credentials of Google Cloud"},
    {".kube", What::kFolder, KeyKind::kKey, "credentials of Kubernetes"},
    {".oci", What::kFolder, KeyKind::kKey, "credentials of Oracle Cloud"},
    {".kaggle", What::kFolder, KeyKind::kKey, "a token of Kaggle"},
    {".password-store", What::kFolder, KeyKind::kKey, "passwords of pass"},
    {".local/share/keyrings", What::kFolder, KeyKind::kKey, "the desktop's keyring"},
    {".config/gh", What::kFolder, KeyKind::kKey, "a token of GitHub"},
    {".config/glab-cli", What::kFolder, KeyKind::kKey, "a token of GitLab"},
    {".config/op", What::kFolder, KeyKind::kKey, "credentials of 1Password"},
    {".mozilla", What::kFolder, KeyKind::kKey, "passwords and cookies of Firefox"},
    {".config/google-chrome", What::kFolder, KeyKind::kKey, "passwords and cookies of Chrome"},
    {".config/chromium", What::kFolder, KeyKind::kKey, "passwords and cookies of Chromium"},
    {".docker/config.json", What::kFile, KeyKind::kKey, "passwords of registries"},
    {".config/containers/auth.json", What::kFile, KeyKind::kKey, "passwords of registries"},
    {".config/git/credentials", What::kFile, KeyKind::kKey, "passwords of git"},
    {".git-credentials", What::kFile, KeyKind::kKey, "passwords of git"},
    {".netrc", What::kFile, KeyKind::kKey, "passwords of servers"},
    {".pgpass", What::kFile, KeyKind::kKey, "passwords of PostgreSQL"},
    {".my.cnf", What::kFile, KeyKind::kKey, "a password of MySQL"},
    {".pypirc", What::kFile, KeyKind::kKey, "a password of PyPI"},
    {".npmrc", What::kFile, KeyKind::kLook, "a token of npm"},
    {".cargo/credentials", What::kFile, KeyKind::kKey, "a token of crates.io"},
    {".cargo/credentials.toml", What::kFile, KeyKind::kKey, "a token of crates.io"},
    {".gem/credentials", What::kFile, KeyKind::kKey, "a token of RubyGems"},
    {".terraform.d/credentials.tfrc.json", What::kFile, KeyKind::kKey, "a token of Terraform"},
    {".config/rclone", What::kFolder, KeyKind::kKey, "passwords of rclone"},
    {".local/share/kwalletd", What::kFolder, KeyKind::kKey, "the desktop's keyring"},
    {".thunderbird", What::kFolder, KeyKind::kKey, "passwords and mail of Thunderbird"},
    {".config/microsoft-edge", What::kFolder, KeyKind::kKey, "passwords and cookies of Edge"},
    {".dockercfg", What::kFile, KeyKind::kKey, "passwords of registries"},
    {".databrickscfg", What::kFile, KeyKind::kKey, "a token of Databricks"},
    {".snowsql/config", What::kFile, KeyKind::kKey, "a password of Snowflake"},
    {".yarnrc.yml", What::kFile, KeyKind::kLook, "a token of npm"},
    {".condarc", What::kFile, KeyKind::kLook, "a password of a package index"},
    {".vault-token", What::kFile, KeyKind::kKey, "a token of Vault"},
    {".boto", What::kFile, KeyKind::kKey, "credentials of Google Cloud"},
    {".s3cfg", What::kFile, KeyKind::kKey, "credentials of S3"},
    {".huggingface/token", What::kFile, KeyKind::kKey, "a token of Hugging Face"},
    {".cache/huggingface/token", What::kFile, KeyKind::kKey, "a token of Hugging Face"},
    {".cache/huggingface/stored_tokens", What::kFile, KeyKind::kKey, "tokens of Hugging Face"},
};

// Whole file names that do not begin with a dot.
constexpr Row kNames[] = {
    {"id_rsa", What::kFile, KeyKind::kKey, "an SSH key"},
    {"id_dsa", What::kFile, KeyKind::kKey, "an SSH key"},
    {"id_ecdsa", What::kFile, KeyKind::kKey, "an SSH key"},
    {"id_ecdsa_sk", What::kFile, KeyKind::kKey, "an SSH key"},
    {"id_ed25519", What::kFile, KeyKind::kKey, "an SSH key"},
    {"id_ed25519_sk", What::kFile, KeyKind::kKey, "an SSH key"},
    {"id_xmss", What::kFile, KeyKind::kKey, "an SSH key"},
    {"_netrc", What::kFile, KeyKind::kKey, "passwords of servers"},
    {"secrets.key", What::kFile, KeyKind::kKey, "the key of Tenon's passwords"},
    {"kubeconfig", What::kFile, KeyKind::kKey, "credentials of Kubernetes"},
    {"kaggle.json", What::kFile, KeyKind::kKey, "a token of Kaggle"},
    {"application_default_credentials.json", What::kFile, KeyKind::kKey,
     "credentials of Google Cloud"},
    {"pip.conf", What::kFile, KeyKind::kLook, "a password of a package index"},
};

// Ends of file names.
constexpr Row kEnds[] = {
    {".pem", What::kFile, KeyKind::kLook, "a private key"},
    {".key", What::kFile, KeyKind::kLook, "a private key"},
    {".der", What::kFile, KeyKind::kLook, "a private key"},
    {".p8", What::kFile, KeyKind::kLook, "a private key"},
    {".pk8", What::kFile, KeyKind::kLook, "a private key"},
    {".asc", What::kFile, KeyKind::kLook, "a private key"},
    {".gpg", What::kFile, KeyKind::kLook, "a private key"},
    {".ppk", What::kFile, KeyKind::kLook, "a private key"},
    {".crt", What::kFile, KeyKind::kLook, "a private key"},
    {".cer", What::kFile, KeyKind::kLook, "a private key"},
    {".p12", What::kFile, KeyKind::kKey, "a certificate with its private key"},
    {".pfx", What::kFile, KeyKind::kKey, "a certificate with its private key"},
    {".jks", What::kFile, KeyKind::kKey, "a key store of Java"},
    {".kdbx", What::kFile, KeyKind::kKey, "passwords of KeePass"},
    {".keytab", What::kFile, KeyKind::kKey, "keys of Kerberos"},
    {".kubeconfig", What::kFile, KeyKind::kKey, "credentials of Kubernetes"},
    {"_rsa", What::kFile, KeyKind::kLook, "a private key"},
    {"_dsa", What::kFile, KeyKind::kLook, "a private key"},
    {"_ecdsa", What::kFile, KeyKind::kLook, "a private key"},
    {"_ed25519", What::kFile, KeyKind::kLook, "a private key"},
    {"_key", What::kFile, KeyKind::kLook, "a private key"},
    {"-rsa", What::kFile, KeyKind::kLook, "a private key"},
    {"-ecdsa", What::kFile, KeyKind::kLook, "a private key"},
    {"-ed25519", What::kFile, KeyKind::kLook, "a private key"},
    {"-key", What::kFile, KeyKind::kLook, "a private key"},
};
constexpr size_t kLongestEnd = 11;
// Services hand out JSON or CSV files with these words in their names.
constexpr std::string_view kWords[] = {"credential",      "client_secret",  "service-account",
                                       "service_account", "serviceaccount", "accesskey"};
constexpr std::string_view kWordEnds[] = {".json", ".csv"};
// Names that `ssh-keygen` gives to keys; more may follow: id_rsa_work, id_ed25519.old.
constexpr std::string_view kSshNames[] = {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"};

// The part from the last dot, underscore or dash on, if it is short enough for kEnds.
std::string_view EndOf(std::string_view name) {
  for (size_t n = 1; n <= std::min(kLongestEnd, name.size()); ++n) {
    const char c = name[name.size() - n];
    if (c == '.' || c == '_' || c == '-') return name.substr(name.size() - n);
  }
  return {};
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// `lower` must be in lower case.
bool Equals(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(),
                                                   [](char a, char b) { return Lower(a) == b; });
}

bool EndsWith(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && Equals(text.substr(text.size() - lower.size()), lower);
}

bool EndsAtName(std::string_view path, std::string_view end) {
  if (!EndsWith(path, end)) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '/';
}

// The names that mark a home (run/layout.h). A project may also have a folder `runs` or `objects`,
// so one name is not enough.
constexpr std::string_view kStrong[] = {"client-id", "secrets.key"};
constexpr std::string_view kWeak[] = {"history.db", "secrets.json", "hosted", "stat-cache",
                                      "complete-trees"};

class HomeMarks {
 public:
  void Add(std::string_view name) {
    runs_ |= name == "runs";
    objects_ |= name == "objects";
    secrets_ += name == "secrets.key" || name == "secrets.json";
    for (const std::string_view mark : kStrong) strong_ |= name == mark;
    for (const std::string_view mark : kWeak) weak_ |= name == mark;
  }
  bool Tell() const { return secrets_ == 2 || (runs_ && (strong_ || (objects_ && weak_))); }

 private:
  bool runs_ = false, objects_ = false, strong_ = false, weak_ = false;
  int secrets_ = 0;  // number of secrets files; both exist even before the first run
};

// .env, .env.local, .env.production, but not an example file beside it.
bool IsEnvFile(std::string_view name) {
  constexpr std::string_view kExamples[] = {".example", ".sample", ".template", ".dist"};
  if (Equals(name, ".env") || Equals(name, ".renviron")) return true;
  if (!Equals(name.substr(0, 5), ".env.")) return false;
  return std::none_of(std::begin(kExamples), std::end(kExamples),
                      [&](std::string_view end) { return EndsWith(name, end); });
}

// For names that no table has.
KeyName LookAtWords(std::string_view name) {
  for (const std::string_view start : kSshNames) {
    if (Equals(name.substr(0, start.size()), start)) {
      return {EndsWith(name, ".pub") ? KeyKind::kNone : KeyKind::kLook, "an SSH key"};
    }
  }
  if (std::none_of(std::begin(kWordEnds), std::end(kWordEnds),
                   [&](std::string_view end) { return EndsWith(name, end); })) {
    return {};
  }
  const std::string lower = ToLower(name);
  for (const std::string_view word : kWords) {
    if (lower.find(word) != std::string::npos) return {KeyKind::kLook, "credentials of a service"};
  }
  return {};
}

// Whether there is an address with a literal password in it: https://user:word@host.
bool HoldsLogin(std::string_view bytes) {
  constexpr std::string_view kScheme = "://";
  for (size_t at = bytes.find(kScheme); at != std::string_view::npos;
       at = bytes.find(kScheme, at + 1)) {
    std::string_view login = bytes.substr(at + kScheme.size());
    login = login.substr(0, login.find_first_of("/ \t\r\n"));
    const size_t sign = login.rfind('@'), colon = login.find(':');
    if (sign != std::string_view::npos && colon + 1 < sign && login[colon + 1] != '$') return true;
  }
  return false;
}

// Whether it is a private key in DER: a sequence whose first member is the number 0 or 1.
bool IsDerKey(std::string_view bytes) {
  auto at = [&](size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  if (at(0) != 0x30) return false;
  const size_t body = at(1) < 0x80 ? 2 : 2 + (at(1) & 0x7f);
  return at(body) == 0x02 && at(body + 1) == 0x01 && at(body + 2) <= 1 && body + 2 < bytes.size();
}

}  // namespace

KeyName LookAtKeyName(std::string_view path, bool is_folder) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.empty()) return {};
  const What what = is_folder ? What::kFolder : What::kFile;
  const bool hidden = path[0] == '.' || path.find("/.") != std::string_view::npos;
  if (hidden) {
    if (!is_folder && IsEnvFile(name)) return {KeyKind::kNamed, "settings, often passwords"};
    for (const Row& row : kHidden) {
      if (row.what == what && EndsAtName(path, row.end)) return {row.kind, row.reason};
    }
  }
  if (is_folder) return {};
  for (const Row& row : kNames) {
    if (Equals(name, row.end)) return {row.kind, row.reason};
  }
  const std::string_view end = EndOf(name);
  for (const Row& row : kEnds) {
    if (Equals(end, row.end)) return {row.kind, row.reason};
  }
  return LookAtWords(name);
}

bool HoldsKey(std::string_view bytes) {
  for (const char* mark :
       {"PRIVATE KEY-----", "PRIVATE KEY BLOCK-----", "PuTTY-User-Key-File-", "_authToken",
        "_password", "_auth=", "_auth =", "npmAuthToken", "\"client_secret\"", "\"refresh_token\"",
        "SecretAccessKey", "Secret access key"}) {
    if (bytes.find(mark) != std::string_view::npos) return true;
  }
  return HoldsLogin(bytes) || IsDerKey(bytes);
}

bool IsKeyItself(std::string_view beginning) {
  if (beginning.starts_with("\xef\xbb\xbf")) beginning.remove_prefix(3);
  if (beginning.starts_with("PuTTY-User-Key-File-")) return true;
  // What openssl writes before a key, and the beginning of a Google Cloud account key.
  const bool may_be = beginning.starts_with("-----BEGIN ") ||
                      beginning.starts_with("Bag Attributes") || beginning.starts_with('{');
  if (!may_be) return false;
  if (beginning[0] == '{' && beginning.find("\"private_key\"") == std::string_view::npos)
    return false;
  return beginning.find("PRIVATE KEY-----") != std::string_view::npos ||
         beginning.find("PRIVATE KEY BLOCK-----") != std::string_view::npos;
}

bool IsKeyItselfAt(int fd) {
  char bytes[kBeginningBytes];
  const auto got = ReadAt(fd, bytes, 0);
  return got.ok() && IsKeyItself(std::string_view(bytes, *got));
}

bool HoldsKeyAt(int folder, const char* name) {
  const UniqueFd fd(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  std::string bytes(std::min(static_cast<size_t>(info.st_size), kKeyBytes), '\0');
  const auto got = ReadAt(fd.get(), bytes, 0);
  return got.ok() && HoldsKey(std::string_view(bytes).substr(0, *got));
}

bool IsTenonHome(const Listing& names) {
  HomeMarks marks;
  for (size_t i = 0; i < names.entries.size(); ++i) marks.Add(names[i]);
  return marks.Tell();
}

bool IsTenonHome(const std::vector<std::string>& names) {
  HomeMarks marks;
  for (const std::string& name : names) marks.Add(name);
  return marks.Tell();
}

std::vector<FolderId> IdsOf(const std::vector<std::string>& paths) {
  std::vector<FolderId> ids;
  for (const std::string& path : paths) {
    struct stat info;
    if (::stat(path.c_str(), &info) == 0) ids.push_back({info.st_dev, info.st_ino});
  }
  return ids;
}

}  // namespace tenon::snapshot
