// SPDX-License-Identifier: Apache-2.0
// Objects and trees that a host may send, through the functions that the client uses: frames with
// objects, and trees that name folders many times. The options of the fuzzer limit the memory
// (scripts/lib/run_tests.py). For journals see history/host_fuzz.cc.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/check.h"
#include "base/frames.h"
#include "base/fuzz_input.h"
#include "base/temp_folder.h"
#include "snapshot/freeze/unpack.h"
#include "snapshot/store/object_store.h"
#include "snapshot/store/tree_read.h"
#include "snapshot/transfer/transfer.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kMostVisited = 2000;

// One store for all inputs of the process. Inputs don't disturb each other, because objects are
// named by their contents.
struct Near {
  Near()
      : objects(std::move(*ObjectStore::Open(temp / "objects"))),
        receiver(objects, temp / "incoming") {}
  TempFolder temp;
  ObjectStore objects;
  ObjectReceiver receiver;
};

Near& TheNear() {
  static Near near;
  return near;
}

void Frames(FuzzInput in) {
  FrameReader reader;
  const size_t piece = in.Number() + 1;
  while (!in.empty()) {
    reader.Feed(in.Bytes(piece));
    for (;;) {
      auto frame = reader.Next();
      if (!frame.ok()) return;
      if (!*frame) break;
      (void)TheNear().receiver.Take((*frame)->head, (*frame)->body).ok();
    }
  }
}

// Each folder has up to 15 entries, mostly folders made before it, so that depth and repetition
// grow as fast as possible.
void Tree(FuzzInput in) {
  ObjectStore& objects = TheNear().objects;
  const auto content = objects.Put("x");
  if (!content.ok()) return;
  std::vector<Hash> folders;
  while (!in.empty() && folders.size() < 200) {
    std::vector<NodeItem> items;
    std::vector<std::string> names;
    const size_t count = in.Byte() & 15;
    for (size_t i = 0; i < count; ++i) names.push_back("n" + std::to_string(10 + i));
    for (size_t i = 0; i < count; ++i) {
      NodeItem item;
      item.name = names[i];
      item.mode = 0755;
      const size_t which = in.Byte();
      if (folders.empty() || which % 8 == 7) {
        item.hash = *content;
        item.size = 1;
      } else {
        item.type = EntryType::kFolder;
        item.hash = folders[folders.size() - 1 - which % folders.size()];
      }
      items.push_back(item);
    }
    auto folder = EncodeFolder(items, [&](const std::string& bytes) { return objects.Put(bytes); });
    if (!folder.ok()) return;
    folders.push_back(*folder);
  }
  if (folders.empty()) return;
  const bool fits = CheckEntryCount(objects, folders.back()).ok();
  size_t visited = 0;
  const auto walked = Walk(objects, folders.back(), [&](const Entry&) {
    return ++visited < kMostVisited ? Status() : Status(Invalid("enough"));
  });
  TENON_CHECK(fits || !walked.ok());
  std::unordered_set<Hash> reached;
  TENON_CHECK(Reachable(objects, folders.back(), &reached).ok());
}

}  // namespace
}  // namespace tenon::snapshot

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon::snapshot;
  if (size == 0) return 0;
  const tenon::FuzzInput in(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    Frames(in);
  } else {
    Tree(in);
  }
  return 0;
}
