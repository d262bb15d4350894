// SPDX-License-Identifier: Apache-2.0
// A submit from the project folder to a runner that goes on by itself. Read Submit() as the table
// of contents. The comments between its steps say what is certain from that point on.
#include "engine/run/submit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <future>

#include "base/file.h"
#include "base/hash.h"
#include "base/mask.h"
#include "base/text.h"
#include "engine/host/machine.h"
#include "engine/run/claim.h"
#include "engine/run/git.h"
#include "engine/run/heal.h"
#include "engine/run/near_segment.h"
#include "engine/run/private_files.h"
#include "engine/run/runs.h"
#include "journal/writer.h"
#include "run/damage.h"
#include "run/mask_spec.h"
#include "run/pypi_names.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::engine {
namespace {

// Never part of a snapshot, whatever the ignore files say (design § 14).
const std::vector<std::string>& AlwaysIgnored() {
  static const std::vector<std::string> patterns = {".git",
                                                    "/outputs",
                                                    "/.azuremlhistory_git",
                                                    "/azureml-logs",
                                                    "/diagnostics.zip",
                                                    "__pycache__",
                                                    ".ipynb_checkpoints",
                                                    ".tenon-tmp-*",  // left by a killed process
                                                    ".pytest_cache",
                                                    ".mypy_cache"};
  return patterns;
}

bool IsComputeFile(std::string_view path) { return path.ends_with(".compute"); }

class StepTimer {
 public:
  explicit StepTimer(const Clock& clock) : clock_(clock), start_(clock.MonotonicUs()) {}
  int64_t Elapsed() const { return clock_.MonotonicUs() - start_; }

 private:
  const Clock& clock_;
  int64_t start_;
};

Masker MaskerFor(const std::vector<Secret>& secrets) {
  std::vector<std::string> values;
  for (const Secret& secret : secrets) values.push_back(secret.value);
  return Masker(values);
}

Status CheckSecrets(const std::vector<Secret>& secrets) {
  for (const Secret& secret : secrets) {
    if (!IsMaskable(secret.value)) {
      return Invalid("secret " + secret.name + " is shorter than " +
                     std::to_string(kShortestSecret) +
                     " bytes, so masking it would garble ordinary text")
          .WithHint("pass a value that short with EnvironmentVariables in the .runconfig");
    }
  }
  return {};
}

std::string SnapshotDetail(const snapshot::Frozen& frozen) {
  std::string detail = Count(frozen.files, "file", "files") + ", " + HumanBytes(frozen.bytes);
  if (frozen.files_hashed != frozen.files) {
    detail += ", " + std::to_string(frozen.files_hashed) + " read again";
  }
  if (frozen.ignored > 0) detail += ", " + std::to_string(frozen.ignored) + " ignored";
  return detail;
}

void AddSnapshotNotices(const snapshot::Frozen& frozen, const std::string& root,
                        std::vector<run::Notice>* notices) {
  if (!frozen.skipped.empty()) {
    notices->push_back({run::Level::kInfo,
                        "left out, because only files, folders and symlinks can be copied: " +
                            Join(frozen.skipped, ", "),
                        ""});
  }
  for (run::Notice& notice : PrivateNotices(frozen, root)) notices->push_back(std::move(notice));
  for (const auto& [path, size] : frozen.large) {
    notices->push_back({run::Level::kInfo,
                        path + " is " + HumanBytes(size) + " and is copied for every run",
                        "if it is data that rarely changes, put it into the shared folder "
                        "(AZUREML_NATIVE_SHARE_DIRECTORY) or list it in .amlignore"});
  }
}

void AddGitNotices(const GitState& state, std::vector<run::Notice>* notices) {
  if (!state.problem.empty()) {
    const std::string what = state.commit.empty() ? "the state of git is not recorded: "
                                                  : "uncommitted changes are not "
                                                    "recorded: ";
    notices->push_back({run::Level::kWarning, what + state.problem, ""});
  }
  if (!state.not_compared.empty()) {
    notices->push_back({run::Level::kInfo,
                        "not compared with the commit, because that would run a filter of git "
                        "(LFS, for example) or look into a submodule: " +
                            SomeNames(state.not_compared),
                        ""});
  }
}

// Without this check only Python would notice that the script is missing, on the other machine.
Status CheckScriptIsTaken(const snapshot::ObjectStore& objects, const snapshot::Frozen& frozen,
                          const std::string& root, const std::string& script) {
  const Hash& tree = frozen.root;
  for (const snapshot::LeftOut& key : frozen.keys) {
    if (script != key.path && !script.starts_with(key.path + "/")) continue;
    return Invalid("the script `" + ForTerminal(script) + "` is left out of what a run gets: " +
                   ForTerminal(key.path) + " is known for " + key.reason)
        .WithHint(TakeAlongCommand(root, key));
  }
  for (size_t end = 0; end != std::string::npos;) {
    end = script.find('/', end + 1);
    const auto entry = snapshot::Find(objects, tree, script.substr(0, end));
    if (entry.ok() && entry->type == snapshot::EntryType::kSymlink) return {};  // target unchecked
    if (entry.ok()) continue;
    if (entry.error().kind != ErrorKind::kNotFound) return entry.error();
    return Invalid("the script `" + ForTerminal(script) + "` is left out of what a run gets")
        .WithHint(
            "look into .amlignore (or .gitignore, in a folder without one) there and above; "
            "outputs/, .git, Python's caches and Tenon's own folder are never taken along");
  }
  return {};
}

Handover HandOver(Context& context, launch::StartRequest start, Reporter& reporter) {
  const auto machine = context.At(start.spec.host);
  if (!machine.ok()) return {machine.error()};
  return (*machine)->Start(std::move(start), reporter);
}

// Runs on a thread of its own, so it opens an index of its own.
void Index(const run::Home& home, const ClaimedFolder& claimed) {
  if (auto store = history::OpenHistoryAsItIs(home.root()); store.ok()) {
    (void)IndexClaimed(**store, home, claimed).ok();
  }
}

// Records a run and starts its runner; shared by Submit and Rerun. spec.tree must be set.
Result<std::string> RecordAndStart(
    Context& context, run::RunSpec spec, const Environment& environment,
    const std::vector<Secret>& secrets, const std::vector<run::Notice>& notices,
    const std::vector<run::Step>& steps, const ProjectFolder& project, Reporter& reporter,
    const BeforeStart& before_start = nullptr, const std::string& retry_of = "") {
  spec.key = NewUuid();
  spec.secret_names.clear();
  for (const Secret& secret : secrets) spec.secret_names.push_back(secret.name);
  const Masker masker = MaskerFor(secrets);

  TENON_TRY(const std::string client, context.ClientId());
  // Preparing an environment takes no run number.
  spec.number = 0;
  if (!spec.only_prepare) {
    TENON_TRY(spec.number, TakeRunNumber(context, spec.project_id));
  }
  TENON_TRY(const ClaimedFolder claimed, ClaimNewRunFolder(context, spec.project));
  spec.id = claimed.run_id;
  const run::RunFolder folder(context.home, spec.id);

  // From here on the run exists. An Error while it is recorded removes it again; later ones are
  // recorded in it.
  auto give_up = [&](Error error) -> Error {
    (void)RemoveTree(folder.path());
    return error;
  };
  auto writer = OpenNearSegment(folder, spec.key, client, context.clock, EndComesHere::kYes);
  if (!writer.ok()) return give_up(std::move(writer).error());
  auto recorded = [&]() -> Status {
    TENON_TRY_VOID(
        writer->Append(run::Submitted{run::MaskSpec(spec, masker), client, context.version}));
    for (const run::Step& step : steps) TENON_TRY_VOID(writer->Append(step));
    for (run::Notice notice : notices) {
      notice.text = masker.Mask(notice.text);
      notice.hint = masker.Mask(notice.hint);
      TENON_TRY_VOID(writer->Append(notice));
    }
    TENON_TRY_VOID(writer->Sync());
    return before_start ? before_start(spec.id) : Status();
  }();
  if (!recorded.ok()) return give_up(std::move(recorded).error().Wrap("recording the run"));
  // Starting on another machine takes long enough to update the index meanwhile.
  const bool beside = spec.tracked && spec.IsElsewhere();
  if (beside) {
    context.indexing = std::async(std::launch::async, Index, context.home, claimed);
  }
  reporter.OnRunId(spec.id);

  // After this the run is in the journal. If the client dies now, the run ends as "never started".
  launch::StartRequest start;
  start.spec = spec;
  start.environment = environment;
  for (const Secret& secret : secrets) start.secrets[secret.name] = secret.value;
  start.version = context.version;
  start.retry_of = retry_of;
  const StepTimer timer(*context.clock);
  Handover handover = HandOver(context, start, reporter);
  Result<launch::Started>& started = handover.started;
  if (!started.ok() && run::IsUnreadableHere(started.error())) {
    if (auto healed = HealTree(context, project, spec.tree, spec.id); healed.ok()) {
      handover = HandOver(context, std::move(start), reporter);
    } else {
      started = std::move(healed).error();
    }
  }
  if (!started.ok() && !handover.unclear) {
    run::End end;
    end.never_started = true;
    end.exit_code = 125;
    end.reason = masker.Mask(started.error().message);
    if (writer->AppendLast(end).ok()) (void)writer->Sync();
  }
  // After this the run goes on by itself.
  if (started.ok() && handover.to_be_noted) {
    (void)writer->Append(run::Step{std::string(kHandOver), timer.Elapsed(), ""}).ok();
  }
  if (started.ok() && !started->handle.launch.empty()) {
    (void)writer->Append(run::HandedOver{started->handle}).ok();
    (void)writer->Sync().ok();
  }
  const std::string id = spec.id;
  if (!started.ok() || (spec.tracked && !beside)) {
    if (context.indexing.valid()) context.indexing.wait();
    if (auto store = context.History(); store.ok()) {
      if (auto status = IndexClaimed(**store, context.home, claimed); !status.ok()) {
        reporter.OnNotice(
            {run::Level::kWarning,
             "the run is recorded, but the index was not updated: " + status.error().message,
             "`tenon history rebuild` brings it up to date"});
      }
    }
  }
  if (handover.unclear) {
    return std::move(started)
        .error()
        .Wrap("starting the run " + id)
        .WithHint("whether it was started is not known; `tenon status " + id + "` goes and looks");
  }
  if (!started.ok()) return std::move(started).error().Wrap("starting the run " + id);
  return id;
}

}  // namespace

bool WasHandedOver(const journal::RunView& run) {
  return std::ranges::any_of(run.steps,
                             [](const run::Step& step) { return step.name == kHandOver; });
}

snapshot::FreezeOptions FreezeOptionsFor(const Context& context, const ProjectFolder& folder) {
  snapshot::FreezeOptions options;
  options.folder = folder.root;
  // The "2" keeps this cache apart from those of older versions, whose snapshots took more along.
  options.stat_cache = context.home.stat_cache(Sha256Of("2\n" + folder.root).Hex().substr(0, 32));
  options.ignore_files = {".amlignore", ".gitignore"};
  options.always_ignored = AlwaysIgnored();
  options.stays_here = IsComputeFile;
  options.redact = [redact = folder.redact_compute](std::string_view, const std::string& bytes) {
    return redact ? redact(bytes) : bytes;
  };
  options.leave_out_keys = true;
  options.homes = HomesOf(context);
  options.clock = context.clock;
  return options;
}

Result<std::string> Submit(Context& context, SubmitRequest request, Reporter& reporter) {
  TENON_TRY_VOID(CheckSecrets(request.secrets));
  TENON_TRY_VOID(EnsureHome(context.home));
  TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
  const Masker masker = MaskerFor(request.secrets);
  run::RunSpec& spec = request.spec;

  // Git runs while the folder is frozen; both describe the folder as it is now.
  std::future<GitState> git;
  if (IsInRepository(request.folder.root)) {
    git = std::async(std::launch::async, ReadGitState, request.folder.root);
  }

  // Connects to the other machine meanwhile. Its errors are reported when it is used.
  TENON_TRY(Machine * machine, context.At(spec.host));
  machine->Open();

  TENON_TRY_VOID(CheckOutsideHome(context, request.folder.root));
  StepTimer timer(*context.clock);
  snapshot::FreezeOptions options = FreezeOptionsFor(context, request.folder);
  options.on_progress = [&](uint64_t files, uint64_t) {
    reporter.OnProgress("snapshot", files, 0);
  };
  std::vector<run::Notice> git_notices;
  // Stores git's diff before the snapshot's flush, so that one wait for the disk serves both.
  options.before_flush = [&]() -> Status {
    if (!git.valid()) return {};
    const GitState state = git.get();
    spec.git_commit = state.commit;
    spec.git_branch = masker.Mask(state.branch);
    if (!state.diff.empty()) {
      TENON_TRY(const Hash diff, objects->Put(masker.Mask(state.diff)));
      spec.git_diff_object = diff.Hex();
    } else if (!state.problem.empty() || !state.not_compared.empty()) {
      spec.git_diff_object = kGitUnknown;
    }
    AddGitNotices(state, &git_notices);
    return {};
  };
  if (request.read_all) options.stat_cache.clear();
  TENON_TRY(const snapshot::Frozen frozen, snapshot::Freeze(*objects, options));
  if (!spec.script.empty()) {
    const auto check = [&] {
      return CheckScriptIsTaken(*objects, frozen, request.folder.root, spec.script);
    };
    Status taken = check();
    if (!taken.ok() && taken.error().kind == ErrorKind::kCorrupt) {
      TENON_TRY_VOID(HealTree(context, request.folder, frozen.root.Hex(), "that is submitted"));
      taken = check();
    }
    TENON_TRY_VOID(std::move(taken));
  }
  spec.tree = frozen.root.Hex();
  spec.kept_tree = frozen.kept_root.Hex();
  std::vector<run::Step> steps = {{"snapshot", timer.Elapsed(), SnapshotDetail(frozen)}};
  AddSnapshotNotices(frozen, request.folder.root, &request.notices);
  request.notices.insert(request.notices.end(), git_notices.begin(), git_notices.end());
  // After this the snapshot is fixed and on disk.

  for (const run::Notice& notice : request.notices) reporter.OnNotice(notice);
  for (const run::Step& step : steps) reporter.OnStep(step);
  return RecordAndStart(context, std::move(spec), request.environment, request.secrets,
                        request.notices, steps, request.folder, reporter);
}

Result<std::string> Rerun(Context& context, RerunRequest request, Reporter& reporter) {
  TENON_TRY_VOID(CheckSecrets(request.secrets));
  TENON_TRY(const journal::RunView old, GetRun(context, request.run_id));
  if (old.spec.only_prepare) {
    return Invalid("the run " + old.spec.id + " has only prepared an environment")
        .WithHint("`tenon env prepare` does that again");
  }
  run::RunSpec spec = old.spec;
  for (const std::string& name : spec.secret_names) {
    bool given = false;
    for (const Secret& secret : request.secrets) given |= secret.name == name;
    if (!given) {
      return Invalid("the run " + old.spec.id + " had the secret " + name +
                     ", whose value is not kept")
          .WithHint("give it again: --secret " + name);
    }
  }
  const bool arguments_masked = !spec.secret_names.empty() && !request.arguments;
  if (arguments_masked) {
    for (const std::string& argument : spec.arguments) {
      if (argument.find("***") == std::string::npos) continue;
      return Invalid("an argument of the run " + old.spec.id + " held a secret and is not kept")
          .WithHint("give all the arguments again after the run's name");
    }
  }
  if (!spec.secret_names.empty()) {
    std::vector<std::string> settings = spec.setup;
    settings.push_back(spec.shared_directory);
    for (const auto& [name, value] : spec.environment) settings.push_back(value);
    for (const std::string& setting : settings) {
      if (setting.find("***") == std::string::npos) continue;
      return Invalid("a setting of the run " + old.spec.id + " held a secret and is not kept")
          .WithHint("`tenon submit` the script again, with its secrets");
    }
  }
  if (request.arguments) {
    spec.arguments = *request.arguments;
    spec.parameters = run::ParametersFromArguments(spec.arguments);
  }
  if (request.grace_us) spec.grace_us = *request.grace_us;
  if (request.timeout_us) spec.timeout_us = *request.timeout_us;
  if (request.retries) spec.retries = *request.retries;
  spec.refresh_environment = request.refresh_environment;
  spec.keep_on_fail = spec.keep_on_fail || request.keep_on_fail;
  if (request.gpus) {
    spec.container.gpus = *request.gpus;
    spec.container.gpus_from_option = true;
  }
  run::SetPypiNames(&spec.packages);  // a record of an older client has none
  spec.rerun_of = old.spec.id;
  return RecordAndStart(context, std::move(spec), request.environment, request.secrets, {}, {},
                        request.folder, reporter, request.before_start,
                        request.in_its_place ? old.spec.id : "");
}

}  // namespace tenon::engine
