// SPDX-License-Identifier: Apache-2.0
#include "runner/supervise/sampling.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "run/segment.h"

namespace tenon::runner {
namespace {

// How much is read before other descriptors have their turn.
constexpr size_t kAtOnce = 1u << 20;

// Uses only calls that are safe after fork().
void EndWithParent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // the parent ended before the call above
}

}  // namespace

Result<std::unique_ptr<Sampling>> Sampling::Start(const Sampler& sampler,
                                                  const run::RunFolder& folder,
                                                  const std::string& run_key,
                                                  const std::vector<std::string>& secrets,
                                                  PollLoop& loop, const Clock& clock) {
  const std::string segment = "sampler-" + sampler.name;
  if (!run::IsFarSegment(segment)) return Invalid("no sampler can be called " + sampler.name);
  journal::Writer::Options options;
  options.path = folder.segment(segment);
  options.run_key = run_key;
  options.segment = segment;
  options.clock = &clock;
  TENON_TRY(journal::Writer writer, journal::Writer::Open(options));
  const bool begun_before = writer.last_record() > 0;
  std::unique_ptr<Sampling> sampling(
      new Sampling(Recorder(std::move(writer), secrets, folder.runner_log(), clock), loop));
  if (begun_before) {
    sampling->recorder_.Append(run::Gap{0, 0, 0, "nothing was measured while no runner was there"});
  }
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return FromErrno("starting a sampler", errno);
  sampling->out_ = UniqueFd(pipe[0]);
  const UniqueFd theirs(pipe[1]);
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  SpawnOptions spawn;
  spawn.argv = sampler.argv;
  spawn.env = sampler.env;
  spawn.cwd = "/";
  spawn.stdout_fd = theirs.get();
  spawn.stderr_fd = nowhere.get();
  spawn.new_session = true;
  spawn.in_child = [parent = ::getpid()] { EndWithParent(parent); };
  TENON_TRY(const pid_t pid, Spawn(spawn));
  sampling->process_ = IdentifyProcess(pid).value_or(ProcessId{pid, 0, ""});
  loop.AddFd(sampling->out_.get(), [raw = sampling.get()] { raw->TakeIn(); });
  return sampling;
}

Sampling::~Sampling() {
  ending_ = true;
  if (process_.pid > 0) ::kill(-process_.pid, SIGKILL);
  TakeIn();
  Stop("it is over");
  (void)recorder_.writer().Sync().ok();
}

void Sampling::TakeIn() {
  for (size_t taken = 0; out_.valid() && taken < kAtOnce;) {
    const std::span<char> room = reader_.Room();
    const ssize_t count = ::read(out_.get(), room.data(), room.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return Stop("it has ended");
    taken += static_cast<size_t>(count);
    reader_.Took(static_cast<size_t>(count));
    for (;;) {
      const auto frame = reader_.Next();
      if (!frame.ok()) return Stop("it prints what is no frame");
      if (!*frame) break;
      if (const auto recorded = Record(**frame); !recorded.ok()) {
        return Stop(recorded.error().message);
      }
    }
  }
}

Status Sampling::Record(const Frame& frame) {
  if (frame.head.contains("notice")) {
    const std::string text = json::DecodeBytes(json::GetString(frame.head, "notice"));
    recorder_.Append(run::Notice{run::Level::kInfo, ForTerminal(text), ""});
    return {};
  }
  TENON_TRY(auto blocks, run::DecodeSampleBlocks(frame.body));
  recorder_.Append(run::Samples{std::move(blocks)});
  return {};
}

void Sampling::Stop(const std::string& why) {
  if (!out_.valid()) return;
  loop_.RemoveFd(out_.get());
  out_.Reset();
  // A sampler that nobody reads is of no use.
  if (process_.pid > 0) ::kill(-process_.pid, SIGKILL);
  process_.pid = 0;
  if (ending_) return;
  recorder_.Append(run::Notice{run::Level::kWarning, "nothing more is measured: " + why, ""});
}

}  // namespace tenon::runner
