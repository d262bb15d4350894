// SPDX-License-Identifier: Apache-2.0
// Occurrences that overlap ("abcdef" and "defghi" in "abcdefghi") are covered by one "***":
// replacing them one after the other would let the end of the second through. So the scan goes on
// inside a covered stretch, looking for a secret that reaches further. The result does not depend
// on how the stream is cut: a place is decided only when no secret can still begin there and end
// beyond the text.
#include "base/mask.h"

#include <algorithm>

namespace tenon {

Masker::Masker(std::vector<std::string> secrets) : secrets_(std::move(secrets)), pairs_(1 << 16) {
  std::erase_if(secrets_, [](const std::string& secret) { return secret.empty(); });
  std::sort(secrets_.begin(), secrets_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  secrets_.erase(std::unique(secrets_.begin(), secrets_.end()), secrets_.end());
  for (const std::string& secret : secrets_) {
    size_t first = static_cast<unsigned char>(secret[0]);
    starts_[first] = true;
    for (size_t second = 0; second < 256; ++second) {
      bool fits = secret.size() == 1 || static_cast<unsigned char>(secret[1]) == second;
      if (fits) pairs_[first << 8 | second] = true;
    }
  }
}

// The first place from `i` on where a secret may begin. Two bytes are looked at, because the first
// byte of a secret is often a letter that every line has.
size_t Masker::NextCandidate(std::string_view text, size_t i) const {
  if (i >= text.size()) return i;
  size_t pair = static_cast<unsigned char>(text[i]);
  for (; i + 1 < text.size(); ++i) {
    pair = (pair << 8 | static_cast<unsigned char>(text[i + 1])) & 0xffff;
    if (pairs_[pair]) return i;
  }
  return starts_[pair & 0xff] ? i : text.size();
}

// `covered`: how many bytes from the front of `text` lie under a "***" already written; afterwards
// the same for what follows the `used` bytes.
std::string Masker::Scan(std::string_view text, bool at_end, size_t* used, size_t* covered) const {
  std::string out;
  out.reserve(text.size());
  size_t cover = *covered;
  size_t i = 0;
  while (i < text.size()) {
    size_t candidate = NextCandidate(text, i);
    size_t shown = std::max(i, cover);
    if (candidate > shown) out += text.substr(shown, candidate - shown);
    i = candidate;
    if (i == text.size()) break;

    std::string_view rest = text.substr(i);
    bool undecided = false;
    size_t match = 0;
    for (const std::string& secret : secrets_) {
      if (secret.size() > rest.size()) {
        undecided |= !at_end && secret.starts_with(rest);
      } else if (rest.starts_with(secret)) {
        match = secret.size();
        break;
      }
    }
    if (match > 0) {
      if (i >= cover) out += "***";
      cover = std::max(cover, i + match);
    }
    if (undecided) break;
    if (i >= cover) out += text[i];
    ++i;
  }
  *used = i;
  *covered = cover > i ? cover - i : 0;
  return out;
}

std::string Masker::Feed(std::string_view piece) {
  if (secrets_.empty()) return std::string(piece);
  std::string joined;
  if (!held_.empty()) {
    joined = held_;
    joined += piece;
    piece = joined;
  }
  size_t used = 0;
  std::string out = Scan(piece, false, &used, &covered_);
  held_ = std::string(piece.substr(used));
  return out;
}

std::string Masker::Flush() {
  size_t used = 0;
  std::string out = Scan(held_, true, &used, &covered_);
  held_.clear();
  covered_ = 0;
  return out;
}

std::string Masker::Mask(std::string_view text) const {
  if (secrets_.empty()) return std::string(text);
  size_t used = 0, covered = 0;
  return Scan(text, true, &used, &covered);
}

}  // namespace tenon
