// SPDX-License-Identifier: Apache-2.0
// A property of edits that must hold for any file: after an edit and its reverse, every byte is as
// before. Used by the tests over whole files and by the fuzzer.
#ifndef TENON_YAML_EDIT_PROPERTY_H_
#define TENON_YAML_EDIT_PROPERTY_H_

#include <string>
#include <vector>

#include "yaml/edit.h"

namespace tenon::yaml {

class EditProperty {
 public:
  // `strict`: every edit must succeed. Otherwise an edit may be refused. `limit`: the number of
  // nodes to visit.
  EditProperty(const Document& document, bool strict, size_t limit = 10'000)
      : document_(document), strict_(strict), left_(limit) {}

  // The first violation in words; "" when there is none.
  std::string Check() {
    Visit(document_.root(), {}, false);
    return complaint_;
  }
  size_t scalars() const { return scalars_; }

 private:
  void Visit(const Node& node, const Path& path, bool lone_key) {
    if (!complaint_.empty() || left_ == 0) return;
    --left_;
    // A key in braces without a colon: no edit can restore this form.
    if (node.scalar() || (node.kind == Kind::kNull && !lone_key && !path.empty())) {
      ++scalars_;
      for (const NewValue& value : {NewValue::Text("some other value"), NewValue::Text("[\"x': #"),
                                    NewValue::Bool(true), NewValue::Null()}) {
        SetAndBack(node, path, value);
      }
    }
    if (node.kind == Kind::kMap) AddAndRemove(node, path);
    if (node.kind == Kind::kList) AppendAndRemove(node, path);
    for (size_t i = 0; i < node.children.size(); ++i) {
      const Node& child = node.children[i];
      Path inner = path;
      inner.push_back(node.kind == Kind::kMap ? child.key : std::to_string(i));
      const bool lone = child.range.size() == 0 && child.range.begin > 0 &&
                        document_.bytes()[child.range.begin - 1] != ':' &&
                        document_.bytes()[child.range.begin - 1] != '-';
      Visit(child, inner, lone);
    }
  }

  void SetAndBack(const Node& node, const Path& path, const NewValue& value) {
    const Result<std::string> changed = Set(document_, path, value);
    if (!Worked(changed, "Set", path)) return;
    const Result<Document> after = Document::Parse("f", *changed);
    if (!after.ok()) return Complain("the changed file does not parse", path);
    const Node* now = FindPath(*after, path);
    if (now == nullptr) return Complain("the value is gone", path);
    const bool reads = value.kind == Kind::kBool
                           ? now->AsBool() == true
                           : now->kind == value.kind && now->text == value.text;
    if (!reads) return Complain("the value reads as something else", path);
    if (!SameElsewhere(document_.root(), after->root(), &node)) {
      return Complain("another value changed", path);
    }
    const std::string old = document_.bytes().substr(node.range.begin, node.range.size());
    Undone(SetSource(*after, path, old), "SetSource", path);
  }

  void AddAndRemove(const Node& node, const Path& path) {
    Path added = path;
    std::string name = "AnotherName";
    while (node.Find(name) != nullptr) name += "_";
    added.push_back(name);
    const Result<std::string> changed = Set(document_, added, NewValue::Text("value"));
    if (!Worked(changed, "Set of a new member", added)) return;
    const Result<Document> after = Document::Parse("f", *changed);
    if (!after.ok()) return Complain("the longer file does not parse", added);
    Undone(Remove(*after, added), "Remove", added);
  }

  void AppendAndRemove(const Node& node, const Path& path) {
    const Result<std::string> changed = Append(document_, path, NewValue::Text("value"));
    if (!Worked(changed, "Append", path)) return;
    const Result<Document> after = Document::Parse("f", *changed);
    if (!after.ok()) return Complain("the longer file does not parse", path);
    Path added = path;
    added.push_back(std::to_string(node.children.size()));
    Undone(Remove(*after, added), "Remove", added);
  }

  bool Worked(const Result<std::string>& result, const char* what, const Path& path) {
    if (!result.ok() && strict_) Complain(what + (": " + result.error().message), path);
    return result.ok();
  }

  void Undone(const Result<std::string>& result, const char* what, const Path& path) {
    // In fuzzed documents the reverse edit may be refused. It must never give other bytes.
    if (!result.ok() && !strict_) return;
    if (!result.ok()) return Complain(what + (" back: " + result.error().message), path);
    if (*result != document_.bytes()) Complain(std::string(what) + " gives other bytes", path);
  }

  void Complain(const std::string& what, const Path& path) {
    if (!complaint_.empty()) return;
    complaint_ = document_.file_name() + ": at";
    for (const std::string& step : path) complaint_ += " `" + step + "`";
    complaint_ += ": " + what;
  }

  static bool SameElsewhere(const Node& a, const Node& b, const Node* except) {
    if (a.key != b.key || a.children.size() != b.children.size()) return false;
    if (&a != except && (a.kind != b.kind || a.text != b.text)) return false;
    for (size_t i = 0; i < a.children.size(); ++i) {
      if (!SameElsewhere(a.children[i], b.children[i], except)) return false;
    }
    return true;
  }

  const Document& document_;
  bool strict_;
  size_t left_;
  size_t scalars_ = 0;
  std::string complaint_;
};

}  // namespace tenon::yaml

#endif  // TENON_YAML_EDIT_PROPERTY_H_
