// SPDX-License-Identifier: Apache-2.0
#include "run/members.h"
#include "run/packages.h"

namespace tenon::run {

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
