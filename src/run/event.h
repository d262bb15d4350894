// SPDX-License-Identifier: Apache-2.0
// What can happen in a run. The journal stores events as records (type, time, payload). This file
// says what each payload holds. "near" and "far" name the segment of a record: the client writes
// near segments, programs on the run's machine write far ones. Rare events carry JSON, so members
// can be added: a member and its line in Fields() are all it takes. Output, metrics and samples
// come in millions and are packed bytes. A reader skips types and members it does not know.
#ifndef TENON_RUN_EVENT_H_
#define TENON_RUN_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "run/metric.h"
#include "run/packages.h"
#include "run/sample.h"
#include "run/spec.h"
#include "run/state.h"

namespace tenon::run {

class Members;

enum class EventType : uint8_t {
  kSubmitted = 1,
  kState = 2,
  kStep = 3,
  kOutput = 4,
  kMetrics = 5,
  kArtifacts = 6,
  kNotice = 7,
  kEnd = 8,
  kGap = 9,
  kRunnerStarted = 10,
  kAnnotation = 11,
  kScriptStarted = 12,
  kScriptEnded = 13,
  kEnvironmentReady = 14,
  kProgress = 15,
  kContainerMade = 16,
  kParameters = 17,
  kSamples = 18,
  kHandedOver = 19,
};

// near: the client has frozen the project and is about to ask a host.
struct Submitted {
  RunSpec spec;
  std::string client;  // id of the client
  std::string tenon_version;

  static constexpr EventType kType = EventType::kSubmitted;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "spec", &Submitted::spec, FieldRule::kRequired),
                      Field(2, "client", &Submitted::client),
                      Field(3, "tenon_version", &Submitted::tenon_version));
  }
};

// far: the run has entered a state that is not final. `reason` may be empty.
struct StateChange {
  State state = State::kStarting;
  std::string reason;

  static constexpr EventType kType = EventType::kState;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "state", &StateChange::state, FieldRule::kRequired),
                      Field(2, "reason", &StateChange::reason));
  }
};

// near or far: one step of the work, written when it has ended.
struct Step {
  std::string name;  // "snapshot", "unpack", "collect outputs" …
  int64_t duration_us = 0;
  std::string detail;  // for people: "812 files, 4.1 MB"

  static constexpr EventType kType = EventType::kStep;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "name", &Step::name, FieldRule::kAlways),
                      Field(2, "duration_us", &Step::duration_us),
                      Field(3, "detail", &Step::detail));
  }
};

// far: bytes the script wrote, as they came (masked).
enum class Stream : uint8_t { kStdout = 1, kStderr = 2 };
struct Output {
  Stream stream = Stream::kStdout;
  std::string_view bytes;  // points into the record

  static constexpr EventType kType = EventType::kOutput;
};

struct Metrics {
  std::vector<MetricBlock> blocks;

  static constexpr EventType kType = EventType::kMetrics;
};

// far: parameters that the script logged while it ran. The spec has the parameters of the command
// line. The first value of a name counts.
struct Parameters {
  std::vector<std::pair<std::string, std::string>> values;

  static constexpr EventType kType = EventType::kParameters;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "values", &Parameters::values, FieldRule::kAlways));
  }
};

// far: what a sampler measured, many samples in one record.
struct Samples {
  std::vector<SampleBlock> blocks;

  static constexpr EventType kType = EventType::kSamples;
};

// far: what the run left in outputs/, or text it uploaded. Several records when there are many.
struct Artifact {
  std::string path;  // "outputs/model.json"
  uint64_t size = 0;
  std::string hash;  // hex, in the object store
  uint32_t mode = 0644;

  static constexpr auto Fields() {
    return std::tuple(Field(1, "path", &Artifact::path, FieldRule::kAlways),
                      Field(2, "size", &Artifact::size, FieldRule::kAlways),
                      Field(3, "hash", &Artifact::hash, FieldRule::kAlways),
                      Field(4, "mode", &Artifact::mode, FieldRule::kAlways));
  }
};
struct Artifacts {
  std::vector<Artifact> files;
  std::string tree;   // hex root hash of outputs/ as a tree; last record only
  uint64_t left = 0;  // files that were not collected, so outputs/ is kept; last record only

  static constexpr EventType kType = EventType::kArtifacts;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "files", &Artifacts::files, FieldRule::kAlways),
                      Field(2, "tree", &Artifacts::tree), Field(3, "left", &Artifacts::left));
  }
};

// near or far: something the user should know.
enum class Level { kInfo, kWarning, kError };
constexpr int LastOf(Level) { return static_cast<int>(Level::kError); }
struct Notice {
  Level level = Level::kInfo;
  std::string text;
  std::string hint;

  static constexpr EventType kType = EventType::kNotice;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "level", &Notice::level, FieldRule::kAlways),
                      Field(2, "text", &Notice::text, FieldRule::kAlways),
                      Field(3, "hint", &Notice::hint));
  }
};

// How it was checked that nothing of the run is left.
struct Proof {
  std::string method;  // "cgroup", "subreaper", "scan", "container", "none"
  int64_t ended = 0;   // processes that had to be ended
  int64_t left = 0;    // processes still there
  int64_t unseen = 0;  // processes with an unreadable environment, other users' not counted
  std::string remark;  // what could not be checked and why; "" = everything was
  std::string gpu;     // "no GPU on this machine", "no memory held", …

  static constexpr auto Fields() {
    return std::tuple(Field(1, "method", &Proof::method, FieldRule::kAlways),
                      Field(2, "ended", &Proof::ended, FieldRule::kAlways),
                      Field(3, "left", &Proof::left, FieldRule::kAlways),
                      Field(4, "unseen", &Proof::unseen), Field(5, "remark", &Proof::remark),
                      Field(6, "gpu", &Proof::gpu));
  }
};

// far: the end of the run and its true reason. A near segment has an End only with never_started.
struct End {
  State state = State::kFailed;
  std::optional<int> exit_code;  // what `submit` exits with; absent when there is none
  int signal = 0;                // the signal that killed the script; 0 = none
  std::string reason;            // "" for an ordinary exit
  bool never_started = false;    // no runner ever started the run
  bool recovered = false;        // not written by the run's own runner
  bool rebooted = false;         // the machine was restarted during the run
  int64_t peak_rss_bytes = 0;
  int64_t start_us = 0;     // when the script started, 0 = it did not
  int64_t duration_us = 0;  // of the script, from the monotonic clock; 0 when not known
  std::optional<Proof> proof;
  bool outputs_left = false;  // not all outputs are collected: the run's folder has the only copy
  std::string cause;          // a code that a client acts on; run/damage.h defines one
  // How many segments the run has on its machine besides the one with this record; absent: not
  // known.
  std::optional<int64_t> other_segments;

  static constexpr EventType kType = EventType::kEnd;
  void Check(Members& in) const;
  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "state", &End::state, FieldRule::kRequired),
        Field(2, "exit_code", &End::exit_code), Field(3, "signal", &End::signal),
        Field(4, "reason", &End::reason), Field(5, "never_started", &End::never_started),
        Field(6, "recovered", &End::recovered), Field(7, "rebooted", &End::rebooted),
        Field(8, "peak_rss_bytes", &End::peak_rss_bytes), Field(9, "start_us", &End::start_us),
        Field(10, "duration_us", &End::duration_us), Field(11, "proof", &End::proof),
        Field(12, "outputs_left", &End::outputs_left), Field(13, "cause", &End::cause),
        Field(14, "other_segments", &End::other_segments));
  }
};

// far: the runner could not record for a while (a full disk). Says what was lost.
struct Gap {
  uint64_t stdout_bytes = 0;
  uint64_t stderr_bytes = 0;
  uint64_t records = 0;  // other records: metrics, notices
  std::string reason;

  static constexpr EventType kType = EventType::kGap;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "stdout_bytes", &Gap::stdout_bytes),
                      Field(2, "stderr_bytes", &Gap::stderr_bytes),
                      Field(3, "records", &Gap::records), Field(4, "reason", &Gap::reason));
  }
};

// far: the process that supervises the run. Later requests find the supervisor by this record.
struct RunnerStarted {
  ProcessId process;
  std::string host;
  std::string version;
  int protocol = 0;

  static constexpr EventType kType = EventType::kRunnerStarted;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "process", &RunnerStarted::process, FieldRule::kRequired),
                      Field(2, "host", &RunnerStarted::host),
                      Field(3, "version", &RunnerStarted::version),
                      Field(4, "protocol", &RunnerStarted::protocol, FieldRule::kAlways));
  }
};

// far: the script's process.
struct ScriptStarted {
  ProcessId process;
  std::vector<std::string> argv;  // masked

  static constexpr EventType kType = EventType::kScriptStarted;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "process", &ScriptStarted::process, FieldRule::kRequired),
                      Field(2, "argv", &ScriptStarted::argv, FieldRule::kAlways));
  }
};

// far, written by the init in a container: the script and every process it started are gone. The
// runner on the host writes the end of the run.
struct ScriptEnded {
  int exit_code = 0;
  int signal = 0;
  bool out_of_memory = false;
  int64_t peak_rss_bytes = 0;
  int64_t start_us = 0;     // wall clock
  int64_t duration_us = 0;  // monotonic clock
  int64_t leftovers = 0;    // processes that the script left behind and that were ended
  std::string problem;      // why the script could not be started; "" = it was started

  static constexpr EventType kType = EventType::kScriptEnded;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "exit_code", &ScriptEnded::exit_code, FieldRule::kAlways),
                      Field(2, "signal", &ScriptEnded::signal),
                      Field(3, "out_of_memory", &ScriptEnded::out_of_memory),
                      Field(4, "peak_rss_bytes", &ScriptEnded::peak_rss_bytes),
                      Field(5, "start_us", &ScriptEnded::start_us),
                      Field(6, "duration_us", &ScriptEnded::duration_us),
                      Field(7, "leftovers", &ScriptEnded::leftovers),
                      Field(8, "problem", &ScriptEnded::problem));
  }
};

// far: the environment of the script is ready.
struct EnvironmentReady {
  std::string key;   // "" when nothing had to be made
  std::string kind;  // "image", "folder", "base image"
  std::string name;  // name of the image, or path of the folder
  std::string base;  // name of the base image, or path of the named interpreter; "" = none
  std::string base_id;
  std::string python_version;
  std::string file;     // the file that asked for it
  bool reused = false;  // it existed already
  uint64_t bytes = 0;
  std::vector<InstalledPackage> packages;

  static constexpr EventType kType = EventType::kEnvironmentReady;
  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "key", &EnvironmentReady::key), Field(2, "kind", &EnvironmentReady::kind),
        Field(3, "name", &EnvironmentReady::name), Field(4, "base", &EnvironmentReady::base),
        Field(5, "base_id", &EnvironmentReady::base_id),
        Field(6, "python_version", &EnvironmentReady::python_version),
        Field(7, "file", &EnvironmentReady::file), Field(8, "reused", &EnvironmentReady::reused),
        Field(9, "bytes", &EnvironmentReady::bytes),
        Field(10, "packages", &EnvironmentReady::packages));
  }
};

// far: a step is at work. Written at most twice a second, so the journal can keep it.
struct Progress {
  std::string step;
  std::string detail;
  uint64_t done = 0;
  uint64_t total = 0;  // 0: not known

  static constexpr EventType kType = EventType::kProgress;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "step", &Progress::step, FieldRule::kAlways),
                      Field(2, "detail", &Progress::detail), Field(3, "done", &Progress::done),
                      Field(4, "total", &Progress::total));
  }
};

// far: the container of the run, recorded before it is started. Later requests find the container
// by this record.
struct ContainerMade {
  std::string id;
  std::string name;
  std::string image;
  std::string engine;  // "Docker 20.10.24"
  std::string socket;

  static constexpr EventType kType = EventType::kContainerMade;
  static constexpr auto Fields() {
    return std::tuple(
        Field(1, "id", &ContainerMade::id, FieldRule::kAlways),
        Field(2, "name", &ContainerMade::name), Field(3, "image", &ContainerMade::image),
        Field(4, "engine", &ContainerMade::engine), Field(5, "socket", &ContainerMade::socket));
  }
};

// The handle by which a launch finds a run that it has started. Only the launch that made the
// handle understands `text`. Everybody else stores it unchanged.
struct LaunchHandle {
  std::string launch;   // name of the launch: "direct", …; "" = the run's id is enough
  int64_t version = 0;  // version of the format of `text`
  std::string text;

  bool operator==(const LaunchHandle&) const = default;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "launch", &LaunchHandle::launch),
                      Field(2, "version", &LaunchHandle::version),
                      Field(3, "text", &LaunchHandle::text));
  }
};

// near: a launch has accepted the run and returned this handle.
struct HandedOver {
  LaunchHandle handle;

  static constexpr EventType kType = EventType::kHandedOver;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "handle", &HandedOver::handle, FieldRule::kRequired));
  }
};

// near: what the user says about a run afterwards. An absent member changes nothing.
struct Annotation {
  std::optional<std::string> name;
  std::optional<std::string> note;
  std::optional<bool> hidden;
  std::vector<std::pair<std::string, std::string>> set_tags;
  std::vector<std::string> remove_tags;

  static constexpr EventType kType = EventType::kAnnotation;
  static constexpr auto Fields() {
    return std::tuple(Field(1, "name", &Annotation::name), Field(2, "note", &Annotation::note),
                      Field(3, "hidden", &Annotation::hidden),
                      Field(4, "set_tags", &Annotation::set_tags),
                      Field(5, "remove_tags", &Annotation::remove_tags));
  }
};

using Event =
    std::variant<Submitted, StateChange, Step, Output, Metrics, Artifacts, Notice, End, Gap,
                 RunnerStarted, Annotation, ScriptStarted, ScriptEnded, EnvironmentReady, Progress,
                 ContainerMade, Parameters, Samples, HandedOver>;

EventType TypeOf(const Event& event);
std::string EncodeEvent(const Event& event);
// Returns nullopt for a type that this program does not know; the caller skips it. Fails with
// kCorrupt when the payload does not fit the type. The bytes of an Output point into `payload`.
Result<std::optional<Event>> DecodeEvent(uint8_t type, std::string_view payload);

// For run/described.h.
json::Value ToJsonValue(State state);
void ReadValue(Members& in, std::string_view key, State& out);
json::Value ToJsonValue(Level level);
void ReadValue(Members& in, std::string_view key, Level& out);

// The JSON payload as an object, and back. Empty for kOutput, kMetrics and kSamples.
json::Object EventToJson(const Event& event);
// Fails with kCorrupt when the object does not fit the type, with kInvalid for a type that carries
// no JSON.
Result<Event> EventFromJson(EventType type, const json::Object& object);

}  // namespace tenon::run

#endif  // TENON_RUN_EVENT_H_
