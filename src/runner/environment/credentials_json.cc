// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/credentials_json.h"

namespace tenon::runner {

json::Object CredentialsToJson(const Credentials& user) {
  json::Array groups;
  for (gid_t group : user.groups) groups.push_back(json::Value(int64_t{group}));
  return {{"uid", int64_t{user.uid}}, {"gid", int64_t{user.gid}}, {"groups", std::move(groups)}};
}

Result<Credentials> CredentialsFromJson(const json::Object* object) {
  TENON_EXPECT_PEER(object != nullptr, "it is not told who to become");
  const int64_t uid = json::GetInt(*object, "uid", -1), gid = json::GetInt(*object, "gid", -1);
  TENON_EXPECT_PEER(uid >= 0 && gid >= 0, "it is not told who to become");
  Credentials user{static_cast<uid_t>(uid), static_cast<gid_t>(gid), {}};
  if (const json::Array* groups = json::GetArray(*object, "groups")) {
    for (const json::Value& group : *groups) {
      if (group.is_int64()) user.groups.push_back(static_cast<gid_t>(group.get_int64()));
    }
  }
  return user;
}

}  // namespace tenon::runner
