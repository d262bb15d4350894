// SPDX-License-Identifier: Apache-2.0
#include "cli/print/members.h"

#include "base/terminal.h"
#include "base/text.h"

namespace tenon::cli {
namespace {

std::string Shown(const json::Value& value) {
  if (value.is_null()) return "";
  if (value.is_string()) {
    return OneLine(json::DecodeBytes(std::string_view(value.get_string())));
  }
  return json::Print(value);
}

void AddMembers(const json::Object& object, const std::string& prefix, Table* table) {
  for (const auto& member : object) {
    const std::string name = prefix + OneLine(json::DecodeBytes(member.key()));
    if (member.value().is_object()) {
      AddMembers(member.value().get_object(), name + ".", table);
    } else {
      table->Add({name, Shown(member.value())});
    }
  }
}

}  // namespace

Table MembersTable(const json::Object& object) {
  Table table({{"Member"}, {"Value"}});
  AddMembers(object, "", &table);
  return table;
}

void PrintMembers(const Session& session, const json::Object& object) {
  PrintListing(session, object, MembersTable(object));
}

}  // namespace tenon::cli
