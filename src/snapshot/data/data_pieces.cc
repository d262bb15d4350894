// SPDX-License-Identifier: Apache-2.0
#include "snapshot/data/data_pieces.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "base/compress.h"
#include "base/text.h"

namespace tenon::snapshot {
namespace {

constexpr int kLevel = 1;

bool ParseNumber(std::string_view text, uint64_t* number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *number);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

Status SendDataPieces(int fd, const DataFile& file, size_t index, uint64_t offset,
                      const PutDataPiece& put) {
  std::string buffer(kDataPiece, '\0');
  PieceCompressor compressor(kLevel);
  do {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(kDataPiece, file.size - offset));
    TENON_TRY(const size_t count, ReadAt(fd, std::span(buffer.data(), want), offset));
    if (count < want) {
      return Unavailable(ForTerminal(file.path) + " became shorter while it was read");
    }
    json::Object head{{"op", "data-piece"},
                      {"file", static_cast<int64_t>(index)},
                      {"offset", static_cast<int64_t>(offset)}};
    const std::string_view piece = std::string_view(buffer).substr(0, count);
    auto compressed = compressor.Try(piece);
    if (compressed) head["zstd"] = true;
    TENON_TRY_VOID(put(std::move(head), compressed ? std::move(*compressed) : std::string(piece)));
    offset += count;
  } while (offset < file.size);
  return {};
}

Result<uint64_t> TakeDataPiece(DataReceiver& receiver, const json::Object& head,
                               std::string_view body) {
  const int64_t file = json::GetInt(head, "file", -1), offset = json::GetInt(head, "offset", -1);
  TENON_EXPECT_PEER(file >= 0 && offset >= 0, "a piece of no file");
  std::string raw;
  if (json::GetBool(head, "zstd")) {
    TENON_TRY(raw, Decompress(body, kDataPiece));
    body = raw;
  }
  TENON_TRY_VOID(receiver.Take(static_cast<size_t>(file), static_cast<uint64_t>(offset), body));
  return body.size();
}

std::string PackDataText(std::string_view text) { return Compress(text, kLevel); }

Result<std::string> UnpackDataText(std::string_view body) { return Decompress(body, kMaxDataList); }

std::string LacksToText(const std::vector<DataReceiver::Lack>& lacks) {
  std::string text;
  for (const auto& lack : lacks) {
    text += std::to_string(lack.file) + " " + std::to_string(lack.offset) + "\n";
  }
  return text;
}

Result<std::vector<DataReceiver::Lack>> LacksFromText(std::string_view text, const DataSet& set) {
  std::vector<DataReceiver::Lack> lacks;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t blank = std::min(line.find(' '), line.size());
    uint64_t file = 0, offset = 0;
    TENON_EXPECT_PEER(blank < line.size() && ParseNumber(line.substr(0, blank), &file) &&
                          ParseNumber(line.substr(blank + 1), &offset) && file < set.files.size() &&
                          offset <= set.files[file].size,
                      "the other side asks for a file that is not in the list");
    lacks.push_back({static_cast<size_t>(file), offset});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lacks;
}

}  // namespace tenon::snapshot
