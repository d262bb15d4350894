// SPDX-License-Identifier: Apache-2.0
#include "run/packages.h"

#include "run/described.h"

namespace tenon::run {

json::Object Packages::ToJson() const { return ToJsonObject(*this); }

Result<Packages> Packages::FromJson(const json::Object& object) {
  auto packages = FromJsonObject<Packages>(object);
  if (!packages.ok()) return std::move(packages).error().Wrap("packages");
  return packages;
}

json::Array InstalledToJson(const std::vector<InstalledPackage>& packages) {
  return ToJsonValue(packages).as_array();
}

Result<std::vector<InstalledPackage>> InstalledFromJson(const json::Array& array) {
  std::vector<InstalledPackage> packages;
  packages.reserve(array.size());
  for (const json::Value& value : array) {
    const json::Object* object = value.if_object();
    if (object == nullptr) return Invalid("a package is no JSON object");
    TENON_TRY(packages.emplace_back(), FromJsonObject<InstalledPackage>(*object));
  }
  return packages;
}

}  // namespace tenon::run
