// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/options.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace tenon::cli {
namespace {

bool HaveOneInCommon(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

bool HaveOneInCommon(const Option& a, const Option& b) {
  return HaveOneInCommon(a.short_names(), b.short_names()) ||
         HaveOneInCommon(a.long_names(), b.long_names()) ||
         (a.is_argument() && a.argument() == b.argument());
}

}  // namespace

Option::Option(std::string names, Target target, std::string help)
    : names_(std::move(names)), target_(target), help_(std::move(help)) {
  for (const std::string& name : Split(names_, ',')) {
    if (name.starts_with("--")) {
      long_names_.push_back(name.substr(2));
    } else if (name.starts_with("-")) {
      TENON_CHECK(name.size() == 2);
      short_names_.push_back(name.substr(1));
    } else {
      TENON_CHECK(argument_.empty() && takes_value());
      argument_ = name;
    }
  }
  TENON_CHECK(is_option() || is_argument());
}

Option& Option::Type(std::string name) {
  TENON_CHECK(takes_value());
  type_ = std::move(name);
  return *this;
}

Option& Option::Required() {
  required_ = true;
  return *this;
}

Option& Option::OneOf(std::vector<std::string> words) {
  TENON_CHECK(takes_value());
  choices_ = std::move(words);
  return *this;
}

Option& Option::Between(int least, int most) {
  TENON_CHECK(takes_value() && least <= most);
  range_ = {least, most};
  return *this;
}

Option& Option::OneEach() {
  TENON_CHECK(takes_many());
  one_each_ = true;
  return *this;
}

Option& Option::ValueMayBeMissing() {
  TENON_CHECK(takes_value() && !takes_many());
  value_may_be_missing_ = true;
  return *this;
}

Option& Option::AnyCase() {
  any_case_ = true;
  return *this;
}

Option& Option::Global() {
  global_ = true;
  return *this;
}

Option& Option::Excludes(Option& other) {
  TENON_CHECK(&other != this);
  excluded_.push_back(&other);
  return *this;
}

bool Option::takes_value() const {
  return !std::holds_alternative<Asks>(target_) && !std::holds_alternative<bool*>(target_);
}

std::string Option::type() const {
  if (!type_.empty() || !takes_value()) return type_;
  if (std::holds_alternative<size_t*>(target_)) return "UINT";
  const bool number =
      std::holds_alternative<int*>(target_) || std::holds_alternative<int64_t*>(target_);
  return number ? "INT" : "TEXT";
}

Option& OptionTable::Add(std::string names, Option::Target target, std::string help) {
  Option& added = options_.emplace_back(std::move(names), target, std::move(help));
  for (const Option& other : options_) {
    TENON_CHECK(&other == &added || !HaveOneInCommon(other, added));
  }
  return added;
}

Option& OptionTable::Flag(std::string names, bool* target, std::string help) {
  return Add(std::move(names), target, std::move(help));
}

void OptionTable::Usage(std::string usage) {
  TENON_CHECK(usage.starts_with("tenon"));
  usage_ = std::move(usage);
}

std::string_view OptionTable::name() const {
  const size_t space = command_.rfind(' ');
  return std::string_view(command_).substr(space == std::string::npos ? 0 : space + 1);
}

std::vector<std::string> OptionTable::LongNames() const {
  std::vector<std::string> names;
  for (const Option& option : options_) {
    for (const std::string& name : option.long_names()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace tenon::cli
