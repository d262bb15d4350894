// SPDX-License-Identifier: Apache-2.0
// Random trees and random ignore files: Tenon's answer must be git's for every path.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "snapshot/freeze/ignore.h"
#include "snapshot/freeze/test_files.h"

namespace tenon::snapshot {
namespace {

class RandomTree {
 public:
  RandomTree(const std::string& root, uint32_t seed) : root_(root), random_(seed) { Fill("", 0); }
  // path → whether it is a folder
  const std::map<std::string, bool>& paths() const { return paths_; }
  // folder ("" or "a/b") → its ignore file
  const std::map<std::string, std::string>& rules() const { return rules_; }

 private:
  size_t Below(size_t n) { return random_() % n; }
  template <size_t N>
  std::string Pick(const char* const (&list)[N]) {
    return list[Below(N)];
  }

  std::string Name() {
    static const char* const kParts[] = {"a",  "b",   "c", "ab", "x",   "A", "a b", "#", "!",
                                         "a ", "[a]", "*", "é",  "d\\", "9", "-",   "]"};
    static const char* const kEnds[] = {"", "", "", ".o", ".txt", ".c", "x", "9"};
    return Pick(kParts) + Pick(kEnds);
  }

  std::string Component() {
    static const char* const kGlobs[] = {
        "*",      "?",      "a*",           "*.o",   "*b",           "[ab]",        "[!a]*",
        "[a-c]?", "*.[co]", "[[:alpha:]]*", "[^x]",  "?*",           "*a*",         "\\#*",
        "\\!",    "[]a]*",  "a\\ b",        "[\\]]", "*[[:digit:]]", "[[:punct:]]", "[",
        "a\\",    "[a-",    "*.t?t",        "x*?",   "a**",          "**b",         "a**b",
        "x***",   "\\*",    "d\\\\",        "[[:]",  "[9-a]"};
    if (Below(3) == 0) return Pick(kGlobs);
    return Name();
  }

  std::string Line() {
    std::string line;
    switch (Below(12)) {
      case 0:
        return "";
      case 1:
        return "# " + Name();
      default:
        break;
    }
    if (Below(4) == 0) line += "!";
    if (Below(4) == 0) line += "/";
    const size_t parts = 1 + (Below(2) ? Below(3) : 0);
    for (size_t i = 0; i < parts; ++i) {
      if (i) line += "/";
      line += Below(6) == 0 ? "**" : Component();
    }
    if (Below(5) == 0) line += "/";
    if (Below(10) == 0) line += " ";
    if (Below(12) == 0) line += "\\ ";
    if (Below(12) == 0) line += "\r";
    return line;
  }

  void Fill(const std::string& folder, int depth) {
    std::string prefix = folder.empty() ? "" : folder + "/";
    if (depth == 0 || Below(3) == 0) {
      std::string text = Below(10) == 0 ? "\xef\xbb\xbf" : "";
      for (size_t i = 0, n = 1 + Below(6); i < n; ++i) text += Line() + "\n";
      if (Below(3) == 0) text.pop_back();
      EXPECT_TRUE(WriteFileAtomically(JoinPath(root_, prefix + ".gitignore"), text, 0644,
                                      Durability::kProcess)
                      .ok());
      rules_[folder] = text;
      paths_[prefix + ".gitignore"] = false;
    }
    for (size_t i = 0, n = 2 + Below(5); i < n; ++i) {
      const std::string path = prefix + Name(), full = JoinPath(root_, path);
      if (paths_.contains(path)) continue;
      if (depth < 3 && Below(2) == 0) {
        EXPECT_TRUE(MakeDirs(full).ok());
        paths_[path] = true;
        Fill(path, depth + 1);
      } else if (Below(8) == 0) {
        EXPECT_EQ(::symlink(".", full.c_str()), 0);
        paths_[path] = false;
      } else {
        EXPECT_TRUE(WriteFileAtomically(full, "x", 0644, Durability::kProcess).ok());
        paths_[path] = false;
      }
    }
  }

  std::string root_;
  std::mt19937 random_;
  std::map<std::string, bool> paths_;
  std::map<std::string, std::string> rules_;
};

// Tenon's answer. Descends as a freeze does: asks about nothing below a folder that is left out.
std::set<std::string> OurAnswer(const RandomTree& tree) {
  std::map<std::string, std::shared_ptr<IgnoreScope>> scopes;
  std::set<std::string> ignored;
  for (const auto& [path, is_folder] : tree.paths()) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
    std::shared_ptr<IgnoreScope> nearest;
    for (std::string at = folder;;) {
      if (auto file = tree.rules().find(at); file != tree.rules().end()) {
        if (!scopes.contains(at)) {
          auto scope = std::make_shared<IgnoreScope>();
          scope->base = at.empty() ? 0 : at.size() + 1;
          scope->rules = IgnoreRules::Parse(file->second);
          scopes[at] = scope;
          for (std::string up = at; !up.empty();) {
            const size_t cut = up.rfind('/');
            up = cut == std::string::npos ? "" : up.substr(0, cut);
            if (scopes.contains(up)) {
              scope->above = scopes[up];
              break;
            }
          }
        }
        nearest = scopes[at];
        break;
      }
      if (at.empty()) break;
      const size_t cut = at.rfind('/');
      at = cut == std::string::npos ? "" : at.substr(0, cut);
    }
    if (ignored.contains(folder) ||
        MatchScopes(nearest.get(), path, is_folder) == Verdict::kIgnored) {
      ignored.insert(path);
    }
  }
  return ignored;
}

std::set<std::string> GitAnswer(const std::string& repository, const std::string& root,
                                const RandomTree& tree) {
  std::string input;
  for (const auto& [path, is_folder] : tree.paths()) input += path + '\0';
  auto run = RunAndCapture({"git", "--git-dir=" + repository + "/.git", "--work-tree=" + root, "-c",
                            "core.excludesFile=/dev/null", "-c", "core.ignoreCase=false",
                            "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"},
                           root, input);
  EXPECT_TRUE(run.ok());
  EXPECT_LE(run->status.code, 1) << run->err;
  const std::vector<std::string> fields = Split(run->out, '\0');
  EXPECT_EQ(fields.size(), tree.paths().size() * 4 + 1) << run->err;
  std::set<std::string> ignored;
  for (size_t i = 0; i + 3 < fields.size(); i += 4) {
    if (!fields[i].empty() && !fields[i + 2].starts_with('!')) ignored.insert(fields[i + 3]);
  }
  return ignored;
}

TEST(IgnoreGit, WeAnswerLikeGitOnRandomTrees) {
  const int rounds = ::getenv("TENON_DEEP") ? 3000 : 80;
  size_t asked = 0, ignored = 0;
  TempFolder repository;
  ASSERT_TRUE(RunAndCapture({"git", "init", "-q"}, repository.path()).ok());
  for (int seed = 1; seed <= rounds; ++seed) {
    TempFolder folder;
    RandomTree tree(folder.path(), static_cast<uint32_t>(seed));
    const auto ours = OurAnswer(tree), gits = GitAnswer(repository.path(), folder.path(), tree);
    asked += tree.paths().size();
    ignored += gits.size();
    if (ours == gits) continue;
    std::string report;
    for (const auto& [path, text] : tree.rules()) report += "[" + path + "]\n" + text + "\n";
    for (const auto& [path, is_folder] : tree.paths()) {
      if (ours.contains(path) != gits.contains(path)) {
        report += path + (is_folder ? "/" : "") + ": git " +
                  (gits.contains(path) ? "ignores" : "keeps") + "\n";
      }
    }
    FAIL() << "seed " << seed << "\n" << report;
  }
  EXPECT_GT(ignored * 10, asked) << "the random rules hardly ignore anything";
  EXPECT_LT(ignored * 10, asked * 9) << "the random rules ignore nearly everything";
}

}  // namespace
}  // namespace tenon::snapshot
