// SPDX-License-Identifier: Apache-2.0
// The options and arguments of one command, as plain data. A command fills its table, the parser
// writes parsed values into it (cli/parse/parser.h), and --help, the manual pages and the
// completion are made from it. A wrong declaration is a programming error and aborts.
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
  // Options that end parsing and set nothing.
  enum class Asks { kHelp, kVersion };
  // Where a value is stored; its type decides what the option takes. A bool is a flag without a
  // value. A vector takes all words that follow. The parser writes only what was typed, so a target
  // keeps its previous value as the default.
  using Target =
      std::variant<Asks, bool*, int*, int64_t*, size_t*, std::string*, std::vector<std::string>*>;

  Option(std::string names, Target target, std::string help);
  Option(const Option&) = delete;
  Option& operator=(const Option&) = delete;

  // The next functions return this option, so that calls can be chained.
  Option& Type(std::string name);                 // name of the value in the help: NAME, DIR
  Option& Required();                             // a line without it is a usage error
  Option& OneOf(std::vector<std::string> words);  // any other value is a usage error
  Option& Between(int least, int most);           // both inclusive
  Option& OneEach();                // for a vector: each use takes one value, not several
  Option& ValueMayBeMissing();      // the name alone counts as given and empties the target
  Option& AnyCase();                // upper and lower case of the name are equal
  Option& Global();                 // listed with the options of every command
  Option& Excludes(Option& other);  // not both on one line; `other` is in the same table

  const std::string& names() const { return names_; }                           // as declared
  const std::vector<std::string>& short_names() const { return short_names_; }  // without dashes
  const std::vector<std::string>& long_names() const { return long_names_; }    // without dashes
  const std::string& argument() const { return argument_; }  // its argument name, or ""
  bool is_option() const { return !short_names_.empty() || !long_names_.empty(); }
  bool is_argument() const { return !argument_.empty(); }
  bool takes_value() const;
  bool takes_many() const { return std::holds_alternative<std::vector<std::string>*>(target_); }
  const Target& target() const { return target_; }
  const std::string& help() const { return help_; }
  std::string type() const;  // as set by Type(), else TEXT, INT or UINT
  const std::vector<std::string>& choices() const { return choices_; }  // of OneOf(), or empty
  const std::optional<std::pair<int, int>>& range() const { return range_; }  // of Between()
  const std::vector<const Option*>& excluded() const { return excluded_; }
  bool required() const { return required_; }
  bool one_each() const { return one_each_; }
  bool value_may_be_missing() const { return value_may_be_missing_; }
  bool any_case() const { return any_case_; }
  bool global() const { return global_; }

  // Whether the last parsed line has this option.
  bool given() const { return given_; }
  void set_given(bool given) { given_ = given; }  // called by the parser

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

// The options and arguments of one command, in declaration order: the help uses this order, and so
// do the arguments on the command line. An Option keeps its address while the table lives. Every
// target must live until the last line is parsed; each command's action owns its targets.
class OptionTable {
 public:
  // `command`: the full name that was used, with the program: "tenon history list".
  explicit OptionTable(std::string command) : command_(std::move(command)) {}
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // `names`: an option's short and long names, an argument's name, or both, separated by commas.
  // None of them may be in the table yet.
  Option& Add(std::string names, Option::Target target, std::string help);
  Option& Flag(std::string names, bool* target, std::string help);

  // From the first word that is no option of this command on, all words belong to the script and
  // land in rest().
  void RestIsTheScripts() { rest_is_the_scripts_ = true; }
  // Sets the usage line, for a command that takes words the table does not list. It must begin with
  // "tenon".
  void Usage(std::string usage);

  const std::string& command() const { return command_; }
  std::string_view name() const;  // the last word of command()
  const std::deque<Option>& options() const { return options_; }
  std::deque<Option>& options() { return options_; }
  bool rest_is_the_scripts() const { return rest_is_the_scripts_; }
  const std::string& usage() const { return usage_; }  // as set, or ""
  // "--yes", "--target" and so on, for "did you mean".
  std::vector<std::string> LongNames() const;

  // The script's words on the last parsed line.
  const std::vector<std::string>& rest() const { return rest_; }
  void set_rest(std::vector<std::string> rest) { rest_ = std::move(rest); }  // called by the parser

 private:
  std::string command_, usage_;
  std::deque<Option> options_;
  std::vector<std::string> rest_;
  bool rest_is_the_scripts_ = false;
};

}  // namespace tenon::cli

#endif  // TENON_CLI_PARSE_OPTIONS_H_
