// SPDX-License-Identifier: Apache-2.0
#include "history/codec_v4.h"

#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "history/codec.h"
#include "journal/fold.h"

namespace tenon::history {
namespace {

// The number of members that each struct had in version 4: those with the tags up to that number,
// in the order of the tags.
template <typename T>
constexpr uint32_t kMembers = 0;
template <>
constexpr uint32_t kMembers<ProcessId> = 3;
template <>
constexpr uint32_t kMembers<run::Package> = 3;
template <>
constexpr uint32_t kMembers<run::PackageFile> = 2;
template <>
constexpr uint32_t kMembers<run::Packages> = 9;
template <>
constexpr uint32_t kMembers<run::InstalledPackage> = 3;
template <>
constexpr uint32_t kMembers<run::ContainerSpec> = 13;
template <>
constexpr uint32_t kMembers<run::RunSpec> = 38;
template <>
constexpr uint32_t kMembers<run::Submitted> = 3;
template <>
constexpr uint32_t kMembers<run::Step> = 3;
template <>
constexpr uint32_t kMembers<run::Artifact> = 4;
template <>
constexpr uint32_t kMembers<run::Notice> = 3;
template <>
constexpr uint32_t kMembers<run::Proof> = 6;
template <>
constexpr uint32_t kMembers<run::End> = 12;
template <>
constexpr uint32_t kMembers<run::Gap> = 4;
template <>
constexpr uint32_t kMembers<run::RunnerStarted> = 4;
template <>
constexpr uint32_t kMembers<run::ScriptStarted> = 2;
template <>
constexpr uint32_t kMembers<run::ScriptEnded> = 8;
template <>
constexpr uint32_t kMembers<run::EnvironmentReady> = 10;
template <>
constexpr uint32_t kMembers<run::ContainerMade> = 5;
template <>
constexpr uint32_t kMembers<journal::SeriesSummary> = 7;
template <typename T>
constexpr uint32_t kMembers<journal::Said<T>> = 3;
template <>
constexpr uint32_t kMembers<journal::SegmentFold> = 32;
template <>
constexpr uint32_t kMembers<journal::RunView> = 30;

class Version4Decoder {
 public:
  explicit Version4Decoder(std::string_view in) : in_(in) {}

  template <typename T, typename... F>
  void GetFields(T& value, const std::tuple<F...>& fields) {
    // Version 4 did not have this type, so none of its data has a member of it.
    if constexpr (kMembers<T> == 0) return Fail();
    std::apply(
        [&](const auto&... field) {
          ((field.tag <= kMembers<T> ? Get(value.*field.member) : void()), ...);
        },
        fields);
  }
  bool whole() const { return ok_ && in_.empty(); }

 private:
  void Fail() {
    ok_ = false;
    in_ = {};
  }
  std::string_view Bytes(size_t n) {
    if (n > in_.size()) {
      Fail();
      return {};
    }
    const std::string_view bytes = in_.substr(0, n);
    in_.remove_prefix(n);
    return bytes;
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !in_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(in_.front());
      in_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  size_t Size() {
    const uint64_t n = Varint();
    if (n <= in_.size()) return n;
    Fail();
    return 0;
  }

  template <std::unsigned_integral T>
  void Get(T& value) {
    value = static_cast<T>(Varint());
  }
  template <std::signed_integral T>
  void Get(T& value) {
    const uint64_t raw = Varint();
    value = static_cast<T>(static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1));
  }
  void Get(double& value) {
    if (const auto raw = Bytes(sizeof value); ok_) std::memcpy(&value, raw.data(), sizeof value);
  }
  void Get(std::string& text) { text.assign(Bytes(Size())); }
  template <typename T>
  requires std::is_enum_v<T>
  void Get(T& value) {
    const uint64_t raw = Varint();
    if (raw > static_cast<uint64_t>(LastOf(T{}))) return Fail();
    value = static_cast<T>(raw);
  }
  template <typename T>
  void Get(std::optional<T>& value) {
    if (Varint() != 0) Get(value.emplace());
  }
  template <typename K, typename V>
  void Get(std::pair<K, V>& pair) {
    Get(pair.first);
    Get(pair.second);
  }
  template <typename T>
  void Get(std::vector<T>& items) {
    const size_t n = Size();
    for (size_t i = 0; i < n && ok_; ++i) Get(items.emplace_back());
  }
  template <typename K, typename V>
  void Get(std::map<K, V>& items) {
    const size_t n = Size();
    for (size_t i = 0; i < n && ok_; ++i) {
      K key{};
      Get(key);
      Get(items[std::move(key)]);
    }
  }
  void Get(run::MetricValue& value) {
    switch (Varint()) {
      case 0:
        return Get(value.emplace<0>());
      case 1:
        return Get(value.emplace<1>());
      case 2:
        return Get(value.emplace<2>());
      case 3:
        return Get(value.emplace<3>());
      case 4:
        return Get(value.emplace<4>());
      default:
        return Fail();
    }
  }
  template <Described T>
  void Get(T& value) {
    GetFields(value, T::Fields());
  }

  std::string_view in_;
  bool ok_ = true;
};

template <typename T, typename Fields>
std::optional<T> Decode(std::string_view bytes, const Fields& fields) {
  std::string space;
  const auto contents = SealedContents(bytes, &space);
  if (!contents) return std::nullopt;
  Version4Decoder decoder(*contents);
  T value;
  decoder.GetFields(value, fields);
  if (!decoder.whole()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> FoldFromVersion4(std::string_view bytes) {
  const auto fold = Decode<journal::SegmentFold>(bytes, journal::SegmentFold::Fields());
  return fold ? std::optional(EncodeFold(*fold)) : std::nullopt;
}

std::optional<std::string> RowFromVersion4(std::string_view bytes) {
  const auto view = Decode<journal::RunView>(bytes, journal::RunView::RowFields());
  return view ? std::optional(EncodeRow(*view)) : std::nullopt;
}

std::optional<std::string> DetailFromVersion4(std::string_view bytes) {
  const auto view = Decode<journal::RunView>(bytes, journal::RunView::DetailFields());
  return view ? std::optional(EncodeDetail(*view)) : std::nullopt;
}

}  // namespace tenon::history
