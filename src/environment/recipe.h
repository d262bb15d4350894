// SPDX-License-Identifier: Apache-2.0
// The commands that make an environment from what a project asks for and what a machine has. Pure,
// without I/O. The caller carries a recipe out. If it learns something on the way (no channel
// answers, no such Python to download), it sets that in Found and asks for another recipe.
//
//   only Python and pip lines: a virtual environment from an interpreter that matches, pip lines by
//     uv (else by pip). If none matches, uv fetches one; else it comes from a conda channel.
//   conda packages: micromamba, mamba or conda, else py-rattler; then pip lines into that prefix.
//     If no channel answers, packages that are known to be the same project on PyPI are taken from
//     PyPI, with a notice. Any other package is an error that names its line.
//   a lock file of uv: uv sync.
#ifndef TENON_ENVIRONMENT_RECIPE_H_
#define TENON_ENVIRONMENT_RECIPE_H_

#include <string>
#include <utility>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "environment/python.h"
#include "run/event.h"
#include "run/packages.h"

namespace tenon::environment {

// What the machine or container has where the recipe will be carried out.
struct Found {
  std::vector<Interpreter> interpreters;  // in the order of PATH
  bool python_is_named = false;    // the user named the interpreter; it is the only one listed
  std::string uv;                  // "" = none
  std::string conda_tool;          // path of micromamba, mamba or conda
  std::string rattler_python;      // an interpreter that has py-rattler
  std::string rattler_script;      // our program for it
  bool no_rattler = false;         // py-rattler cannot be had
  bool no_managed_python = false;  // uv could not fetch the Python that the project asks for
  bool no_channel = false;         // no channel answers
};

struct Places {
  std::string prefix;
  std::string final_prefix;  // the prefix at the time of use; "" = `prefix`. If set, no pip step
  std::string cache;
  std::string scratch;
  std::string project;
  std::string staged;  // a conda prefix made elsewhere; "" = none
};

enum class Tool { kUv, kPip, kVenv, kConda, kRattler, kCopy };

// What to do when a step fails: stop; or set Found::no_managed_python, or Found::no_channel if the
// tool's output says so, and ask again; or go on.
enum class IfFails { kStop, kNoManagedPython, kMayBeNoChannel, kGoOn };

struct RecipeStep {
  std::string name;  // "pip packages"
  Tool tool = Tool::kUv;
  IfFails if_fails = IfFails::kStop;
  std::vector<std::string> argv;  // empty for kCopy, which copies `staged` to `prefix`
  Environment env;                // added to the build's variables
  std::vector<std::pair<std::string, std::string>> files;   // path, bytes: to be written before
  std::vector<std::pair<std::string, std::string>> copies;  // from, to: files to copy before
};

struct Recipe {
  // If set, the recipe has no steps: the caller gets py-rattler, or sets Found::no_rattler, and
  // asks again.
  bool wants_rattler = false;
  std::vector<RecipeStep> steps;
  std::string python;  // path of the interpreter in the finished environment
  std::vector<run::Notice> notices;
  // The pip lines that are really installed: those of the file, and conda items taken from PyPI.
  std::vector<run::Package> pip;
};

// Fails with kInvalid or kNotFound when no recipe is possible. The message begins with the line of
// the file.
Result<Recipe> MakeRecipe(const run::Packages& packages, const Found& found, const Places& places);

// Like MakeRecipe(), for the conda packages alone. Fails with kUnavailable if `found.no_channel` is
// set.
Result<Recipe> MakeCondaRecipe(const run::Packages& packages, const Found& found,
                               const Places& places);

// The channels in order, as addresses or names that a tool understands; conda-forge when the
// file names none.
std::vector<std::string> Channels(const run::Packages& packages);

// "aml_config/conda_dependencies.yml:7: " for messages, or "" when `where` is empty.
std::string Where(const std::string& where);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_RECIPE_H_
