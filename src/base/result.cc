// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tenon {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "tenon: internal error at %s:%d: %s\n", file, line, condition);
  std::abort();
}

std::string_view ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return "invalid";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kDenied:
      return "denied";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kInternal:
      return "internal";
  }
  return "internal";
}

Error FromErrno(std::string_view doing, int errno_value) {
  ErrorKind kind = ErrorKind::kInternal;
  std::string hint;
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      kind = ErrorKind::kNotFound;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      kind = ErrorKind::kDenied;
      break;
    case ENOSPC:
    case EDQUOT:
      kind = ErrorKind::kUnavailable;
      hint = "free some space on that file system and try again";
      break;
    case EFBIG:
      kind = ErrorKind::kUnavailable;
      hint = "the limit on the size of files is too low for it: `ulimit -f` shows it";
      break;
    case EAGAIN:
    case EBUSY:
    case EINTR:
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
      kind = ErrorKind::kUnavailable;
      break;
    case EINVAL:
    case EEXIST:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOEXEC:
      kind = ErrorKind::kInvalid;
      break;
    default:
      break;
  }
  char buffer[128];
  const char* text = strerror_r(errno_value, buffer, sizeof buffer);
  const char* name = strerrorname_np(errno_value);
  return {kind, std::string(doing) + ": " + text, std::move(hint), name == nullptr ? "" : name};
}

}  // namespace tenon
