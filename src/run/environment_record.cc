// SPDX-License-Identifier: Apache-2.0
#include "run/environment_record.h"

#include <utility>
#include <variant>

#include "run/members.h"

namespace tenon::run {

json::Object EnvironmentRecord::ToJson() const {
  json::Object o;
  o["ready"] = EventToJson(ready);
  o["asked"] = packages.ToJson();
  o["image_id"] = ToJsonText(image_id);
  o["socket"] = ToJsonText(socket);
  o["created_us"] = created_us;
  o["duration_us"] = duration_us;
  return o;
}

Result<EnvironmentRecord> EnvironmentRecord::FromJson(const json::Object& object) {
  EnvironmentRecord record;
  Members in(object);
  if (const json::Object* ready = in.ReadObject("ready")) {
    TENON_TRY(Event event, EventFromJson(EventType::kEnvironmentReady, *ready));
    record.ready = std::move(std::get<EnvironmentReady>(event));
  }
  if (const json::Object* asked = in.ReadObject("asked")) {
    TENON_TRY(record.packages, Packages::FromJson(*asked));
  }
  in.Read("image_id", record.image_id);
  in.Read("socket", record.socket);
  in.Read("created_us", record.created_us);
  in.Read("duration_us", record.duration_us);
  TENON_TRY_VOID(in.status());
  return record;
}

json::Object ListedEnvironment::ToJson() const {
  json::Object o = record.ToJson();
  o["last_used_us"] = last_used_us;
  o["runs"] = ToJsonTexts(runs);
  o["in_use"] = in_use;
  return o;
}

Result<ListedEnvironment> ListedEnvironment::FromJson(const json::Object& object) {
  ListedEnvironment listed;
  TENON_TRY(listed.record, EnvironmentRecord::FromJson(object));
  Members in(object);
  in.Read("last_used_us", listed.last_used_us);
  in.Read("runs", listed.runs);
  in.Read("in_use", listed.in_use);
  TENON_TRY_VOID(in.status());
  return listed;
}

json::Value ToJsonValue(const std::vector<ListedEnvironment>& listed) {
  json::Array array;
  array.reserve(listed.size());
  for (const ListedEnvironment& one : listed) array.push_back(one.ToJson());
  return array;
}

void ReadValue(Members& in, std::string_view key, std::vector<ListedEnvironment>& out) {
  const json::Array* array = in.ReadArray(key);
  if (array == nullptr) return;
  for (const json::Value& value : *array) {
    const json::Object* object = value.if_object();
    if (object == nullptr) return in.Fail(key, "an array of objects");
    auto one = ListedEnvironment::FromJson(*object);
    if (!one.ok()) return in.Fail(key, "environments (" + one.error().message + ")");
    out.push_back(std::move(*one));
  }
}

bool IsEnvironmentKey(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace tenon::run
