// SPDX-License-Identifier: Apache-2.0
// Packs described structs (base/fields.h) into bytes and reads them back. Each member carries its
// tag. A reader skips members it does not know and gives missing members their defaults, so a
// member can be added and older bytes stay readable.
//
// A struct is its length, then its members. A member is a varint of tag and kind, then the value:
//   kVarint   integers (signed ones zigzag), booleans, enumerators
//   kFixed    a double, 8 bytes, little endian
//   kBytes    a length and that many bytes: text, a struct, a list or map (count, then values), a
//             variant (index, then value)
// An optional that is empty, and a member that has its default, is left out.
//
// The decoder refuses enumerators above `constexpr int LastOf(E)`, which is declared beside the
// enum.
#ifndef TENON_BASE_FIELD_CODEC_H_
#define TENON_BASE_FIELD_CODEC_H_

#include <bit>
#include <cstring>
#include <utility>
#include <variant>

#include "base/fields.h"

namespace tenon {

enum class FieldKind : uint8_t { kVarint = 0, kFixed = 1, kBytes = 2 };

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
constexpr FieldKind FieldKindOf() {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return FieldKind::kVarint;
  } else if constexpr (std::is_same_v<T, double>) {
    return FieldKind::kFixed;
  } else if constexpr (IsOptional<T>::value) {
    return FieldKindOf<typename T::value_type>();
  } else {
    return FieldKind::kBytes;
  }
}

static_assert(std::endian::native == std::endian::little,
              "doubles are stored as they lie in memory");

class FieldEncoder {
 public:
  // Appends one value. May be called again.
  template <typename T>
  void Put(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      Varint(value.size());
      out_ += value;
    } else if constexpr (std::is_enum_v<T>) {
      Varint(static_cast<uint64_t>(value));
    } else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
      const auto wide = static_cast<int64_t>(value);
      Varint((static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
    } else if constexpr (std::is_integral_v<T>) {
      Varint(value);
    } else if constexpr (std::is_same_v<T, double>) {
      out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      const size_t start = out_.size();
      PutBody(value);
      InsertLength(start);
    }
  }

  // Appends a struct with only the given ones of its fields.
  template <typename T, typename... F>
  void PutFields(const T& value, const std::tuple<F...>& fields) {
    const size_t start = out_.size();
    std::apply([&](const auto&... field) { (PutMember(value, field), ...); }, fields);
    InsertLength(start);
  }

  std::string Take() { return std::move(out_); }

 private:
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      out_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    out_ += static_cast<char>(value);
  }

  void InsertLength(size_t start) {
    FieldEncoder length;
    length.Varint(out_.size() - start);
    out_.insert(start, length.out_);
  }

  template <typename T, typename S, typename M>
  void PutMember(const T& value, const Field<S, M>& field) {
    const M& member = value.*field.member;
    if (SaysNoMore(member, DefaultOf<T>().*field.member)) return;
    Varint(uint64_t{field.tag} << 2 | static_cast<uint64_t>(FieldKindOf<M>()));
    if constexpr (IsOptional<M>::value) {
      Put(*member);
    } else {
      Put(member);
    }
  }

  template <Described T>
  void PutBody(const T& value) {
    ForEachField<T>([&](const auto& field) { PutMember(value, field); });
  }
  template <typename T>
  void PutBody(const std::vector<T>& items) {
    Varint(items.size());
    for (const T& item : items) Put(item);
  }
  template <typename K, typename V>
  void PutBody(const std::map<K, V>& items) {
    Varint(items.size());
    for (const auto& [key, value] : items) {
      Put(key);
      Put(value);
    }
  }
  template <typename K, typename V>
  void PutBody(const std::pair<K, V>& pair) {
    Put(pair.first);
    Put(pair.second);
  }
  template <typename... T>
  void PutBody(const std::variant<T...>& value) {
    Varint(value.index());
    std::visit([&](const auto& v) { Put(v); }, value);
  }

  std::string out_;
};

// Overwrites the values it is given and reuses their memory. After the first error ok() is false,
// and values read from then on mean nothing.
class FieldDecoder {
 public:
  explicit FieldDecoder(std::string_view in) : in_(in) {}

  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      value.assign(Bytes());
    } else if constexpr (std::is_enum_v<T>) {
      const uint64_t raw = Varint();
      if (raw > static_cast<uint64_t>(LastOf(T{}))) return Fail();
      value = static_cast<T>(raw);
    } else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
      const uint64_t raw = Varint();
      value = static_cast<T>(static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1));
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(Varint());
    } else if constexpr (std::is_same_v<T, double>) {
      const std::string_view raw = Cut(sizeof value);
      if (ok_) std::memcpy(&value, raw.data(), sizeof value);
    } else {
      FieldDecoder inner(Bytes());
      inner.GetBody(value);
      if (!inner.ok_ || !inner.at_end()) Fail();
    }
  }

  template <typename T, typename... F>
  void GetFields(T& value, const std::tuple<F...>& fields) {
    FieldDecoder inner(Bytes());
    const T& defaults = DefaultOf<T>();
    std::apply([&](const auto&... field) { (inner.GetMember(value, defaults, field), ...); },
               fields);
    inner.SkipRest();
    if (!inner.ok_) Fail();
  }

  bool ok() const { return ok_; }
  bool at_end() const { return in_.empty(); }

 private:
  void Fail() {
    ok_ = false;
    in_ = {};
    key_ = kNoMore;
  }
  std::string_view Cut(size_t n) {
    if (n > in_.size()) {
      Fail();
      return {};
    }
    const std::string_view bytes = in_.substr(0, n);
    in_.remove_prefix(n);
    return bytes;
  }
  std::string_view Bytes() { return Cut(Count()); }
  uint64_t Varint() {
    // Most are one byte long.
    if (!in_.empty() && static_cast<uint8_t>(in_.front()) < 0x80) {
      const auto byte = static_cast<uint8_t>(in_.front());
      in_.remove_prefix(1);
      return byte;
    }
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
  // Reads a count of items. Each item takes a byte at least, so the count can't exceed the bytes
  // left.
  size_t Count() {
    const uint64_t n = Varint();
    if (n > in_.size()) {
      Fail();
      return 0;
    }
    return n;
  }

  // Returns the tag and kind of the next member; kNoMore at the end. They are read once and kept
  // until TakeKey(): most members of a struct are left out, and each of them asks.
  uint64_t PeekKey() {
    if (key_ != kNotRead) return key_;
    const uint8_t first = in_.empty() ? 0 : static_cast<uint8_t>(in_.front());
    if (first == 0 || first >= 0x80) return ReadKey();
    in_.remove_prefix(1);
    return key_ = first;
  }
  uint64_t ReadKey() {
    key_ = in_.empty() ? kNoMore : Varint();
    if (key_ == kNotRead) Fail();  // no member has the tag 0
    return key_;
  }
  FieldKind TakeKey() { return static_cast<FieldKind>(std::exchange(key_, kNotRead) & 3); }
  void SkipMembersBelow(uint64_t tag) {
    while (PeekKey() >> 2 < tag) SkipValue(TakeKey());
  }
  void SkipRest() { SkipMembersBelow(kNoMore >> 2); }
  void SkipValue(FieldKind kind) {
    switch (kind) {
      case FieldKind::kVarint:
        Varint();
        return;
      case FieldKind::kFixed:
        Cut(sizeof(double));
        return;
      case FieldKind::kBytes:
        Bytes();
        return;
    }
    Fail();
  }

  template <typename M>
  static void SetDefault(M& member, const M& by_default) {
    if constexpr (requires { member.empty(); }) {
      if (member.empty() && by_default.empty()) return;
    }
    member = by_default;
  }

  template <typename T, typename S, typename M>
  void GetMember(T& value, const T& defaults, const Field<S, M>& field) {
    M& member = value.*field.member;
    if (PeekKey() >> 2 < field.tag) SkipMembersBelow(field.tag);
    if (key_ >> 2 != field.tag) return SetDefault(member, defaults.*field.member);
    if (TakeKey() != FieldKindOf<M>()) return Fail();
    if constexpr (IsOptional<M>::value) {
      Get(member ? *member : member.emplace());
    } else {
      Get(member);
    }
  }

  template <Described T>
  void GetBody(T& value) {
    const T& defaults = DefaultOf<T>();
    ForEachField<T>([&](const auto& field) { GetMember(value, defaults, field); });
    SkipRest();
  }
  template <typename T>
  void GetBody(std::vector<T>& items) {
    const size_t n = Count();
    if (items.size() > n) items.resize(n);
    for (size_t i = 0; i < n && ok_; ++i) Get(i < items.size() ? items[i] : items.emplace_back());
  }
  template <typename K, typename V>
  void GetBody(std::map<K, V>& items) {
    const size_t n = Count();
    auto at = items.begin();  // keys are stored in order; `items` often has the same ones
    for (size_t i = 0; i < n && ok_; ++i) {
      K key{};
      Get(key);
      if (at == items.end() || at->first != key) {
        items.erase(at, items.end());
        at = items.emplace_hint(items.end(), std::move(key), V{});
      }
      Get(at->second);
      ++at;
    }
    items.erase(at, items.end());
  }
  template <typename K, typename V>
  void GetBody(std::pair<K, V>& pair) {
    Get(pair.first);
    Get(pair.second);
  }
  template <typename... T>
  void GetBody(std::variant<T...>& value) {
    const uint64_t index = Varint();
    uint64_t i = 0;
    bool found = false;
    ((i++ == index ? (GetAlternative<T>(value), found = true) : false), ...);
    if (!found) Fail();
  }
  template <typename T, typename V>
  void GetAlternative(V& value) {
    auto* held = std::get_if<T>(&value);
    Get(held ? *held : value.template emplace<T>());
  }

  static constexpr uint64_t kNotRead = 0, kNoMore = UINT64_MAX;

  std::string_view in_;
  uint64_t key_ = kNotRead;  // of the next member
  bool ok_ = true;
};

// Pack() returns a value as bytes, Unpack() reads it back. Unpack() returns false when the bytes
// are not what Pack() makes; `value` then means nothing.
template <typename T>
std::string Pack(const T& value) {
  FieldEncoder encoder;
  encoder.Put(value);
  return encoder.Take();
}
template <typename T>
bool Unpack(std::string_view bytes, T& value) {
  FieldDecoder decoder(bytes);
  decoder.Get(value);
  return decoder.ok() && decoder.at_end();
}

}  // namespace tenon

#endif  // TENON_BASE_FIELD_CODEC_H_
