// SPDX-License-Identifier: Apache-2.0
// Sends and receives files of a data set in frames (docs/runner.md § serve, data-…). The sender and
// the receiver share this code.
#ifndef TENON_SNAPSHOT_DATA_DATA_PIECES_H_
#define TENON_SNAPSHOT_DATA_DATA_PIECES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "snapshot/data/data_folder.h"

namespace tenon::snapshot {

using PutDataPiece = std::function<Status(json::Object head, std::string body)>;

// Sends a file in frames, starting at `offset`, compressed where that saves space. An empty file is
// one frame without bytes. `index` is the file's position in the list. kUnavailable: the file
// became shorter.
//   {"op": "data-piece", "file": N, "offset": N[, "zstd": true]}  body: bytes
Status SendDataPieces(int fd, const DataFile& file, size_t index, uint64_t offset,
                      const PutDataPiece& put);
// Hands one of these frames to the receiver. Returns how many bytes of the file it contained.
Result<uint64_t> TakeDataPiece(DataReceiver& receiver, const json::Object& head,
                               std::string_view body);

// Compresses a text that may be long into the body of a frame.
std::string PackDataText(std::string_view text);
Result<std::string> UnpackDataText(std::string_view body);

// The missing files as text: lines "file offset". kCorrupt: a line does not fit `set`.
std::string LacksToText(const std::vector<DataReceiver::Lack>& lacks);
Result<std::vector<DataReceiver::Lack>> LacksFromText(std::string_view text, const DataSet& set);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_PIECES_H_
