// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/kept_secrets.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "run/members.h"

namespace tenon::runner {
namespace {

// Tried in this order, because many systems remove a user's files in /dev/shm when the user logs
// out.
constexpr const char* kMemoryFolders[] = {"/run/lock", "/dev/shm"};
constexpr size_t kMaxKept = 8u << 20;

std::string DiskHalf(const run::RunFolder& folder) { return folder.path() + "/masks"; }

std::string MemoryHalf(const char* folder, const std::string& run_key) {
  return std::string(folder) + "/tenon-" + run_key;
}

bool IsInMemory(const char* folder) {
  struct statfs info {};
  return ::statfs(folder, &info) == 0 && info.f_type == TMPFS_MAGIC;
}

// Whether a run key may become part of a path.
bool IsPlain(const std::string& run_key) {
  return !run_key.empty() &&
         run_key.find_first_not_of("0123456789abcdefABCDEF-") == std::string::npos;
}

std::string RandomBytes(size_t n) {
  const std::string hex = RandomHex(n);
  std::string bytes;
  bytes.reserve(n);
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::string Xor(std::string text, std::string_view with) {
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(text[i] ^ with[i]);
  return text;
}

bool WriteMemoryHalf(const std::string& run_key, std::string_view bytes) {
  for (const char* folder : kMemoryFolders) {
    if (!IsInMemory(folder)) continue;
    const std::string path = MemoryHalf(folder, run_key);
    (void)RemoveFile(path).ok();  // left by a start that was killed
    auto fd = OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!fd.ok()) continue;
    if (WriteAll(fd->get(), bytes).ok()) return true;
    (void)RemoveFile(path).ok();
  }
  return false;
}

std::optional<std::string> ReadMemoryHalf(const std::string& run_key) {
  for (const char* folder : kMemoryFolders) {
    auto fd = OpenFile(MemoryHalf(folder, run_key), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!fd.ok()) continue;
    struct stat info {};
    // Everybody may write to the folder, so the file may be another user's.
    if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid() ||
        info.st_size < 0 || static_cast<size_t>(info.st_size) > kMaxKept) {
      continue;
    }
    std::string bytes(static_cast<size_t>(info.st_size), '\0');
    auto got = ReadAt(fd->get(), bytes, 0);
    if (got.ok() && *got == bytes.size()) return bytes;
  }
  return std::nullopt;
}

std::optional<Environment> Parse(std::string_view text) {
  auto value = json::Parse(text);
  if (!value.ok() || !value->is_object()) return std::nullopt;
  Environment values;
  for (const auto& member : value->get_object()) {
    if (!member.value().is_string()) return std::nullopt;
    const auto& secret = member.value().get_string();
    values[json::DecodeBytes(std::string_view(member.key()))] =
        json::DecodeBytes(std::string_view(secret.data(), secret.size()));
  }
  return values;
}

bool HasAll(const Environment& values, const run::RunSpec& spec) {
  for (const std::string& name : spec.secret_names) {
    if (!values.contains(name)) return false;
  }
  return true;
}

}  // namespace

void KeepSecrets(const StartRequest& request) {
  if (request.secrets.empty() || !IsPlain(request.spec.key)) return;
  const std::string text = json::Print(run::ToJsonMap(request.secrets));
  const std::string random = text.size() <= kMaxKept ? RandomBytes(text.size()) : "";
  std::string disk = std::to_string(Masker(request.SecretValues()).shortest()) + "\n";
  if (random.size() == text.size() && WriteMemoryHalf(request.spec.key, Xor(text, random))) {
    disk += random;
  }
  (void)WriteFileAtomically(DiskHalf(request.run.Folder()), disk, 0600, Durability::kProcess).ok();
}

void ForgetSecrets(const run::RunFolder& folder, const std::string& run_key) {
  if (!IsPlain(run_key)) return;
  for (const char* memory : kMemoryFolders) (void)RemoveFile(MemoryHalf(memory, run_key)).ok();
  (void)RemoveFile(DiskHalf(folder)).ok();
}

KnownSecrets SecretsOf(const run::RunFolder& folder, const run::RunSpec& spec) {
  KnownSecrets known;
  if (spec.secret_names.empty()) return known;
  known.all = false;
  known.shortest = kShortestSecret;
  const std::string disk = ReadFile(DiskHalf(folder), kMaxKept + 64).value_or("");
  const size_t line = disk.find('\n');
  if (line == std::string::npos) return known;
  size_t shortest = 0;
  std::from_chars(disk.data(), disk.data() + line, shortest);
  known.shortest = std::max(shortest, kShortestSecret);
  const std::string_view random = std::string_view(disk).substr(line + 1);
  if (!IsPlain(spec.key)) return known;
  const auto memory = ReadMemoryHalf(spec.key);
  if (!memory || memory->size() != random.size()) return known;
  auto values = Parse(Xor(*memory, random));
  if (!values) return known;
  known.all = HasAll(*values, spec);
  known.values = std::move(*values);
  return known;
}

KnownSecrets SecretsOf(const StartRequest& request) {
  KnownSecrets known;
  known.values = request.secrets;
  known.all = HasAll(request.secrets, request.spec);
  if (!known.all) known.shortest = SecretsOf(request.run.Folder(), request.spec).shortest;
  return known;
}

std::vector<std::string> ValuesOf(const Environment& secrets) {
  std::vector<std::string> values;
  for (const auto& [name, value] : secrets) values.push_back(value);
  return values;
}

SafeNames::SafeNames(const KnownSecrets& known)
    : masker_(ValuesOf(known.values)), know_all_(known.all), shortest_(known.shortest) {}

std::string SafeNames::operator()(std::string_view name) {
  if (know_all_ || name.size() < shortest_) return masker_.Mask(name);
  auto found = withheld_.find(name);
  if (found == withheld_.end()) {
    const std::string instead = "withheld-" + std::to_string(withheld_.size() + 1);
    found = withheld_.emplace(std::string(name), instead).first;
  }
  return found->second;
}

}  // namespace tenon::runner
