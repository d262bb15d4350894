// SPDX-License-Identifier: Apache-2.0
// A repository can name programs in many places: core.fsmonitor, hooks, filter.*.clean,
// diff.*.textconv, diff.external, credential helpers, and those of submodules. Each version of git
// adds more, so switching them off one by one would miss some. So git never sees the repository's
// configuration. It works with a git folder that we make, which has an empty configuration, a copy
// of the index, and access to the repository's objects. The few settings that change how bytes are
// compared (line ends, object format) are read beforehand, which runs no program, and passed on.
//
// The copy of the index keeps what git knows of unchanged files, so a hundred thousand files need
// not be read again. It may also be changed: marks that make git skip files are removed.
#include "engine/run/git.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace tenon::engine {
namespace {

// A repository on a hung network mount must not hold up a submit.
constexpr int64_t kTimeoutUs = 20'000'000;
constexpr size_t kMaxOutput = 64u << 20;    // of a diff, and of other output
constexpr size_t kMaxListing = 512u << 20;  // of the tracked files
constexpr size_t kMaxIndex = 1u << 30;
constexpr size_t kMaxLine = 64u << 10;

std::string RealPath(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) != nullptr ? real : path;
}

// The nearest folder, from `folder` upwards, that has a .git; "" = none.
std::string TopOf(const std::string& folder) {
  for (std::string at = RealPath(folder);;) {
    if (Exists(JoinPath(at, ".git"))) return at;
    const std::string parent = DirName(at);
    if (parent == at || at == "." || at.empty()) return "";
    at = parent;
  }
}

std::string Below(const std::string& folder, const std::string& path) {
  return path.starts_with('/') ? path : JoinPath(folder, path);
}

// Reads a regular file. Fails for everything else, without waiting for a FIFO, for example.
Result<std::string> ReadPlain(const std::string& path, size_t limit, struct stat* info) {
  TENON_TRY(const UniqueFd fd, OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (::fstat(fd.get(), info) != 0) return FromErrno("looking at " + path, errno);
  if (!S_ISREG(info->st_mode) || static_cast<uint64_t>(info->st_size) > limit) {
    return Invalid(ForTerminal(path) + " is not what git keeps there");
  }
  std::string bytes(static_cast<size_t>(info->st_size), '\0');
  TENON_TRY(const size_t got, ReadAt(fd.get(), bytes, 0));
  bytes.resize(got);
  return bytes;
}

// PATH without folders in which the repository could have its own programs: those inside it, and
// relative ones.
std::string PathOutside(const std::string& top, const std::string& path) {
  std::string outside;
  for (const std::string& folder : Split(path, ':')) {
    if (!folder.starts_with('/') || (RealPath(folder) + "/").starts_with(top + "/")) continue;
    outside += (outside.empty() ? "" : ":") + folder;
  }
  return outside.empty() ? "/usr/bin:/bin" : outside;
}

// A temporary folder; the destructor removes it.
class Scratch {
 public:
  static Result<Scratch> Make() {
    const std::string base = GetVariable(CurrentEnvironment(), "TMPDIR", "/tmp");
    std::string path = JoinPath(base.starts_with('/') ? base : "/tmp", "tenon-git-XXXXXX");
    if (::mkdtemp(path.data()) == nullptr) return FromErrno("making a folder in " + base, errno);
    return Scratch(path);
  }
  Scratch(Scratch&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (!path_.empty()) (void)RemoveTree(path_).ok();
  }
  std::string operator/(const char* name) const { return JoinPath(path_, name); }
  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// What is read from the configuration.
struct Settings {
  std::vector<std::string>
      arguments;              // -c NAME=VALUE for settings that change how files are compared
  std::string object_format;  // "" = SHA-1
  bool sparse = false;
  std::set<std::string> filters;  // names of filters that would run a program
};

// A tracked file, as `ls-files -v -s` prints it.
struct Tracked {
  std::string path;
  bool assume_unchanged = false, skip_worktree = false, submodule = false;
};

class GitReader {
 public:
  GitReader(std::string folder, std::string top)
      : folder_(std::move(folder)),
        top_(std::move(top)),
        own_(CurrentEnvironment()),
        path_(PathOutside(top_, GetVariable(own_, "PATH", "/usr/bin:/bin"))),
        deadline_us_(SystemClock().MonotonicUs() + kTimeoutUs) {}

  GitState Read() {
    GitState state;
    if (auto read = ReadInto(&state); !read.ok()) {
      state.problem = read.error().message;
      state.diff.clear();
    }
    return state;
  }

 private:
  using Arguments = std::vector<std::string>;

  Status ReadInto(GitState* state) {
    TENON_TRY_VOID(FindFolders());
    TENON_TRY(const bool born, ReadHead(state));
    if (!born) return {};
    TENON_TRY(const Settings settings, ReadSettings());
    TENON_TRY(const Scratch scratch, MakeOwnFolder(state->commit, settings));
    TENON_TRY(std::vector<Tracked> files, ListFiles(scratch, settings));
    TENON_TRY_VOID(LookAtEverything(scratch, settings, files));
    TENON_TRY_VOID(LeaveOutFiltered(scratch, settings, files, state));
    for (const Tracked& file : files) {
      if (file.submodule && Exists(JoinPath(JoinPath(folder_, file.path), ".git"))) {
        state->not_compared.push_back(file.path);
      }
    }
    std::sort(state->not_compared.begin(), state->not_compared.end());
    TENON_TRY(state->diff, Ours(scratch, settings,
                                {"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--binary",
                                 "--ignore-submodules=dirty", state->commit, "--", ".",
                                 ":(exclude,glob)**/*.compute"}));
    return {};
  }

  // Runs git with an environment of `variables`, our PATH and a few fixed variables.
  Result<CaptureResult> Run(const Environment& variables, const Arguments& arguments,
                            const std::string& input, size_t limit) {
    const auto env = FindProgram("env", path_), git = FindProgram("git", path_);
    if (!env || !git) {
      const bool inside = FindProgram("git", GetVariable(own_, "PATH", path_)).has_value();
      return NotFound(inside ? "the only git on PATH is part of the repository, so it is not run"
                             : "there is no git here");
    }
    Arguments argv = {*env,
                      "-i",
                      "PATH=" + path_,
                      "LC_ALL=C",
                      "GIT_OPTIONAL_LOCKS=0",
                      "GIT_TERMINAL_PROMPT=0",
                      "GIT_NO_LAZY_FETCH=1",
                      "GIT_NO_REPLACE_OBJECTS=1"};
    for (const auto& [name, value] : variables) argv.push_back(name + "=" + value);
    argv.insert(argv.end(), {*git, "--no-pager", "-c", "core.fsmonitor=false", "-c",
                             "core.hooksPath=/dev/null"});
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const int64_t left_us = deadline_us_ - SystemClock().MonotonicUs();
    const int left_ms = static_cast<int>(std::max<int64_t>(1, left_us / 1000));
    TENON_TRY(CaptureResult run, RunAndCapture(argv, folder_, input, left_ms, limit));
    if (run.timed_out) return Unavailable("git did not answer within 20 s");
    if (run.status.AsShell() == 127) return NotFound("there is no git here");
    if (run.out.size() >= limit) {
      return Invalid("git tells more than " + HumanBytes(limit));
    }
    return run;
  }

  static Error Failed(const CaptureResult& run) {
    const std::string words(Trim(run.err));
    return Invalid(words.empty()
                       ? "git failed with exit code " + std::to_string(run.status.AsShell())
                       : ForTerminal(words.substr(0, words.find('\n'))));
  }

  // Runs git in the repository's own folder. Only for commands that read neither index nor files.
  Result<CaptureResult> Theirs(const Arguments& arguments, bool with_users_settings) {
    Environment variables = {{"GIT_DIR", git_}};
    for (const char* name : {"HOME", "XDG_CONFIG_HOME"}) {
      const std::string value = GetVariable(own_, name);
      if (with_users_settings && !value.empty()) variables[name] = value;
    }
    return Run(variables, arguments, "", kMaxOutput);
  }

  // Runs git in the folder that we made.
  Result<std::string> Ours(const Scratch& scratch, const Settings& settings,
                           const Arguments& arguments, const std::string& input = "",
                           size_t limit = kMaxOutput) {
    const Environment variables = {{"GIT_DIR", scratch.path()},
                                   {"GIT_WORK_TREE", top_},
                                   {"GIT_OBJECT_DIRECTORY", JoinPath(common_, "objects")},
                                   {"GIT_CONFIG_NOSYSTEM", "1"},
                                   {"GIT_CONFIG_GLOBAL", "/dev/null"},
                                   {"HOME", scratch.path()},
                                   {"XDG_CONFIG_HOME", scratch.path()}};
    Arguments all = settings.arguments;
    all.insert(all.end(), arguments.begin(), arguments.end());
    TENON_TRY(CaptureResult run, Run(variables, all, input, limit));
    if (run.status.AsShell() != 0) return Failed(run);
    return std::move(run.out);
  }

  // .git may be a file that names the git folder. A linked worktree has most of its git folder
  // elsewhere.
  Status FindFolders() {
    git_ = JoinPath(top_, ".git");
    struct stat info;
    if (!IsDirectory(git_)) {
      TENON_TRY(const std::string text, ReadPlain(git_, kMaxLine, &info));
      constexpr std::string_view kWord = "gitdir:";
      if (!text.starts_with(kWord)) return Invalid(ForTerminal(git_) + " names no folder");
      git_ = Below(top_, std::string(Trim(std::string_view(text).substr(kWord.size()))));
    }
    common_ = git_;
    if (auto text = ReadPlain(JoinPath(git_, "commondir"), kMaxLine, &info); text.ok()) {
      common_ = Below(git_, std::string(Trim(*text)));
    }
    return {};
  }

  // Returns false when there is no commit yet.
  Result<bool> ReadHead(GitState* state) {
    TENON_TRY(const CaptureResult head, Theirs({"rev-parse", "--verify", "-q", "HEAD"}, false));
    TENON_TRY(const CaptureResult branch, Theirs({"symbolic-ref", "-q", "HEAD"}, false));
    const std::string ref(Trim(branch.out));
    constexpr std::string_view kHeads = "refs/heads/";
    state->branch = ref.starts_with(kHeads) ? ref.substr(kHeads.size()) : ref;
    if (head.status.AsShell() == 0) {
      state->commit = Trim(head.out);
      return true;
    }
    if (branch.status.AsShell() > 1) return Failed(branch);
    if (ref.empty() || Exists(JoinPath(common_, ref))) {
      return Invalid("HEAD of " + ForTerminal(top_) + " leads to no commit");
    }
    return false;  // a branch without its first commit
  }

  Result<Settings> ReadSettings() {
    TENON_TRY(const CaptureResult run,
              Theirs({"config", "-z", "--get-regexp",
                      "^(core\\.(autocrlf|eol|filemode|symlinks|ignorecase|attributesfile|"
                      "sparsecheckout)|extensions\\.objectformat|filter\\..*\\.(clean|process))$"},
                     true));
    if (run.status.AsShell() > 1) return Failed(run);
    std::map<std::string, std::string> values;  // the last value of a name counts
    for (const std::string& entry : Split(run.out, '\0')) {
      const size_t line = entry.find('\n');
      if (!entry.empty()) {
        values[entry.substr(0, line)] = line == std::string::npos ? "true" : entry.substr(line + 1);
      }
    }
    Settings settings;
    // git's default place of the attributes file.
    const std::string users = GetVariable(own_, "HOME");
    const std::string folder =
        GetVariable(own_, "XDG_CONFIG_HOME", users.empty() ? "" : JoinPath(users, ".config"));
    if (!folder.empty()) values.emplace("core.attributesfile", JoinPath(folder, "git/attributes"));
    for (auto& [name, value] : values) {
      if (name.starts_with("filter.")) {
        const size_t end = name.rfind('.');
        if (!value.empty()) settings.filters.insert(name.substr(7, end - 7));
        continue;
      }
      if (name == "extensions.objectformat") {
        settings.object_format = value;
      } else if (name == "core.sparsecheckout") {
        settings.sparse = value == "true" || value == "yes" || value == "on" || value == "1";
      } else {
        if (name == "core.attributesfile" && value.starts_with("~/")) {
          value = JoinPath(users, value.substr(2));
        }
        settings.arguments.push_back("-c");
        settings.arguments.push_back(name + "=" + value);
      }
    }
    return settings;
  }

  Status CopyIndex(const Scratch& scratch) {
    const std::string from = JoinPath(git_, "index"), to = scratch / "index";
    struct stat info;
    TENON_TRY(const std::string bytes, ReadPlain(from, kMaxIndex, &info));
    TENON_TRY_VOID(WriteFileAtomically(to, bytes, 0600, Durability::kProcess));
    // git reads files again that are not older than the index. So the copy gets the index's time.
    const struct timespec times[] = {info.st_atim, info.st_mtim};
    if (::utimensat(AT_FDCWD, to.c_str(), times, 0) != 0)
      return FromErrno("copying " + from, errno);
    // A split index has its other part in a separate file.
    for (const std::string& name : ListDir(git_).value_or({})) {
      if (!name.starts_with("sharedindex.")) continue;
      if (::symlink(JoinPath(git_, name).c_str(), (scratch / name.c_str()).c_str()) != 0) {
        return FromErrno("copying the index", errno);
      }
    }
    return {};
  }

  Result<Scratch> MakeOwnFolder(const std::string& commit, const Settings& settings) {
    TENON_TRY(Scratch scratch, Scratch::Make());
    TENON_TRY_VOID(MakeDirs(scratch / "refs"));
    TENON_TRY_VOID(MakeDirs(scratch / "objects"));
    TENON_TRY_VOID(MakeDirs(scratch / "info"));
    std::string config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
    if (!settings.object_format.empty()) {
      config =
          "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n"
          "\tobjectformat = " +
          std::string(settings.object_format == "sha256" ? "sha256" : "sha1") + "\n";
    }
    TENON_TRY_VOID(WriteFileAtomically(scratch / "config", config, 0600, Durability::kProcess));
    TENON_TRY_VOID(
        WriteFileAtomically(scratch / "HEAD", commit + "\n", 0600, Durability::kProcess));
    struct stat info;
    const std::string attributes = JoinPath(common_, "info/attributes");
    if (auto text = ReadPlain(attributes, kMaxOutput, &info); text.ok()) {
      TENON_TRY_VOID(
          WriteFileAtomically(scratch / "info/attributes", *text, 0600, Durability::kProcess));
    }
    TENON_TRY_VOID(CopyIndex(scratch));
    return scratch;
  }

  Result<std::vector<Tracked>> ListFiles(const Scratch& scratch, const Settings& settings) {
    TENON_TRY(const std::string out,
              Ours(scratch, settings, {"ls-files", "-z", "-v", "-s", "--", "."}, "", kMaxListing));
    std::vector<Tracked> files;
    std::string_view rest = out;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\0'), rest.size());
      const std::string_view line = rest.substr(0, end);  // "H 100644 <hash> 0\t<path>"
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const size_t tab = line.find('\t');
      if (line.size() < 9 || tab == std::string_view::npos) {
        return Invalid("git lists files in a way that is not known");
      }
      Tracked file;
      file.path = line.substr(tab + 1);
      file.assume_unchanged = line[0] >= 'a' && line[0] <= 'z';
      file.skip_worktree = line[0] == 'S' || line[0] == 's';
      file.submodule = line.substr(2, 6) == "160000";
      files.push_back(std::move(file));
    }
    return files;
  }

  bool IsThere(const Tracked& file) const {
    struct stat info;
    return ::lstat(JoinPath(folder_, file.path).c_str(), &info) == 0;
  }

  Status Mark(const Scratch& scratch, const Settings& settings, const char* mark,
              const std::string& paths) {
    if (paths.empty()) return {};
    TENON_TRY_VOID(Ours(scratch, settings, {"update-index", "-z", mark, "--stdin"}, paths));
    return {};
  }

  // Removes the marks that keep git from looking at existing files.
  Status LookAtEverything(const Scratch& scratch, const Settings& settings,
                          const std::vector<Tracked>& files) {
    std::string assumed, skipped;
    for (const Tracked& file : files) {
      if (file.assume_unchanged) assumed += file.path + '\0';
      // A sparse checkout lacks files on purpose, so marks of missing files stay.
      if (file.skip_worktree && (!settings.sparse || IsThere(file))) skipped += file.path + '\0';
    }
    TENON_TRY_VOID(Mark(scratch, settings, "--no-assume-unchanged", assumed));
    return Mark(scratch, settings, "--no-skip-worktree", skipped);
  }

  // Leaves out files that a program would have to convert before they could be compared.
  Status LeaveOutFiltered(const Scratch& scratch, const Settings& settings,
                          const std::vector<Tracked>& files, GitState* state) {
    if (settings.filters.empty()) return {};
    std::string paths;
    for (const Tracked& file : files) {
      if (!file.submodule) paths += file.path + '\0';
    }
    if (paths.empty()) return {};
    TENON_TRY(
        const std::string out,
        Ours(scratch, settings, {"check-attr", "-z", "--stdin", "filter"}, paths, kMaxListing));
    const std::vector<std::string> words = Split(out, '\0');  // path, "filter", value, …
    std::string filtered;
    for (size_t i = 0; i + 2 < words.size(); i += 3) {
      if (!settings.filters.contains(words[i + 2]) || words[i].ends_with(".compute")) continue;
      Tracked file;
      file.path = words[i];
      if (!IsThere(file)) continue;  // git can tell that it was removed
      filtered += file.path + '\0';
      state->not_compared.push_back(file.path);
    }
    return Mark(scratch, settings, "--skip-worktree", filtered);
  }

  std::string folder_, top_;
  Environment own_;
  std::string path_;  // where programs are searched
  int64_t deadline_us_;
  std::string git_, common_;  // the git folder, and the part that worktrees share
};

}  // namespace

bool IsInRepository(const std::string& folder) { return !TopOf(folder).empty(); }

GitState ReadGitState(const std::string& folder) {
  return GitReader(RealPath(folder), TopOf(folder)).Read();
}

}  // namespace tenon::engine
