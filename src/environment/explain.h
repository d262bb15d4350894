// SPDX-License-Identifier: Apache-2.0
// From a tool's last words to an error a person can act on: which line of which file asked for the
// package, what the tool said, what may help.
#ifndef TENON_ENVIRONMENT_EXPLAIN_H_
#define TENON_ENVIRONMENT_EXPLAIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "environment/recipe.h"
#include "run/packages.h"

namespace tenon::environment {

// `output` is what the tool wrote last (masked already); `how` how it ended ("exit code 1"). `pip`
// are the pip lines that were really used (Recipe::pip).
Error ExplainFailure(const RecipeStep& step, const run::Packages& packages,
                     const std::vector<run::Package>& pip, std::string_view output,
                     const std::string& how);

// The items whose names stand where the tool says what went wrong; empty when none does.
std::vector<run::Package> FindBlamed(const std::vector<run::Package>& items,
                                     std::string_view output);

// Whether the words of conda, mamba or micromamba mean that no channel answered.
bool SaysNoChannel(std::string_view output);

// The last lines that say something, at most `limit`, without terminal codes and progress bars.
std::string LastWords(std::string_view output, size_t limit = 20);

}  // namespace tenon::environment

#endif  // TENON_ENVIRONMENT_EXPLAIN_H_
