// SPDX-License-Identifier: Apache-2.0
// Any bytes as frames for a receiver. The first byte chooses the kind, the rest is the body, sent
// twice.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/temp_folder.h"
#include "snapshot/store/le.h"
#include "snapshot/transfer/transfer.h"

namespace tenon::snapshot {
namespace {

constexpr size_t kPieceHead = 12;

struct Far {
  Far()
      : store(std::move(*ObjectStore::Open(temp / "store"))), receiver(store, temp / "incoming") {}
  TempFolder temp;
  ObjectStore store;
  ObjectReceiver receiver;
};

void Take(Far& far, uint8_t kind, std::string_view bytes) {
  json::Object head{{"op", "objects"}};
  if (kind & 1) head["zstd"] = true;
  if (kind & 2 && bytes.size() >= kPieceHead) {
    head["op"] = "piece";
    head["hash"] = Sha256Of(bytes.substr(kPieceHead)).Hex();
    head["offset"] = Load32(bytes.data()) % 64;
    head["total"] = static_cast<int64_t>(Load64(bytes.data() + 4) % 4096);
    bytes.remove_prefix(kPieceHead);
  }
  (void)far.receiver.Take(head, bytes).ok();
}

}  // namespace
}  // namespace tenon::snapshot

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tenon::snapshot::Far;
  static Far far;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  tenon::snapshot::Take(far, data[0], bytes);
  tenon::snapshot::Take(far, data[0], bytes);
  return 0;
}
