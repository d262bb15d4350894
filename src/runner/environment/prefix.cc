// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/prefix.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "environment/key.h"

namespace tenon::runner {
namespace {

using run::InstalledPackage;

// The value of a header in a METADATA or PKG-INFO file.
std::string HeaderValue(const std::string& text, std::string_view name) {
  for (const std::string& line : Split(text.substr(0, 16384), '\n')) {
    if (Trim(line).empty()) break;
    if (line.starts_with(name))
      return std::string(Trim(std::string_view(line).substr(name.size())));
  }
  return "";
}

std::string WithoutPassword(const std::string& address) {
  size_t scheme = address.find("://");
  if (scheme == std::string::npos) return address;
  size_t end = address.find('/', scheme + 3);
  size_t at = address.substr(0, end).rfind('@');
  if (at == std::string::npos || at < scheme) return address;
  return address.substr(0, scheme + 3) + address.substr(at + 1);
}

std::string DirectSource(const std::string& info) {
  auto text = ReadFile(info + "/direct_url.json", 1u << 20);
  if (!text.ok()) return "pypi";
  auto value = json::Parse(*text);
  if (!value.ok() || !value->is_object()) return "pypi";
  std::string url = WithoutPassword(json::GetString(value->get_object(), "url"));
  return url.empty() ? "pypi" : url;
}

void AddDist(const std::string& site, const std::string& name,
             std::map<std::string, InstalledPackage>& found) {
  bool egg = name.ends_with(".egg-info");
  if (!egg && !name.ends_with(".dist-info")) return;
  std::string info = site + "/" + name;
  std::string file = info + (egg ? (IsDirectory(info) ? "/PKG-INFO" : "") : "/METADATA");
  auto text = ReadFile(file, 8u << 20);
  if (!text.ok()) return;
  InstalledPackage package{HeaderValue(*text, "Name:"), HeaderValue(*text, "Version:"),
                           DirectSource(info)};
  if (package.name.empty()) return;
  found.emplace(environment::NormaliseName(package.name), std::move(package));
}

void AddCondaMeta(const std::string& prefix, std::map<std::string, InstalledPackage>& found) {
  auto names = ListDir(prefix + "/conda-meta");
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!name.ends_with(".json")) continue;
    auto text = ReadFile(prefix + "/conda-meta/" + name);
    if (!text.ok()) continue;
    auto value = json::Parse(*text);
    if (!value.ok() || !value->is_object()) continue;
    const json::Object& o = value->get_object();
    InstalledPackage package{json::GetString(o, "name"), json::GetString(o, "version"),
                             WithoutPassword(json::GetString(o, "channel"))};
    if (package.name.empty()) continue;
    found[environment::NormaliseName(package.name)] = std::move(package);
  }
}

class TreeCopy {
 public:
  explicit TreeCopy(const std::atomic<bool>& stop) : stop_(stop), buffer_(1u << 20, '\0') {}

  Status Folder(const std::string& from, const std::string& to, mode_t mode) {
    TENON_TRY_VOID(MakeDirs(to));
    TENON_TRY(std::vector<std::string> names, ListDir(from));
    for (const std::string& name : names) {
      if (stop_) return Unavailable("stopped");
      TENON_TRY_VOID(One(from + "/" + name, to + "/" + name));
    }
    if (::chmod(to.c_str(), mode & 07777) != 0) return FromErrno("copy " + from, errno);
    return {};
  }

 private:
  Status One(const std::string& from, const std::string& to) {
    struct stat info;
    if (::lstat(from.c_str(), &info) != 0) return FromErrno("copy " + from, errno);
    if (S_ISDIR(info.st_mode)) return Folder(from, to, info.st_mode);
    if (S_ISLNK(info.st_mode)) {
      TENON_TRY(std::string target, ReadLink(from));
      if (::symlink(target.c_str(), to.c_str()) != 0) return FromErrno("make link " + to, errno);
      return {};
    }
    if (S_ISREG(info.st_mode)) return File(from, to, info.st_mode);
    return {};
  }

  Status File(const std::string& from, const std::string& to, mode_t mode) {
    TENON_TRY(UniqueFd in, OpenFile(from, O_RDONLY));
    TENON_TRY(UniqueFd out, OpenFile(to, O_WRONLY | O_CREAT | O_EXCL, 0600));
    while (true) {
      ssize_t n = ::read(in.get(), buffer_.data(), buffer_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return FromErrno("read " + from, errno);
      if (n == 0) break;
      Status written =
          WriteAll(out.get(), std::string_view(buffer_).substr(0, static_cast<size_t>(n)));
      if (!written.ok()) return std::move(written).error().Wrap("write " + to);
    }
    if (::fchmod(out.get(), mode & 07777) != 0) return FromErrno("copy " + from, errno);
    return {};
  }

  const std::atomic<bool>& stop_;
  std::string buffer_;
};

}  // namespace

std::vector<InstalledPackage> ListInstalled(const std::string& prefix) {
  std::map<std::string, InstalledPackage> found;
  for (const char* lib : {"lib", "lib64"}) {
    std::string folder = prefix + "/" + lib;
    auto names = ListDir(folder);
    if (!names.ok()) continue;
    for (const std::string& name : *names) {
      std::string site = folder + "/" + name + "/site-packages";
      if (!name.starts_with("python")) continue;
      auto dists = ListDir(site);
      if (!dists.ok()) continue;
      for (const std::string& dist : *dists) AddDist(site, dist, found);
    }
  }
  AddCondaMeta(prefix, found);
  std::vector<InstalledPackage> packages;
  for (auto& [name, package] : found) packages.push_back(std::move(package));
  return packages;
}

uint64_t TreeBytes(const std::string& folder) {
  auto names = ListDir(folder);
  if (!names.ok()) return 0;
  uint64_t bytes = 0;
  for (const std::string& name : *names) {
    std::string path = folder + "/" + name;
    struct stat info;
    if (::lstat(path.c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) bytes += TreeBytes(path);
    if (S_ISREG(info.st_mode)) bytes += static_cast<uint64_t>(info.st_size);
  }
  return bytes;
}

Status CopyTree(const std::string& from, const std::string& to, const std::atomic<bool>& stop) {
  struct stat info;
  if (::stat(from.c_str(), &info) != 0) return FromErrno("copy " + from, errno);
  return TreeCopy(stop).Folder(from, to, info.st_mode);
}

}  // namespace tenon::runner
