// SPDX-License-Identifier: Apache-2.0
#include "engine/run/adopt.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "engine/host/attach_host.h"
#include "engine/host/machine.h"
#include "engine/run/claim.h"
#include "engine/run/near_segment.h"
#include "engine/run/runs.h"
#include "journal/writer.h"
#include "run/layout.h"
#include "secrets/store.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::engine {
namespace {

constexpr size_t kMaxSpec = 32u << 20;
constexpr int64_t kFirstMs = 1'000'000'000'000;  // 2001: a smaller number in an id is no time

// A clock that shows the time in the run's id, so that listings sort the run where it belongs.
class TimeOfId : public Clock {
 public:
  TimeOfId(const std::string& run_id, int64_t otherwise_us) : us_(otherwise_us) {
    const size_t at = run_id.rfind('_');
    const int64_t ms =
        at == std::string::npos ? 0 : std::strtoll(run_id.c_str() + at + 1, nullptr, 10);
    if (ms > kFirstMs && ms <= otherwise_us / 1000) us_ = ms * 1000;
  }
  int64_t NowUs() const override { return us_; }
  int64_t MonotonicUs() const override { return SystemClock().MonotonicUs(); }

 private:
  int64_t us_;
};

Result<run::RunSpec> SpecThere(Machine& far, const std::string& run_id) {
  auto text = far.host().ReadFrom(run::RunFolder(far.home(), run_id).spec(), 0, kMaxSpec);
  if (!text.ok() && text.error().kind == ErrorKind::kNotFound) {
    return NotFound("the machine has no run " + ForTerminal(run_id));
  }
  if (!text.ok()) return std::move(text).error();
  TENON_TRY(const json::Value value, json::Parse(*text));
  const json::Object* spec =
      value.is_object() ? json::GetObject(value.get_object(), "spec") : nullptr;
  TENON_EXPECT_PEER(spec != nullptr, "the run's spec.json there is damaged");
  TENON_TRY(run::RunSpec read, run::RunSpec::FromJson(*spec));
  TENON_EXPECT_PEER(read.id == run_id && !read.key.empty(), "the run there is another one");
  return read;
}

// The key of the run that is recorded in this folder; "" = none is.
std::string KeyHere(const std::string& folder) {
  const auto run = journal::FoldRunFolder(folder);
  return run.ok() ? run->spec.key : "";
}

Status Record(Context& context, const run::RunSpec& spec) {
  const run::RunFolder folder(context.home, spec.id);
  TENON_TRY(const std::string client, context.ClientId());
  TENON_TRY_VOID(EnsureHome(context.home));
  // A folder without a record is left over from an earlier try.
  if (!IsDirectory(folder.path())) TENON_TRY_VOID(ClaimRunFolder(context, spec.id));
  const TimeOfId clock(spec.id, context.clock->NowUs());
  TENON_TRY(auto writer, OpenNearSegment(folder, spec.key, client, &clock, EndComesHere::kYes));
  TENON_TRY_VOID(writer.Append(run::Submitted{spec, client, context.version}));
  return writer.Sync();
}

// Whether the run is recorded, but the machine it was sent to was detached since.
bool HasLostItsMachine(const Context& context, Machine& far, const std::string& run_id) {
  if (far.known().id.empty()) return false;  // only a remembered one can replace it
  const auto host = HostOfRun(context, run_id);
  return host.ok() && !host->empty() && IsDetached(context.home, *host);
}

// Makes the machine id in the run's record lead to `far`. The record itself stays as it is.
Status LeadTo(Context& context, Machine& far, const std::string& run_id) {
  TENON_TRY(const std::string old, HostOfRun(context, run_id));
  HostRecord record = far.known();
  secrets::Store store(context.home.root());
  TENON_TRY(const auto password, store.Get(secrets::PasswordName(record.id)));
  TENON_TRY(const auto passphrase, store.Get(secrets::PassphraseName(record.id)));
  record.id = old;
  return RememberHost(context, std::move(record), {password, passphrase});
}

// Copies the journal. If the runner is gone, has the true end of the run written.
Status CopyJournal(Machine& far, const std::string& run_id) {
  const auto feed = far.runs().Feed(run_id, {});
  TENON_TRY(const RunFeed::Heard heard, feed->CatchUp());
  if (heard != RunFeed::Heard::kEnded) return {};
  TENON_TRY(const run::Recovered found, far.launch().Recover(run_id, {}));
  if (found.recovered) TENON_TRY_VOID(feed->CatchUp());
  return {};
}

// Clients never send .compute files or .git. A tree that has one was not made by a client:
// `restore` would plant a target or a git hook on this machine.
Status CheckComesFromAClient(const snapshot::ObjectStore& objects, const Hash& root) {
  return snapshot::Walk(objects, root, [](const snapshot::Entry& entry) -> Status {
    const std::string name = ToLower(BaseName(entry.path));
    const bool compute = entry.type != snapshot::EntryType::kFolder && name.ends_with(".compute");
    TENON_EXPECT_PEER(
        !compute && name != ".git",
        "the machine's copy has " + ForTerminal(entry.path) + ", which no client sends");
    return {};
  });
}

// Fetches the project's files, for `restore`. Returns the tree that they are in; "" if they can't
// be fetched. A machine that has removed them is no obstacle.
std::string FetchFiles(Context& context, Machine& far, const run::RunSpec& spec,
                       Reporter& reporter) {
  if (spec.tree.empty()) return spec.tree;
  const auto accept = [&]() -> Status {
    TENON_TRY(snapshot::ObjectStore * objects, context.Objects());
    return CheckComesFromAClient(*objects, *Hash::FromHex(spec.tree));
  };
  const Status fetched = far.runs().FetchTree(spec.tree, "files of the run", reporter, accept);
  if (fetched.ok()) return spec.tree;
  reporter.OnNotice({run::Level::kWarning,
                     spec.id + ": its files could not be fetched, so it cannot be restored here: " +
                         fetched.error().message,
                     ""});
  return "";
}

}  // namespace

Result<std::vector<run::HostedRun>> RunsToAdopt(Context& context, Machine& far) {
  TENON_TRY(run::HostedAnswer there, far.services().Hosted({}));
  std::erase_if(there.runs, [&](const run::HostedRun& run) {
    return !run::IsValidRunId(run.run_id) ||
           (!KeyHere(run::RunFolder(context.home, run.run_id).path()).empty() &&
            !HasLostItsMachine(context, far, run.run_id));
  });
  return std::move(there.runs);
}

Result<Adopted> Adopt(Context& context, Machine& far, const AdoptRequest& request,
                      Reporter& reporter) {
  if (!run::IsValidRunId(request.run_id)) {
    return Invalid(ForTerminal(request.run_id) + " cannot be the id of a run");
  }
  TENON_TRY(run::RunSpec spec, SpecThere(far, request.run_id));
  const std::string folder = run::RunFolder(context.home, spec.id).path();
  const std::string here = KeyHere(folder);
  if (!here.empty()) {
    if (here != spec.key) return Invalid("another run is called " + spec.id + " here");
    // Adopting another run of the same machine may have restored the machine's record meanwhile.
    const bool lost = HasLostItsMachine(context, far, spec.id);
    if (!lost && !request.listed) return Adopted::kKnown;
    if (lost) TENON_TRY_VOID(LeadTo(context, far, spec.id));
    TENON_TRY_VOID(RefreshRun(context, spec.id, Look::kThere, &reporter));
    return Adopted::kNew;
  }
  spec.host = request.host_id;
  // The submitting client alone has its kept tree and the git diff. So kept_tree becomes what could
  // be fetched here. The files are fetched before the run is recorded, because the record says what
  // this home has.
  TENON_TRY_VOID(EnsureHome(context.home));
  spec.kept_tree = FetchFiles(context, far, spec, reporter);
  spec.git_diff_object.clear();
  if (!request.project_id.empty()) spec.project_id = request.project_id;
  if (!spec.only_prepare) {
    TENON_TRY(spec.number, TakeRunNumber(context, spec.project_id, spec.number));
  }
  TENON_TRY_VOID(Record(context, spec));
  // After this the run is known here. If something is still missing, the next look at the run
  // fetches it.
  TENON_TRY_VOID(CopyJournal(far, spec.id));
  TENON_TRY(history::HistoryStore * store, context.History());
  TENON_TRY_VOID(history::IngestRunFolder(*store, spec.id, folder));
  TENON_TRY_VOID(far.runs().FetchOutputs(spec.id, reporter));
  return Adopted::kNew;
}

}  // namespace tenon::engine
