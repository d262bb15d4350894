// SPDX-License-Identifier: Apache-2.0
#include "environment/python.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace tenon::environment {
namespace {

constexpr PythonVersion kOldest{3, 5, 0};

std::optional<std::vector<int>> ParseParts(std::string_view text) {
  std::vector<int> parts;
  for (const std::string& part : Split(text, '.')) {
    int value = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    parts.push_back(value);
    if (end != part.data() + part.size()) break;  // "0rc1"
  }
  if (parts.empty() || parts.size() > 4) return std::nullopt;
  return parts;
}

std::string PartsText(const std::vector<int>& parts) {
  std::string text;
  for (int part : parts) text += (text.empty() ? "" : ".") + std::to_string(part);
  return text;
}

std::array<int, 3> Numbers(const PythonVersion& version) {
  return {version.major, version.minor, version.micro};
}

Error NotUnderstood(std::string_view text) {
  return Invalid("the Python version \"" + std::string(text) + "\" is not understood")
      .WithHint("write python=3.11, python==3.11.7 or python>=3.9,<3.12");
}

}  // namespace

std::optional<PythonVersion> ParsePythonVersion(std::string_view text) {
  auto parts = ParseParts(Trim(text));
  if (!parts) return std::nullopt;
  parts->resize(3);
  return PythonVersion{(*parts)[0], (*parts)[1], (*parts)[2]};
}

Status PythonConstraint::ParseClause(std::string_view text, std::vector<Clause>& clauses) {
  std::string_view rest = Trim(text);
  if (rest.empty() || rest == "*") return {};
  size_t op_length = rest.find_first_not_of("=<>!~");
  if (op_length == std::string_view::npos || op_length > 3) return NotUnderstood(text);
  Clause clause;
  clause.op = std::string(rest.substr(0, op_length));
  rest = Trim(rest.substr(op_length));
  if (size_t build = rest.find_first_of("= "); build != std::string_view::npos) {
    rest = rest.substr(0, build);
  }
  if (rest == "*") return {};
  bool star = false;
  if (rest.ends_with('*')) {
    rest.remove_suffix(1);
    if (rest.ends_with('.')) rest.remove_suffix(1);
    star = true;
  }
  auto parts = ParseParts(rest);
  if (!parts) return NotUnderstood(text);
  clause.parts = *parts;
  if (clause.op == "~=") {
    if (clause.parts.size() < 2) return NotUnderstood(text);
    clause.op = ">=";
    clauses.push_back(clause);
    clause.parts.pop_back();
    clause.op = "==";
    star = true;
  }
  if (clause.op.empty() || clause.op == "=") {
    clause.op = "==";
    star = true;
  }
  if (clause.op == "===") clause.op = "==";
  static constexpr std::string_view kOps[] = {"==", "!=", ">=", "<=", ">", "<"};
  if (std::find(std::begin(kOps), std::end(kOps), clause.op) == std::end(kOps)) {
    return NotUnderstood(text);
  }
  clause.prefix = (clause.op == "==" || clause.op == "!=") && (star || clause.parts.size() < 3);
  clauses.push_back(std::move(clause));
  return {};
}

Result<PythonConstraint> PythonConstraint::Parse(std::string_view text) {
  PythonConstraint constraint;
  for (const std::string& alternative : Split(text, '|')) {
    std::vector<Clause> clauses;
    for (const std::string& part : Split(alternative, ',')) {
      TENON_TRY_VOID(ParseClause(part, clauses));
    }
    if (clauses.empty()) return PythonConstraint();  // one alternative allows every version
    constraint.any_of_.push_back(std::move(clauses));
  }
  return constraint;
}

bool PythonConstraint::Clause::Matches(const PythonVersion& version) const {
  auto numbers = Numbers(version);
  if (prefix) {
    bool same = true;
    for (size_t i = 0; i < std::min<size_t>(parts.size(), 3); ++i) same &= parts[i] == numbers[i];
    return same == (op == "==");
  }
  std::vector<int> padded = parts;
  padded.resize(3);
  PythonVersion wanted{padded[0], padded[1], padded[2]};
  if (op == "==") return version == wanted;
  if (op == "!=") return version != wanted;
  if (op == ">=") return version >= wanted;
  if (op == "<=") return version <= wanted;
  if (op == ">") return version > wanted;
  return version < wanted;
}

bool PythonConstraint::Matches(const PythonVersion& version) const {
  auto all = [&](const std::vector<Clause>& clauses) {
    return std::all_of(clauses.begin(), clauses.end(),
                       [&](const Clause& clause) { return clause.Matches(version); });
  };
  return any_of_.empty() || std::any_of(any_of_.begin(), any_of_.end(), all);
}

std::optional<std::string> PythonConstraint::AsPep440() const {
  if (any_of_.empty()) return "";
  if (any_of_.size() > 1) return std::nullopt;
  std::string text;
  for (const Clause& clause : any_of_[0]) {
    text += (text.empty() ? "" : ",") + clause.op + PartsText(clause.parts) +
            (clause.prefix && clause.parts.size() < 3 ? ".*" : "");
  }
  return text;
}

const Interpreter* ChoosePython(std::span<const Interpreter> interpreters,
                                const PythonConstraint& constraint) {
  const Interpreter* best = nullptr;
  PythonVersion best_version;
  for (const Interpreter& interpreter : interpreters) {
    auto version = ParsePythonVersion(interpreter.version);
    if (!version || *version < kOldest || !constraint.Matches(*version)) continue;
    if (best && (constraint.empty() || *version <= best_version)) continue;
    best = &interpreter;
    best_version = *version;
  }
  return best;
}

}  // namespace tenon::environment
