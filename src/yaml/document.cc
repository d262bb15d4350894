// SPDX-License-Identifier: Apache-2.0
#include "yaml/document.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "yaml/parser.h"
#include "yaml/source.h"

namespace tenon::yaml {
namespace {

Error TooLarge(const std::string& file_name, uint64_t bytes) {
  return Invalid(file_name + ": " + HumanBytes(bytes) +
                 " are too much for a file of settings (at most " + HumanBytes(kMaxBytes) + ")")
      .WithHint("if something else lies at this name, move it away");
}

}  // namespace

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kBool:
      return "true or false";
    case Kind::kText:
      return "text";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a mapping";
  }
  return "nothing";
}

const Node* Node::Find(std::string_view name) const {
  if (kind != Kind::kMap) return nullptr;
  for (const Node& child : children) {
    if (child.key == name) return &child;
  }
  return nullptr;
}

std::optional<bool> Node::AsBool() const {
  if (!scalar() || style == Style::kBlockText) return std::nullopt;
  const std::string lower = ToLower(text);
  if (lower == "true") return true;
  if (lower == "false") return false;
  if (style != Style::kPlain) return std::nullopt;
  if (lower == "yes" || lower == "on") return true;
  if (lower == "no" || lower == "off") return false;
  return std::nullopt;
}

Result<Document> Document::Parse(std::string file_name, std::string bytes) {
  if (bytes.size() > kMaxBytes) return TooLarge(file_name, bytes.size());
  Document document;
  document.file_name_ = std::move(file_name);
  document.bytes_ = std::move(bytes);
  const Source source(document.bytes_);
  std::optional<Mistake> mistake = source.FindForeignBytes();
  if (!mistake) mistake = source.FindTabBesideExplicitKeys();
  if (!mistake) mistake = ParseInto(document.bytes_, source, &document.root_);
  if (mistake) return document.ErrorAt(mistake->at, mistake->what).WithHint(mistake->hint);
  return document;
}

Result<Document> Document::Load(const std::string& path, std::string file_name) {
  // A pipe or device at this path would block or never end, so check the file type before opening.
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return FromErrno(file_name, errno);
  if (!S_ISREG(info.st_mode)) {
    return Invalid(file_name + ": not a file").WithHint("move away what lies at this name");
  }
  if (static_cast<uint64_t>(info.st_size) > kMaxBytes) return TooLarge(file_name, info.st_size);
  TENON_TRY(std::string bytes, ReadFile(path));
  return Parse(std::move(file_name), std::move(bytes));
}

Error Document::ErrorAt(Position at, std::string_view what) const {
  return Invalid(file_name_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                 ": " + std::string(what));
}

}  // namespace tenon::yaml
