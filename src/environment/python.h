// SPDX-License-Identifier: Apache-2.0
// Which Python a file asks for, and which of the installed ones fits.
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
// "3.11.7", "3.13.0rc1" (the letters are dropped); nullopt when the text is no version.
std::optional<PythonVersion> ParsePythonVersion(std::string_view text);

struct Interpreter {
  std::string path;
  std::string version;         // "3.6.15"
  bool has_venv = false;       // has the module venv
  bool has_ensurepip = false;  // has what venv installs pip with; Debian leaves it out
  bool has_pip = false;
};

// The text after "python" in a file. It may be in the words of conda and of PEP 440: "=3.6" and
// "3.6" are 3.6.*, "==3.6.3", ">=3.8,<3.12", "~=3.8", "!=3.9.*", "3.7|3.8". "==3.6" is taken as
// 3.6.*, because nobody who writes it means 3.6.0. A build string ("=3.6.3=0") is ignored.
class PythonConstraint {
 public:
  // Fails with kInvalid when the text is not understood. An empty text allows every version.
  static Result<PythonConstraint> Parse(std::string_view text);

  bool Matches(const PythonVersion& version) const;
  // Whether every version matches.
  bool empty() const { return any_of_.empty(); }
  // For tools that read PEP 440 ("==3.6.*"). Returns "" when every version matches, nullopt when
  // there are alternatives, which PEP 440 cannot express.
  std::optional<std::string> AsPep440() const;

 private:
  struct Clause {
    std::string op;          // "==", "!=", ">=", "<=", ">", "<"
    std::vector<int> parts;  // parts of the version
    bool prefix = false;     // ==3.6.*
    bool Matches(const PythonVersion& version) const;
  };
  static Status ParseClause(std::string_view text, std::vector<Clause>& clauses);

  std::vector<std::vector<Clause>> any_of_;
};

// Returns the newest interpreter that matches; of equal ones, the first. If nothing is asked for,
// returns the first one, which is what people mean by "python3". Returns nullptr if none fits.
// Ignores Pythons older than 3.5, because our tools cannot make an environment from them. The
// result points into `interpreters`.
const Interpreter* ChoosePython(std::span<const Interpreter> interpreters,
                                const PythonConstraint& constraint);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_PYTHON_H_
