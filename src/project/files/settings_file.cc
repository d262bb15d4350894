// SPDX-License-Identifier: Apache-2.0
#include "project/files/settings_file.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace tenon::project {
namespace {

using yaml::Kind;
using yaml::Node;

std::string Quoted(std::string_view name) { return "`" + ForTerminal(name) + "`"; }

bool Fits(const Node& node, Expected expected) {
  switch (expected) {
    case Expected::kText:
      return node.scalar();
    case Expected::kBool:
      return node.AsBool().has_value();
    case Expected::kList:
      return node.kind == Kind::kList;
    case Expected::kMap:
      return node.kind == Kind::kMap;
    case Expected::kAnything:
      return true;
  }
  return false;
}

}  // namespace

Result<SettingsFile> SettingsFile::Load(const std::string& root, const std::string& file,
                                        std::span<const Key> keys) {
  TENON_TRY(yaml::Document document, yaml::Document::Load(JoinPath(root, file), file));
  SettingsFile settings(std::move(document));
  const Node& top = settings.document_.root();
  if (top.kind == Kind::kNull) return Invalid(file + ": the file is empty");
  if (top.kind != Kind::kMap) {
    return settings.document_
        .ErrorAt(top.position, "expected settings, found " + std::string(yaml::KindName(top.kind)))
        .WithHint("write one `key: value` per line");
  }
  for (const Node& node : top.children) {
    const Key* known = nullptr;
    for (const Key& key : keys) {
      if (key.name == node.key) known = &key;
    }
    if (known == nullptr) {
      settings.NoteUnknown(node, keys);
    } else if (node.kind != Kind::kNull) {
      Status fits = settings.CheckType(node, *known);
      if (fits.ok()) continue;
      if (!known->forgiving) return std::move(fits).error();
      settings.wrong_types_.push_back(std::move(fits).error());
      settings.ignored_.push_back(known->name);
    }
  }
  return settings;
}

// Messages never show the value: it may be a password in the wrong place.
Status SettingsFile::CheckType(const Node& node, const Key& key) const {
  if (Fits(node, key.expected)) return {};
  const std::string name(key.name);
  const std::string found = ", found " + std::string(yaml::KindName(node.kind));
  switch (key.expected) {
    case Expected::kText: {
      const bool bracket = node.style == yaml::Style::kFlow;
      return ErrorAt(node, name + ": expected text" + found)
          .WithHint(bracket ? "write " + Quoted(Line(key.name, "value")) +
                                  "; a bracket that belongs to the value needs quotes around it"
                            : "write " + Quoted(Line(key.name, "value")));
    }
    case Expected::kBool:
      return ErrorAt(node, name + ": expected true or false" + found)
          .WithHint("write " + Quoted(Line(key.name, "true")) + " or " +
                    Quoted(Line(key.name, "false")));
    case Expected::kList:
      return ErrorAt(node, name + ": expected a list" + found)
          .WithHint("write " + Quoted(Line(key.name, "[one, two]")));
    case Expected::kMap:
      return ErrorAt(node, name + ": expected names with values" + found)
          .WithHint("write " + Quoted(Line(key.name, "{NAME: value}")));
    case Expected::kAnything:
      break;
  }
  return {};
}

void SettingsFile::NoteUnknown(const Node& node, std::span<const Key> keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.emplace_back(key.name);
  std::string text = Origin::File(file(), node.key_position.line, node.key_position.column).Text() +
                     ": unknown key " + Quoted(node.key) + " is ignored";
  if (const auto near = DidYouMean(node.key, names))
    text += "; did you mean " + Quoted(*near) + "?";
  notices_.push_back(std::move(text));
}

const Node* SettingsFile::Find(std::string_view key) const {
  if (std::find(ignored_.begin(), ignored_.end(), key) != ignored_.end()) return nullptr;
  const Node* node = document_.root().Find(key);
  return node == nullptr || node->kind == Kind::kNull ? nullptr : node;
}

Setting<std::string> SettingsFile::Text(std::string_view key, std::string_view otherwise) const {
  const Node* node = Find(key);
  if (node == nullptr) return {std::string(otherwise), Origin::Default()};
  return {node->text, OriginOf(*node)};
}

Setting<bool> SettingsFile::Bool(std::string_view key, bool otherwise) const {
  const Node* node = Find(key);
  if (node == nullptr) return {otherwise, Origin::Default()};
  return {node->AsBool().value_or(otherwise), OriginOf(*node)};
}

Origin SettingsFile::OriginOf(const Node& node) const {
  return Origin::File(file(), node.position.line, node.position.column);
}

Error SettingsFile::ErrorAt(const Node& node, std::string_view what) const {
  return document_.ErrorAt(node.position, what);
}

Error SettingsFile::ErrorAtKey(const Node& node, std::string_view what) const {
  return document_.ErrorAt(node.key_position, what);
}

std::string SettingsFile::Line(std::string_view key, std::string_view value) const {
  const std::string name(key), text(value);
  if (!document_.flow_root()) return name + ": " + text;
  const bool bare =
      text == "true" || text == "false" || text.starts_with('[') || text.starts_with('{');
  return "\"" + name + "\": " + (bare ? text : "\"" + text + "\"");
}

Error SettingsFile::Missing(std::string_view key, std::string_view why,
                            std::string_view value) const {
  const Node& top = document_.root();
  for (const Node& node : top.children) {
    if (node.key != key && ToLower(node.key) == ToLower(key)) {
      return ErrorAtKey(
                 node, Quoted(node.key) + " is not " + Quoted(key) + ": upper and lower case count")
          .WithHint("write " + Quoted(Line(key, value)));
    }
  }
  const std::string what = Quoted(key) + " is missing" + std::string(why);
  if (const Node* node = top.Find(key)) {
    return ErrorAtKey(*node, Quoted(key) + " has no value" + std::string(why))
        .WithHint("write " + Quoted(Line(key, value)));
  }
  yaml::Position at = top.position;
  if (document_.flow_root()) {
    ++at.column;
    const std::string comma = top.children.empty() ? "" : ",";
    return document_.ErrorAt(at, what).WithHint("insert here: `" + Line(key, value) + comma + "`");
  }
  return document_.ErrorAt(at, what).WithHint("insert this line here: `" + Line(key, value) + "`");
}

}  // namespace tenon::project
