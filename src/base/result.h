// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_RESULT_H_
#define TENON_BASE_RESULT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace tenon {

// What class of failure this is; the exit code and the caller's choice follow from it.
enum class ErrorKind {
  kInvalid,      // the user's or peer's input is wrong; repeating it will not help
  kNotFound,     // the named thing is not there
  kUnavailable,  // may work later: disk full, host silent, lock held
  kDenied,       // permission or policy refuses it
  kCorrupt,      // stored bytes are damaged
  kInternal,     // our own mistake, reported without aborting
};

std::string_view ErrorKindName(ErrorKind kind);

// A failure a person can act on. `message` reads "doing what to which thing: why"; each layer puts
// its own part in front with Wrap(). `hint` says what to do about it; empty: no advice. `reason` is
// a code for callers who decide by more than the kind, as "changed-while-read". The header of
// whoever fails with a reason declares it; in an Error from the kernel it is errno's name
// ("ENOSPC"). `answered`: the other side of a conversation sent the Error, so that side has
// received the request. No code decides by the words of a message.
struct [[nodiscard]] Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message = {};
  std::string hint = {};
  std::string reason = {};
  bool answered = false;

  Error&& WithReason(std::string_view code) && {
    reason = code;
    return std::move(*this);
  }
  Error&& WithHint(std::string text) && {
    hint = std::move(text);
    return std::move(*this);
  }
  // Puts "doing: " in front of the message and keeps the rest.
  Error&& Wrap(std::string_view doing) && {
    message = std::string(doing) + ": " + message;
    return std::move(*this);
  }
};

inline Error Invalid(std::string message) { return {ErrorKind::kInvalid, std::move(message), {}}; }
inline Error NotFound(std::string message) {
  return {ErrorKind::kNotFound, std::move(message), {}};
}
inline Error Unavailable(std::string message) {
  return {ErrorKind::kUnavailable, std::move(message), {}};
}
inline Error Denied(std::string message) { return {ErrorKind::kDenied, std::move(message), {}}; }
inline Error Corrupt(std::string message) { return {ErrorKind::kCorrupt, std::move(message), {}}; }
inline Error Internal(std::string message) {
  return {ErrorKind::kInternal, std::move(message), {}};
}

// An Error from errno: "doing: No space left on device", with the reason "ENOSPC". The kind follows
// from the number (ENOENT not found; EACCES, EPERM, EROFS denied; ENOSPC, EDQUOT, EAGAIN ...
// unavailable).
Error FromErrno(std::string_view doing, int errno_value);

// A value or an Error. Asking for the one that it does not hold aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    TENON_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    TENON_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    TENON_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) && { return ok() ? std::move(*this).value() : std::move(other); }

  Error& error() & {
    TENON_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    TENON_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    TENON_CHECK(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() & {
    TENON_CHECK(!ok());
    return *error_;
  }
  const Error& error() const& {
    TENON_CHECK(!ok());
    return *error_;
  }
  Error&& error() && {
    TENON_CHECK(!ok());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace tenon

#define TENON_CONCAT_INNER(a, b) a##b
#define TENON_CONCAT(a, b) TENON_CONCAT_INNER(a, b)
#define TENON_TRY_INNER(lhs, expr, tmp)         \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return std::move(tmp).error(); \
  lhs = std::move(tmp).value()

// TENON_TRY(auto x, F()): x is F's value, or this function returns F's Error.
#define TENON_TRY(lhs, expr) TENON_TRY_INNER(lhs, expr, TENON_CONCAT(tenon_try_, __LINE__))
// TENON_TRY_VOID(F()): go on, or return F's Error.
#define TENON_TRY_VOID(expr)                              \
  do {                                                    \
    if (auto tenon_status = (expr); !tenon_status.ok()) { \
      return std::move(tenon_status).error();             \
    }                                                     \
  } while (false)

#endif  // TENON_BASE_RESULT_H_
