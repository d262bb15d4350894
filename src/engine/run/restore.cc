// SPDX-License-Identifier: Apache-2.0
#include "engine/run/restore.h"

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "engine/run/freeze_now.h"
#include "engine/run/heal.h"
#include "engine/run/write_tree.h"
#include "run/damage.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/heal.h"

namespace tenon::engine {
namespace {

bool IsCompute(const snapshot::Entry& entry) {
  return entry.type == snapshot::EntryType::kFile && entry.path.ends_with(".compute");
}

// The recorded copy of a .compute file never has the password line, so it always differs from the
// present file. It counts as changed only if something else differs too.
Result<std::string> MergedCompute(const snapshot::ObjectStore& objects,
                                  const snapshot::Entry& entry, const RestoreOptions& options,
                                  std::string* present) {
  TENON_TRY(std::string recorded, objects.Read(entry.hash));
  auto now = ReadFile(JoinPath(options.folder, entry.path));
  *present = now.ok() ? *now : "";
  if (now.ok() && options.merge_compute) return options.merge_compute(recorded, *now);
  return recorded;
}

Result<Restored> RestoreWhole(Context& context, const journal::RunView& run,
                              const RestoreOptions& options) {
  const auto root = Hash::FromHex(run.spec.kept_tree);
  TENON_EXPECT_PEER(root.has_value(), "the run " + run.spec.id + " has no snapshot on record");
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  TENON_TRY_VOID(MakeDirs(options.folder));
  TENON_TRY(snapshot::Difference difference, snapshot::Compare(*objects, *root, options.folder));

  std::vector<std::pair<snapshot::Entry, std::string>> merged;
  for (auto* list : {&difference.changed, &difference.missing}) {
    for (auto it = list->begin(); it != list->end();) {
      if (!IsCompute(*it)) {
        ++it;
        continue;
      }
      std::string present;
      TENON_TRY(std::string bytes, MergedCompute(*objects, *it, options, &present));
      const bool same = list == &difference.changed && bytes == present;
      if (!same) merged.emplace_back(*it, std::move(bytes));
      if (same || list == &difference.missing) {
        it = list->erase(it);
      } else {
        ++it;  // stays in `changed`, so that it is named and needs --force
      }
    }
  }
  if (!difference.changed.empty() && !options.force) {
    return Invalid("these files have changed since and would be overwritten: " +
                   NameEntries(difference.changed))
        .WithHint(
            "--force overwrites them (their present contents are saved in a snapshot first); "
            "or give another folder");
  }

  // Reads everything first: an object that can't be read stops the restore before anything changes.
  for (const auto* list : {&difference.missing, &difference.changed}) {
    for (const snapshot::Entry& entry : *list) {
      if (entry.type != snapshot::EntryType::kFile || entry.size == 0 || IsCompute(entry)) continue;
      TENON_TRY_VOID(objects->ReadTo(entry.hash, [](std::string_view) { return Status(); }));
    }
  }

  Restored restored;
  if (options.present && !difference.changed.empty()) {
    snapshot::FreezeOptions freeze = FreezeOptionsFor(context, *options.present);
    // What will be overwritten is saved, also key files: the snapshot stays in this home.
    freeze.leave_out_keys = false;
    TENON_TRY(const auto frozen, snapshot::Freeze(*objects, freeze));
    restored.saved_tree = frozen.kept_root.Hex();
    TENON_TRY_VOID(KeepTree(context, restored.saved_tree));
  }
  // After this the present state can be restored, so writing may begin. In the order of paths: a
  // folder that has become a file is made a folder again before its files are written.
  std::vector<const snapshot::Entry*> entries;
  for (const auto* list : {&difference.missing, &difference.changed}) {
    for (const snapshot::Entry& entry : *list) {
      if (!IsCompute(entry)) entries.push_back(&entry);
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto* a, const auto* b) { return a->path < b->path; });
  for (const snapshot::Entry* entry : entries) {
    TENON_TRY_VOID(snapshot::WriteEntry(*objects, *entry, options.folder));
    if (entry->type != snapshot::EntryType::kFolder) restored.written.push_back(entry->path);
  }
  for (const auto& [entry, bytes] : merged) {
    const std::string path = JoinPath(options.folder, entry.path);
    TENON_TRY_VOID(MakeDirs(DirName(path)));
    TENON_TRY_VOID(WriteFileAtomically(path, bytes, entry.mode, Durability::kWhole));
    restored.written.push_back(entry.path);
  }
  std::sort(restored.written.begin(), restored.written.end());
  return restored;
}

}  // namespace

Result<Restored> Restore(Context& context, const journal::RunView& run,
                         const RestoreOptions& options) {
  auto restored = RestoreWhole(context, run, options);
  if (restored.ok()) return restored;
  // A missing object was damaged once, too, and was taken out by the process that noticed.
  const ErrorKind kind = restored.error().kind;
  if (kind != ErrorKind::kCorrupt && kind != ErrorKind::kNotFound) return restored;
  const auto root = Hash::FromHex(run.spec.kept_tree);
  const auto objects = context.Objects();
  if (!root || !objects.ok()) return restored;
  // Takes damaged objects out, so that the next snapshot of a folder with these contents stores
  // them again.
  const auto lost = snapshot::DropDamaged(**objects, context.home.objects(), *root);
  if (!lost.ok() || lost->empty()) return restored;
  if (options.present &&
      HealTree(context, *options.present, run.spec.kept_tree, run.spec.id).ok()) {
    return RestoreWhole(context, run, options);
  }
  const std::string whose = run.spec.id.empty() ? "from the snapshot " + run.spec.kept_tree
                                                : "for the run " + run.spec.id;
  return std::move(restored)
      .error()
      .Wrap(run::DamagedSnapshotText(*lost) + " and cannot be restored " + whose)
      .WithHint("`tenon snapshot` in a folder that still has the same contents mends the store");
}

}  // namespace tenon::engine
