// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_RUN_HEAL_H_
#define TENON_ENGINE_RUN_HEAL_H_

#include <string>

#include "base/result.h"
#include "engine/context.h"
#include "engine/run/submit.h"

namespace tenon::engine {

// Makes the tree (hex root) whole in our store, if it is not: what is damaged is taken out, and
// what the project's folder still has is read again and put in its place. kCorrupt: the folder has
// it no more, or there is none (`folder.root` empty); names the files and `run_id`, whose they are.
Status HealTree(Context& context, const ProjectFolder& folder, const std::string& tree,
                const std::string& run_id);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_RUN_HEAL_H_
