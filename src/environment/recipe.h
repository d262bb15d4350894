// SPDX-License-Identifier: Apache-2.0
// The commands that make an environment from what a project asks for and what a machine has. Pure:
// whoever carries a recipe out learns more (no channel answers, no such Python to download), says
// so in Found, and asks again.
//
//   only Python and pip lines: an interpreter that matches, a virtual environment, pip lines by uv
//     (else by pip). None matches: uv fetches one, else it comes from a conda channel.
//   conda packages: micromamba, mamba or conda, else py-rattler; then pip lines into that prefix.
//     No channel answers: what is known to be the same project on PyPI is taken from there, with a
//     notice; anything else is an error with its line.
//   a lock file of uv's: uv sync.
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

// What there is to work with, where the recipe will be carried out.
struct Found {
  std::vector<Interpreter> interpreters;  // in the order of PATH
  bool python_is_named = false;           // the user named the one interpreter that counts
  std::string uv;                         // "" = none
  std::string conda_tool;                 // path of micromamba, mamba or conda
  std::string rattler_python;             // an interpreter that has py-rattler
  std::string rattler_script;             // our program for it
  bool no_rattler = false;                // it cannot be had here
  bool no_managed_python = false;         // uv could not fetch the Python that is asked for
  bool no_channel = false;                // no channel answers
};

struct Places {
  std::string prefix;
  std::string final_prefix;  // where it will lie when it is used; "" = where it is
  std::string cache;
  std::string scratch;
  std::string project;
  std::string staged;  // a conda prefix made elsewhere; "" = none
};

enum class Tool { kUv, kPip, kVenv, kConda, kRattler, kCopy };

// What a failure of a step means beyond itself.
enum class IfFails { kStop, kNoManagedPython, kMayBeNoChannel, kGoOn };

struct RecipeStep {
  std::string name;  // "pip packages"
  Tool tool = Tool::kUv;
  IfFails if_fails = IfFails::kStop;
  std::vector<std::string> argv;                            // empty for kCopy: staged → prefix
  Environment env;                                          // on top of the build's
  std::vector<std::pair<std::string, std::string>> files;   // path, bytes: written first
  std::vector<std::pair<std::string, std::string>> copies;  // from, to: files
};

struct Recipe {
  // Set: py-rattler is needed; get it, or say no_rattler, and ask again. There are no steps then.
  bool wants_rattler = false;
  std::vector<RecipeStep> steps;
  std::string python;  // path of the interpreter that will be there
  std::vector<run::Notice> notices;
  // What pip lines are really installed: `pip` of the file, and conda items taken from PyPI.
  std::vector<run::Package> pip;
};

// kInvalid, kNotFound: it can't be done; the message begins with the line of the file.
Result<Recipe> MakeRecipe(const run::Packages& packages, const Found& found, const Places& places);

// The conda part alone. With no_channel set: kUnavailable.
Result<Recipe> MakeCondaRecipe(const run::Packages& packages, const Found& found,
                               const Places& places);

// Channels as addresses or names a tool understands, in order; conda-forge when none is named.
std::vector<std::string> Channels(const run::Packages& packages);

// "aml_config/conda_dependencies.yml:7: ", or "" when nobody knows.
std::string Where(const std::string& where);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_RECIPE_H_
