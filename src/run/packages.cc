// SPDX-License-Identifier: Apache-2.0
#include "run/packages.h"

#include "run/members.h"

namespace tenon::run {
namespace {

json::Array ToJsonPackages(const std::vector<Package>& packages) {
  json::Array array;
  array.reserve(packages.size());
  for (const Package& package : packages) {
    json::Object o;
    o["text"] = ToJsonText(package.text);
    o["name"] = ToJsonText(package.name);
    o["where"] = ToJsonText(package.where);
    if (!package.pypi.empty()) o["pypi"] = ToJsonText(package.pypi);
    array.push_back(std::move(o));
  }
  return array;
}

// Calls `read(Members&, item)` for each object of the list `key`.
template <typename T, typename ReadItem>
void ReadList(Members& members, std::string_view key, std::vector<T>& out, ReadItem read) {
  const json::Array* array = members.ReadArray(key);
  if (array == nullptr) return;
  out.clear();
  out.reserve(array->size());
  for (const json::Value& value : *array) {
    const json::Object* object = value.if_object();
    if (object == nullptr) return members.Fail(key, "an array of objects");
    Members item_members(*object);
    T item;
    read(item_members, item);
    if (item_members.failed()) {
      return members.Fail(key, "an array of objects with strings as members");
    }
    out.push_back(std::move(item));
  }
}

void ReadPackage(Members& members, Package& package) {
  members.Read("text", package.text);
  members.Read("name", package.name);
  members.Read("where", package.where);
  members.Read("pypi", package.pypi);
}

void ReadFile(Members& members, PackageFile& file) {
  members.Read("path", file.path);
  members.Read("hash", file.hash);
}

}  // namespace

json::Object Packages::ToJson() const {
  json::Object o;
  o["file"] = ToJsonText(file);
  o["format"] = ToJsonText(format);
  o["python"] = ToJsonText(python);
  o["python_where"] = ToJsonText(python_where);
  o["channels"] = ToJsonTexts(channels);
  o["conda"] = ToJsonPackages(conda);
  o["pip"] = ToJsonPackages(pip);
  o["pip_options"] = ToJsonPackages(pip_options);
  json::Array listed;
  listed.reserve(files.size());
  for (const PackageFile& entry : files) {
    json::Object item;
    item["path"] = ToJsonText(entry.path);
    item["hash"] = ToJsonText(entry.hash);
    listed.push_back(std::move(item));
  }
  o["files"] = std::move(listed);
  return o;
}

Result<Packages> Packages::FromJson(const json::Object& object) {
  Packages packages;
  Members members(object);
  members.Read("file", packages.file);
  members.Read("format", packages.format);
  members.Read("python", packages.python);
  members.Read("python_where", packages.python_where);
  members.Read("channels", packages.channels);
  ReadList(members, "conda", packages.conda, ReadPackage);
  ReadList(members, "pip", packages.pip, ReadPackage);
  ReadList(members, "pip_options", packages.pip_options, ReadPackage);
  ReadList(members, "files", packages.files, ReadFile);
  Status status = members.status();
  if (!status.ok()) return std::move(status).error().Wrap("packages");
  return packages;
}

json::Array InstalledToJson(const std::vector<InstalledPackage>& packages) {
  json::Array array;
  array.reserve(packages.size());
  for (const InstalledPackage& package : packages) {
    json::Object o;
    o["name"] = ToJsonText(package.name);
    o["version"] = ToJsonText(package.version);
    if (!package.source.empty()) o["source"] = ToJsonText(package.source);
    array.push_back(std::move(o));
  }
  return array;
}

Result<std::vector<InstalledPackage>> InstalledFromJson(const json::Array& array) {
  std::vector<InstalledPackage> packages;
  packages.reserve(array.size());
  for (const json::Value& value : array) {
    const json::Object* o = value.if_object();
    if (o == nullptr) return Invalid("a package is no JSON object");
    Members in(*o);
    InstalledPackage& package = packages.emplace_back();
    in.Read("name", package.name);
    in.Read("version", package.version);
    in.Read("source", package.source);
    TENON_TRY_VOID(in.status());
  }
  return packages;
}

}  // namespace tenon::run
