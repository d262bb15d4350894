// SPDX-License-Identifier: Apache-2.0
// Ignore files with the full syntax and meaning of git's.
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
  kIgnored,         // the last matching pattern leaves the path out
  kKept,            // the last matching pattern begins with "!"
  kKeptByWildcard,  // as kKept, but the pattern has only wildcards: "!*/", "!**"
};

// The patterns of one ignore file. Immutable once parsed; any number of threads may use it.
class IgnoreRules {
 public:
  // Accepts any bytes. A line that means nothing to git matches nothing here either.
  static IgnoreRules Parse(std::string_view text);

  // `path` is relative to the folder of the ignore file, with forward slashes, and not empty. A
  // symlink is not a folder. Does not look at the folders above `path`: callers do not ask about
  // paths below a folder that is left out.
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
  // Indexes into rules_, grouped by how a rule is matched. After Parse() each list is in descending
  // order.
  std::unordered_map<std::string, std::vector<uint32_t>> by_name_;  // whole last part, no wildcard
  std::vector<uint32_t> suffixes_;   // "*literal" against the last part; prefix = the literal
  std::vector<uint32_t> basenames_;  // any other pattern without a slash
  std::vector<uint32_t> paths_;      // patterns with a slash
};

// The line in the root's ignore file that matches exactly this path.
std::string PatternFor(std::string_view path);

// The ignore files that apply to a folder: its own and those of the folders above it.
struct IgnoreScope {
  std::shared_ptr<const IgnoreScope> above;
  size_t base = 0;  // length of the folder's path within the root, including the slash after it
  IgnoreRules rules;
};

// `path` is relative to the root. The nearest ignore file with a matching pattern decides. Null:
// kNone.
Verdict MatchScopes(const IgnoreScope* scope, std::string_view path, bool is_folder);

}  // namespace tenon::snapshot

#endif  // TENON_SNAPSHOT_FREEZE_IGNORE_H_
