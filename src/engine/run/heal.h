// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_HEAL_H_
#define TENON_ENGINE_RUN_HEAL_H_

#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "engine/run/submit.h"

namespace tenon::engine {

// Makes the tree (hex root) whole in our store. Takes damaged objects out, and stores them again
// from the project's folder as far as it still has them. Does nothing when the tree is whole. Fails
// with kCorrupt when the folder no longer has the contents, or there is no folder (`folder.root`
// empty); the message names the files and `run_id`, the run that they belong to.
Status HealTree(Context& context, const ProjectFolder& folder, const std::string& tree,
                const std::string& run_id);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_HEAL_H_
