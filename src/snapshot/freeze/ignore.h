// SPDX-License-Identifier: Apache-2.0
// Ignore files, with git's syntax and meaning in full.
#ifndef TENON_SNAPSHOT_FREEZE_IGNORE_H_
#define TENON_SNAPSHOT_FREEZE_IGNORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "snapshot/freeze/glob.h"

namespace tenon::snapshot {

enum class Verdict : uint8_t {
  kNone,            // no pattern matches
  kIgnored,         // the last pattern that matches leaves it out
  kKept,            // the last pattern that matches begins with "!"
  kKeptByWildcard,  // the same, and it names nothing: "!*/", "!**"
};

// The patterns of one ignore file. Immutable once parsed; any number of threads may ask.
class IgnoreRules {
 public:
  // Accepts any bytes: what makes no sense to git matches nothing here either.
  static IgnoreRules Parse(std::string_view text);

  // `path` is relative to the folder the file lies in, forward slashes, not empty. A symlink is not
  // a folder. What lies above `path` is not looked at: a folder left out takes its contents with
  // it, so callers do not ask below one.
  Verdict Match(std::string_view path, bool is_folder) const;

  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    bool negative = false;
    bool names = false;  // has more than wildcards
    bool folders_only = false;
    std::string prefix;     // compared as bytes, before any wildcard
    bool has_glob = false;  // false: the prefix is all there is
    Glob glob;              // for what follows the prefix
  };

  void AddLine(std::string_view line);
  bool MatchesPath(const Rule& rule, std::string_view path) const;

  std::vector<Rule> rules_;
  // Indexes into rules_ by how they are matched; each list is in descending order after Parse().
  std::unordered_map<std::string, std::vector<uint32_t>> by_name_;  // whole last part, no wildcard
  std::vector<uint32_t> suffixes_;   // "*literal" against the last part; prefix = the literal
  std::vector<uint32_t> basenames_;  // any other pattern without a slash
  std::vector<uint32_t> paths_;      // patterns with a slash
};

// The line of an ignore file in the root that means this path alone.
std::string PatternFor(std::string_view path);

// The ignore files that count for a folder: its own and those of the folders above it.
struct IgnoreScope {
  std::shared_ptr<const IgnoreScope> above;
  size_t base = 0;  // length of the folder's path within the root, with the slash behind it
  IgnoreRules rules;
};

// The nearest file that says anything about `path` (relative to the root) decides. Null: kNone.
Verdict MatchScopes(const IgnoreScope* scope, std::string_view path, bool is_folder);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_IGNORE_H_
