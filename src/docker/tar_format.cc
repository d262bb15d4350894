// SPDX-License-Identifier: Apache-2.0
#include "docker/tar_format.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace tenon::docker {
namespace {

// POSIX.1-2001's layout.
struct Field {
  size_t at, size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUid{108, 8}, kGid{116, 8}, kSize{124, 12},
    kMtime{136, 12}, kChecksum{148, 8}, kLink{157, 100}, kMagic{257, 8}, kPrefix{345, 155};
constexpr size_t kType = 156;

bool FitsOctal(Field field, uint64_t value) {
  return value < uint64_t{1} << (3 * (field.size - 1));
}

void PutOctal(std::string* block, Field field, uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", static_cast<int>(field.size - 1),
                static_cast<unsigned long long>(value));
  block->replace(field.at, field.size - 1, text, field.size - 1);
}

void PutText(std::string* block, Field field, std::string_view text) {
  block->replace(field.at, std::min(text.size(), field.size), text.substr(0, field.size));
}

// The sum of the bytes as unsigned, which is the standard, and as signed, as in some old archives.
std::pair<int64_t, int64_t> Checksums(std::string_view block) {
  int64_t as_unsigned = 0, as_signed = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    const bool blank = i >= kChecksum.at && i < kChecksum.at + kChecksum.size;
    as_unsigned += blank ? ' ' : static_cast<unsigned char>(block[i]);
    as_signed += blank ? ' ' : static_cast<signed char>(block[i]);
  }
  return {as_unsigned, as_signed};
}

std::string PrintBlock(const TarEntry& entry) {
  std::string block(kTarBlock, '\0');
  PutText(&block, kName, entry.name);
  PutOctal(&block, kMode, entry.mode & 07777);
  PutOctal(&block, kUid, FitsOctal(kUid, entry.uid) ? entry.uid : 0);
  PutOctal(&block, kGid, FitsOctal(kGid, entry.gid) ? entry.gid : 0);
  PutOctal(&block, kSize, FitsOctal(kSize, entry.size) ? entry.size : 0);
  const auto mtime = static_cast<uint64_t>(std::max<int64_t>(entry.mtime, 0));
  PutOctal(&block, kMtime, FitsOctal(kMtime, mtime) ? mtime : 0);
  block[kType] = entry.type;
  PutText(&block, kLink, entry.link);
  PutText(&block, kMagic, std::string_view("ustar\00000", 8));
  PutOctal(&block, {kChecksum.at, 7}, static_cast<uint64_t>(Checksums(block).first));
  block[kChecksum.at + 7] = ' ';
  return block;
}

// "30 path=…\n": the number is the length of the record with the number itself.
std::string PaxRecord(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest;
  for (size_t digits = 0; digits != std::to_string(length).size();) {
    digits = std::to_string(length).size();
    length = rest + digits;
  }
  return std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

std::string_view Text(std::string_view block, Field field) {
  const std::string_view text = block.substr(field.at, field.size);
  return text.substr(0, text.find('\0'));
}

Result<uint64_t> Number(std::string_view block, Field field) {
  const std::string_view text = block.substr(field.at, field.size);
  uint64_t value = 0;
  if (static_cast<unsigned char>(text[0]) == 0x80) {  // GNU: the rest is the number, big endian
    for (size_t i = 1; i < text.size(); ++i) {
      if (value >> 55) return Corrupt("a tar archive has a number that is too large");
      value = value << 8 | static_cast<unsigned char>(text[i]);
    }
    return value;
  }
  if (static_cast<unsigned char>(text[0]) & 0x80) return uint64_t{0};  // a time before 1970
  size_t i = 0;
  while (i < text.size() && text[i] == ' ') ++i;
  for (; i < text.size() && text[i] != '\0' && text[i] != ' '; ++i) {
    if (text[i] < '0' || text[i] > '7') return Corrupt("a tar archive has a damaged head");
    value = value << 3 | static_cast<uint64_t>(text[i] - '0');
  }
  return value;
}

Status ApplyRecord(std::string_view key, std::string_view value, TarEntry* entry) {
  if (key == "path") {
    entry->name = std::string(value);
  } else if (key == "linkpath") {
    entry->link = std::string(value);
  } else if (key == "size" || key == "mtime") {
    const bool negative = value.starts_with('-');
    uint64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data() + (negative ? 1 : 0), end, number);
    const bool whole = rest == end || (key == "mtime" && *rest == '.');
    TENON_EXPECT_PEER(error == std::errc() && whole && number < uint64_t{1} << 62,
                      "a tar archive has a damaged pax record");
    TENON_EXPECT_PEER(!negative || key == "mtime", "a tar archive has a negative size");
    if (key == "size") entry->size = number;
    if (key == "mtime") entry->mtime = negative ? 0 : static_cast<int64_t>(number);
  } else if (key.starts_with("GNU.sparse.")) {
    return Invalid("the tar archive holds a sparse file, which can't be unpacked");
  }
  return {};
}

}  // namespace

std::string PrintTarHead(const TarEntry& entry) {
  std::string records;
  if (entry.name.size() > kName.size) records += PaxRecord("path", entry.name);
  if (entry.link.size() > kLink.size) records += PaxRecord("linkpath", entry.link);
  if (!FitsOctal(kSize, entry.size)) records += PaxRecord("size", std::to_string(entry.size));
  if (!FitsOctal(kUid, entry.uid)) records += PaxRecord("uid", std::to_string(entry.uid));
  if (!FitsOctal(kGid, entry.gid)) records += PaxRecord("gid", std::to_string(entry.gid));
  if (entry.mtime > 0 && !FitsOctal(kMtime, static_cast<uint64_t>(entry.mtime))) {
    records += PaxRecord("mtime", std::to_string(entry.mtime));
  }
  std::string head;
  if (!records.empty()) {
    TarEntry pax;
    pax.type = 'x';
    pax.name = "PaxHeaders/entry";
    pax.size = records.size();
    head = PrintBlock(pax) + records;
    head.append(TarPadding(records.size()), '\0');
  }
  return head + PrintBlock(entry);
}

Result<TarEntry> ParseTarHead(std::string_view block) {
  TENON_CHECK(block.size() == kTarBlock);
  TENON_TRY(const uint64_t checksum, Number(block, kChecksum));
  const auto [as_unsigned, as_signed] = Checksums(block);
  TENON_EXPECT_PEER(
      static_cast<int64_t>(checksum) == as_unsigned || static_cast<int64_t>(checksum) == as_signed,
      "a tar archive has a damaged head");
  TarEntry entry;
  entry.type = block[kType];
  entry.name = std::string(Text(block, kName));
  // GNU has other things where POSIX has the prefix.
  if (block.substr(kMagic.at, 6) == std::string_view("ustar\0", 6)) {
    const std::string_view prefix = Text(block, kPrefix);
    if (!prefix.empty()) entry.name = std::string(prefix) + "/" + entry.name;
  }
  entry.link = std::string(Text(block, kLink));
  TENON_TRY(const uint64_t mode, Number(block, kMode));
  entry.mode = static_cast<uint32_t>(mode & 07777);
  TENON_TRY(entry.size, Number(block, kSize));
  TENON_TRY(const uint64_t mtime, Number(block, kMtime));
  entry.mtime = static_cast<int64_t>(std::min<uint64_t>(mtime, uint64_t{1} << 62));
  return entry;
}

Status ApplyPax(std::string_view records, TarEntry* entry) {
  while (!records.empty()) {
    size_t length = 0;
    const char* end = records.data() + records.size();
    const auto [rest, error] = std::from_chars(records.data(), end, length);
    const auto digits = static_cast<size_t>(rest - records.data());
    TENON_EXPECT_PEER(error == std::errc() && rest != end && *rest == ' ' && length > digits + 1 &&
                          length <= records.size() && records[length - 1] == '\n',
                      "a tar archive has a damaged pax record");
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    const size_t equals = record.find('=');
    TENON_EXPECT_PEER(equals != std::string_view::npos, "a tar archive has a damaged pax record");
    TENON_TRY_VOID(ApplyRecord(record.substr(0, equals), record.substr(equals + 1), entry));
    records.remove_prefix(length);
  }
  return {};
}

}  // namespace tenon::docker
