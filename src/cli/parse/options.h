// SPDX-License-Identifier: Apache-2.0
// The options and arguments of one command, as plain data. A command fills its table in, the parser
// reads words into it (cli/parse/parser.h), and --help, the manual pages and the completion are
// made from it. A mistake in a declaration is ours, so it aborts.
#ifndef TENON_CLI_PARSE_OPTIONS_H_
#define TENON_CLI_PARSE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::cli {

// One option ("-y,--yes"), one argument ("RUN"), or both at once ("NAME,-n,--name").
class Option {
 public:
  // Options that end the parsing instead of setting something.
  enum class Asks { kHelp, kVersion };
  // Where the value lands, and by that what kind of value it is. Only what was typed is written: a
  // target keeps what it holds until then as its default. A bool is a flag without a value; a
  // vector takes as many words as follow.
  using Target =
      std::variant<Asks, bool*, int*, int64_t*, size_t*, std::string*, std::vector<std::string>*>;

  Option(std::string names, Target target, std::string help);
  Option(const Option&) = delete;
  Option& operator=(const Option&) = delete;

  // Each of these returns the option, so that they can be chained.
  Option& Type(std::string name);                 // what the value is called in the help: NAME, DIR
  Option& Required();                             // a line without it is wrong
  Option& OneOf(std::vector<std::string> words);  // every other value is wrong
  Option& Between(int least, int most);           // both included
  Option& OneEach();                // for a vector: one value each time it is named, not several
  Option& ValueMayBeMissing();      // the name alone counts as given, and empties the target
  Option& AnyCase();                // the name may be written in capitals or not
  Option& Global();                 // listed apart, with those of every command
  Option& Excludes(Option& other);  // not both on one line; `other` is of the same table

  const std::string& names() const { return names_; }                           // as declared
  const std::vector<std::string>& short_names() const { return short_names_; }  // without dashes
  const std::vector<std::string>& long_names() const { return long_names_; }    // without dashes
  const std::string& argument() const { return argument_; }  // its name as an argument, or ""
  bool is_option() const { return !short_names_.empty() || !long_names_.empty(); }
  bool is_argument() const { return !argument_.empty(); }
  bool takes_value() const;
  bool takes_many() const { return std::holds_alternative<std::vector<std::string>*>(target_); }
  const Target& target() const { return target_; }
  const std::string& help() const { return help_; }
  std::string type() const;  // as set, or TEXT and the like by the kind of the value
  const std::vector<std::string>& choices() const { return choices_; }        // of OneOf, or none
  const std::optional<std::pair<int, int>>& range() const { return range_; }  // of Between
  const std::vector<const Option*>& excluded() const { return excluded_; }
  bool required() const { return required_; }
  bool one_each() const { return one_each_; }
  bool value_may_be_missing() const { return value_may_be_missing_; }
  bool any_case() const { return any_case_; }
  bool global() const { return global_; }

  // Whether the line that was parsed last has it.
  bool given() const { return given_; }
  void set_given(bool given) { given_ = given; }  // the parser's

 private:
  std::string names_;
  std::vector<std::string> short_names_, long_names_;
  std::string argument_;
  Target target_;
  std::string help_, type_;
  std::vector<std::string> choices_;
  std::optional<std::pair<int, int>> range_;
  std::vector<const Option*> excluded_;
  bool required_ = false, one_each_ = false, value_may_be_missing_ = false, any_case_ = false,
       global_ = false, given_ = false;
};

// All of one command, in the order of their declaration, which is that of the help and, for the
// arguments, of the words. An Option stays where it is as long as the table lives. Every target has
// to live until the last line is parsed; the actions of the commands own theirs.
class OptionTable {
 public:
  // `command`: how the command was said, program included: "tenon history list".
  explicit OptionTable(std::string command) : command_(std::move(command)) {}
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // `names`: short and long names of an option, the name of an argument, or all of them, with
  // commas between. None of them may be in the table already.
  Option& Add(std::string names, Option::Target target, std::string help);
  Option& Flag(std::string names, bool* target, std::string help);

  // The first word that is no option of ours ends our options: it and all that follow are the
  // script's, whatever they look like, and land in rest().
  void RestIsTheScripts() { rest_is_the_scripts_ = true; }
  // The usage line, for a command whose words the table cannot know; begins with "tenon".
  void Usage(std::string usage);

  const std::string& command() const { return command_; }
  std::string_view name() const;  // the last word of command()
  const std::deque<Option>& options() const { return options_; }
  std::deque<Option>& options() { return options_; }
  bool rest_is_the_scripts() const { return rest_is_the_scripts_; }
  const std::string& usage() const { return usage_; }  // as set, or ""
  // "--yes", "--target", …, for "did you mean".
  std::vector<std::string> LongNames() const;

  // What was left for the script on the line that was parsed last.
  const std::vector<std::string>& rest() const { return rest_; }
  void set_rest(std::vector<std::string> rest) { rest_ = std::move(rest); }  // the parser's

 private:
  std::string command_, usage_;
  std::deque<Option> options_;
  std::vector<std::string> rest_;
  bool rest_is_the_scripts_ = false;
};

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_OPTIONS_H_
