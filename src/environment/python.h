// SPDX-License-Identifier: Apache-2.0
// Which Python a file asks for, and which of those that are there will do.
#ifndef TENON_ENVIRONMENT_PYTHON_H_
#define TENON_ENVIRONMENT_PYTHON_H_

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::environment {

struct PythonVersion {
  int major = 0;
  int minor = 0;
  int micro = 0;
  auto operator<=>(const PythonVersion&) const = default;  // NOLINT(modernize-use-nullptr)
};
// "3.11.7", "3.13.0rc1" (its letters are dropped); nullopt when it is no version.
std::optional<PythonVersion> ParsePythonVersion(std::string_view text);

struct Interpreter {
  std::string path;
  std::string version;         // "3.6.15"
  bool has_venv = false;       // the module
  bool has_ensurepip = false;  // what venv puts pip in with; Debian leaves it out
  bool has_pip = false;
};

// What a file says after "python". Conda's words and PEP 440's: "=3.6" and "3.6" are 3.6.*,
// "==3.6.3", ">=3.8,<3.12", "~=3.8", "!=3.9.*", "3.7|3.8". "==3.6" is taken as 3.6.*: nobody who
// writes it means 3.6.0. A build string ("=3.6.3=0") is ignored.
class PythonConstraint {
 public:
  static Result<PythonConstraint> Parse(std::string_view text);

  bool Matches(const PythonVersion& version) const;
  bool empty() const { return any_of_.empty(); }
  // For tools that read PEP 440 ("==3.6.*"); "" when it says nothing, nullopt when alternatives
  // make it impossible.
  std::optional<std::string> AsPep440() const;

 private:
  struct Clause {
    std::string op;          // "==", "!=", ">=", "<=", ">", "<"
    std::vector<int> parts;  // of the version
    bool prefix = false;     // ==3.6.*
    bool Matches(const PythonVersion& version) const;
  };
  static Status ParseClause(std::string_view text, std::vector<Clause>& clauses);

  std::vector<std::vector<Clause>> any_of_;
};

// The newest that matches; of equal ones the first. Where nothing is asked for, the first: that is
// the one people mean by "python3". Nullptr: none. Those older than 3.5 don't count: no tool of
// ours makes an environment from them.
const Interpreter* ChoosePython(std::span<const Interpreter> interpreters,
                                const PythonConstraint& constraint);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_PYTHON_H_
