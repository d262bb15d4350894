// SPDX-License-Identifier: Apache-2.0
// Files of a data set on their way: frames of pieces, and the words around them (docs/runner.md
// § serve, data-…). Both ends are the same code.
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

// Cuts a file into frames, from `offset` on, compressed where that pays; an empty file is one frame
// without bytes. `index`: of the file in its list. kUnavailable: the file is shorter than it was.
//   {"op": "data-piece", "file": N, "offset": N[, "zstd": true]}  body: bytes
Status SendDataPieces(int fd, const DataFile& file, size_t index, uint64_t offset,
                      const PutDataPiece& put);
// Hands such a frame to a receiver. Returns how many bytes of the file it brought.
Result<uint64_t> TakeDataPiece(DataReceiver& receiver, const json::Object& head,
                               std::string_view body);

// A text that may be long, as a body.
std::string PackDataText(std::string_view text);
Result<std::string> UnpackDataText(std::string_view body);

// What is lacking, as text: lines "file offset". kInvalid: not of this list.
std::string LacksToText(const std::vector<DataReceiver::Lack>& lacks);
Result<std::vector<DataReceiver::Lack>> LacksFromText(std::string_view text, const DataSet& set);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_DATA_DATA_PIECES_H_
