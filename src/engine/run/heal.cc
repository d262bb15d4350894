// SPDX-License-Identifier: Apache-2.0
#include "engine/run/heal.h"

#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "run/damage.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/store/heal.h"

namespace tenon::engine {

Status HealTree(Context& context, const ProjectFolder& folder, const std::string& tree,
                const std::string& run_id) {
  const auto root = Hash::FromHex(tree);
  TENON_EXPECT_PEER(root.has_value(), "`" + ForTerminal(tree) + "` is not the hash of a tree");
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  TENON_TRY(auto lost, snapshot::DropDamaged(*objects, context.home.objects(), *root));
  // Healing a folder's node shows what is damaged below it, so it is repeated. If the list stays
  // the same, the rest can't be healed.
  for (std::vector<std::string> before; !lost.empty() && !folder.root.empty() && lost != before;) {
    snapshot::FreezeOptions options = FreezeOptionsFor(context, folder);
    options.stat_cache.clear();  // the cache would vouch for the objects just dropped
    TENON_TRY_VOID(snapshot::Freeze(*objects, options));
    before = std::move(lost);
    TENON_TRY(lost, snapshot::DropDamaged(*objects, context.home.objects(), *root));
  }
  if (lost.empty()) return {};
  return Corrupt(run::DamagedSnapshotText(lost) + " and cannot be restored for the run " + run_id)
      .WithHint("the project has other contents by now, or none; `tenon submit` runs it as it is");
}

}  // namespace tenon::engine
