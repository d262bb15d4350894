// SPDX-License-Identifier: Apache-2.0
// Structs that are described once. A described struct lists its members in a static function:
//
//   struct Step {
//     std::string name;
//     int64_t duration_us = 0;
//     static constexpr auto Fields() {
//       return std::tuple(Field(1, "name", &Step::name, FieldRule::kAlways),
//                         Field(2, "duration_us", &Step::duration_us));
//     }
//   };
//
// Its JSON form (run/described.h) and its packed form (base/field_codec.h) are made from that list.
// A list that lacks a member does not compile.
#ifndef TENON_BASE_FIELDS_H_
#define TENON_BASE_FIELDS_H_

#include <boost/pfr/tuple_size.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon {

enum class FieldRule : uint8_t {
  kIfSaid,    // left out of JSON while it has the struct's default value
  kAlways,    // always written
  kRequired,  // always written; reading an object without it is an error
};

template <typename S, typename M>
struct Field {
  // `tag` names the member in packed bytes. It is above the tag of the member before, and is never
  // given to another member, not even after this one is removed. `name` names the member in JSON.
  constexpr Field(uint32_t number, std::string_view key, M S::*pointer,
                  FieldRule written = FieldRule::kIfSaid)
      : tag(number), name(key), member(pointer), rule(written) {}

  uint32_t tag;
  std::string_view name;
  M S::*member;
  FieldRule rule;
};

template <typename T>
concept Described = requires {
  T::Fields();
};

// How many members of T are not in its Fields(), because they are stored elsewhere.
template <typename T>
constexpr size_t FieldsElsewhere() {
  if constexpr (requires { T::kFieldsElsewhere; }) {
    return T::kFieldsElsewhere;
  } else {
    return 0;
  }
}

template <typename... F>
constexpr bool TagsAscend(const std::tuple<F...>& fields) {
  return std::apply(
      [](const auto&... field) {
        uint32_t last = 0;
        return ((field.tag > last ? (last = field.tag, true) : false) && ...);
      },
      fields);
}

// Whether no tag is given twice.
template <typename... F>
constexpr bool TagsDiffer(const std::tuple<F...>& fields) {
  return std::apply(
      [](const auto&... field) {
        const auto times = [&](uint32_t tag) { return ((field.tag == tag ? 1 : 0) + ... + 0); };
        return ((times(field.tag) == 1) && ...);
      },
      fields);
}

// Whether Fields() lists every member that is not stored elsewhere.
template <Described T>
constexpr bool ListsEveryMember() {
  return std::tuple_size_v<decltype(T::Fields())> + FieldsElsewhere<T>() ==
         boost::pfr::tuple_size_v<T>;
}

// Calls `visit(field)` for each field of T, in order.
template <Described T, typename F>
constexpr void ForEachField(F&& visit) {
  constexpr auto fields = T::Fields();
  static_assert(ListsEveryMember<T>(), "a member is missing in Fields()");
  static_assert(TagsAscend(fields), "the tags of Fields() have to ascend");
  std::apply([&](const auto&... field) { (visit(field), ...); }, fields);
}

// A default T, to compare with and to take members from.
template <typename T>
const T& DefaultOf() {
  static const T value{};
  return value;
}

// Whether a member adds nothing to its default, so that it can be left out. A wrong false is
// harmless.
template <typename T>
bool SaysNoMore(const T& value, const T& by_default) {
  if constexpr (Described<T>) {
    bool same = true;
    ForEachField<T>([&](const auto& field) {
      same = same && SaysNoMore(value.*field.member, by_default.*field.member);
    });
    return same;
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value() && !by_default.has_value();
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                       std::is_same_v<T, std::string>) {
    return value == by_default;
  } else if constexpr (requires { value.empty(); }) {
    return value.empty() && by_default.empty();
  } else if constexpr (std::equality_comparable<T>) {
    return value == by_default;
  } else {
    return false;
  }
}

}  // namespace tenon

#endif  // TENON_BASE_FIELDS_H_
