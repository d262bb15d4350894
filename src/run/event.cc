// SPDX-License-Identifier: Apache-2.0
#include "run/event.h"

#include "base/compress.h"
#include "base/json_limits.h"
#include "run/event_cost.h"
#include "run/members.h"

namespace tenon::run {
namespace {

constexpr size_t kCompressFrom = 256u << 10;
constexpr size_t kValueCost = 40;  // a string in a vector, or a member of a struct
constexpr char kZstdFirstByte = '\x28';

constexpr std::pair<Level, std::string_view> kLevels[] = {
    {Level::kInfo, "info"}, {Level::kWarning, "warning"}, {Level::kError, "error"}};

// Members that say nothing are left out: most records are a few dozen bytes.
void Put(json::Object& o, std::string_view key, std::string_view text) {
  if (!text.empty()) o[key] = ToJsonText(text);
}
void Put(json::Object& o, std::string_view key, int64_t number) {
  if (number != 0) o[key] = number;
}
void PutUnsigned(json::Object& o, std::string_view key, uint64_t number) {
  if (number != 0) o[key] = number;
}
void PutFlag(json::Object& o, std::string_view key, bool flag) {
  if (flag) o[key] = true;
}

json::Object ProcessToJson(const ProcessId& process) {
  json::Object o;
  o["pid"] = int64_t{process.pid};
  o["start_ticks"] = process.start_ticks;
  o["boot_id"] = ToJsonText(process.boot_id);
  return o;
}

void ReadProcess(Members& members, ProcessId& process) {
  const json::Object* o = members.ReadObject("process");
  if (o == nullptr) return members.Fail("process", "there");
  Members inner(*o);
  int pid = 0;
  inner.Read("pid", pid);
  inner.Read("start_ticks", process.start_ticks);
  inner.Read("boot_id", process.boot_id);
  process.pid = pid;
  if (inner.failed()) members.Fail("process", "a process: pid, start_ticks, boot_id");
}

void ReadState(Members& members, State& state) {
  std::string name;
  members.Read("state", name);
  std::optional<State> known = StateFromName(name);
  if (!known) return members.Fail("state", "a state of a run");
  state = *known;
}

json::Object ToJson(const Submitted& e) {
  json::Object o;
  o["spec"] = e.spec.ToJson();
  Put(o, "client", e.client);
  Put(o, "tenon_version", e.tenon_version);
  return o;
}
void FromJson(Members& in, Submitted& e) {
  const json::Object* spec = in.ReadObject("spec");
  if (spec == nullptr) return in.Fail("spec", "there");
  Result<RunSpec> read = RunSpec::FromRecord(*spec);
  if (!read.ok()) return in.Fail("spec", "a run specification (" + read.error().message + ")");
  e.spec = std::move(*read);
  in.Read("client", e.client);
  in.Read("tenon_version", e.tenon_version);
}

json::Object ToJson(const StateChange& e) {
  json::Object o;
  o["state"] = StateName(e.state);
  Put(o, "reason", e.reason);
  return o;
}
void FromJson(Members& in, StateChange& e) {
  ReadState(in, e.state);
  in.Read("reason", e.reason);
}

json::Object ToJson(const Step& e) {
  json::Object o;
  o["name"] = ToJsonText(e.name);
  Put(o, "duration_us", e.duration_us);
  Put(o, "detail", e.detail);
  return o;
}
void FromJson(Members& in, Step& e) {
  in.Read("name", e.name);
  in.Read("duration_us", e.duration_us);
  in.Read("detail", e.detail);
}

json::Object ToJson(const Artifacts& e) {
  json::Array files;
  files.reserve(e.files.size());
  for (const Artifact& file : e.files) {
    json::Object o;
    o["path"] = ToJsonText(file.path);
    o["size"] = file.size;
    o["hash"] = ToJsonText(file.hash);
    o["mode"] = file.mode;
    files.push_back(std::move(o));
  }
  json::Object o;
  o["files"] = std::move(files);
  Put(o, "tree", e.tree);
  Put(o, "left", static_cast<int64_t>(e.left));
  return o;
}
void FromJson(Members& in, Artifacts& e) {
  in.Read("tree", e.tree);
  in.Read("left", e.left);
  const json::Array* files = in.ReadArray("files");
  if (files == nullptr) return;
  e.files.reserve(files->size());
  for (const json::Value& value : *files) {
    const json::Object* o = value.if_object();
    if (o == nullptr) return in.Fail("files", "an array of objects");
    Members inner(*o);
    Artifact& file = e.files.emplace_back();
    inner.Read("path", file.path);
    inner.Read("size", file.size);
    inner.Read("hash", file.hash);
    inner.Read("mode", file.mode);
    if (inner.failed()) return in.Fail("files", "files: path, size, hash, mode");
  }
}

json::Object ToJson(const Notice& e) {
  json::Object o;
  for (const auto& [level, name] : kLevels) {
    if (level == e.level) o["level"] = name;
  }
  o["text"] = ToJsonText(e.text);
  Put(o, "hint", e.hint);
  return o;
}
void FromJson(Members& in, Notice& e) {
  std::string level;
  in.Read("level", level);
  for (const auto& [value, name] : kLevels) {
    if (name == level) e.level = value;  // a level we do not know is told as information
  }
  in.Read("text", e.text);
  in.Read("hint", e.hint);
}

json::Object ToJson(const Proof& proof) {
  json::Object o;
  o["method"] = ToJsonText(proof.method);
  o["ended"] = proof.ended;
  o["left"] = proof.left;
  Put(o, "unseen", proof.unseen);
  Put(o, "remark", proof.remark);
  Put(o, "gpu", proof.gpu);
  return o;
}

json::Object ToJson(const End& e) {
  json::Object o;
  o["state"] = StateName(e.state);
  if (e.exit_code) o["exit_code"] = *e.exit_code;
  Put(o, "signal", int64_t{e.signal});
  Put(o, "reason", e.reason);
  PutFlag(o, "never_started", e.never_started);
  PutFlag(o, "recovered", e.recovered);
  PutFlag(o, "rebooted", e.rebooted);
  Put(o, "peak_rss_bytes", e.peak_rss_bytes);
  Put(o, "start_us", e.start_us);
  Put(o, "duration_us", e.duration_us);
  if (e.proof) o["proof"] = ToJson(*e.proof);
  PutFlag(o, "outputs_left", e.outputs_left);
  return o;
}
void FromJson(Members& in, End& e) {
  ReadState(in, e.state);
  if (!in.failed() && !IsFinal(e.state)) in.Fail("state", "a final state");
  in.Read("exit_code", e.exit_code);
  in.Read("signal", e.signal);
  in.Read("reason", e.reason);
  in.Read("never_started", e.never_started);
  in.Read("recovered", e.recovered);
  in.Read("rebooted", e.rebooted);
  in.Read("peak_rss_bytes", e.peak_rss_bytes);
  in.Read("start_us", e.start_us);
  in.Read("duration_us", e.duration_us);
  in.Read("outputs_left", e.outputs_left);
  const json::Object* o = in.ReadObject("proof");
  if (o == nullptr) return;
  Members inner(*o);
  Proof proof;
  inner.Read("method", proof.method);
  inner.Read("ended", proof.ended);
  inner.Read("left", proof.left);
  inner.Read("unseen", proof.unseen);
  inner.Read("remark", proof.remark);
  inner.Read("gpu", proof.gpu);
  if (inner.failed()) return in.Fail("proof", "a proof: method, ended, left");
  e.proof = std::move(proof);
}

json::Object ToJson(const Gap& e) {
  json::Object o;
  PutUnsigned(o, "stdout_bytes", e.stdout_bytes);
  PutUnsigned(o, "stderr_bytes", e.stderr_bytes);
  PutUnsigned(o, "records", e.records);
  Put(o, "reason", e.reason);
  return o;
}
void FromJson(Members& in, Gap& e) {
  in.Read("stdout_bytes", e.stdout_bytes);
  in.Read("stderr_bytes", e.stderr_bytes);
  in.Read("records", e.records);
  in.Read("reason", e.reason);
}

json::Object ToJson(const RunnerStarted& e) {
  json::Object o;
  o["process"] = ProcessToJson(e.process);
  Put(o, "host", e.host);
  Put(o, "version", e.version);
  o["protocol"] = e.protocol;
  return o;
}
void FromJson(Members& in, RunnerStarted& e) {
  ReadProcess(in, e.process);
  in.Read("host", e.host);
  in.Read("version", e.version);
  in.Read("protocol", e.protocol);
}

json::Object ToJson(const Annotation& e) {
  json::Object o;
  if (e.name) o["name"] = ToJsonText(*e.name);
  if (e.note) o["note"] = ToJsonText(*e.note);
  if (e.hidden) o["hidden"] = *e.hidden;
  if (!e.set_tags.empty()) o["set_tags"] = ToJsonPairs(e.set_tags);
  if (!e.remove_tags.empty()) o["remove_tags"] = ToJsonTexts(e.remove_tags);
  return o;
}
void FromJson(Members& in, Annotation& e) {
  in.Read("name", e.name);
  in.Read("note", e.note);
  in.Read("hidden", e.hidden);
  in.Read("set_tags", e.set_tags);
  in.Read("remove_tags", e.remove_tags);
}

json::Object ToJson(const ScriptStarted& e) {
  json::Object o;
  o["process"] = ProcessToJson(e.process);
  o["argv"] = ToJsonTexts(e.argv);
  return o;
}
void FromJson(Members& in, ScriptStarted& e) {
  ReadProcess(in, e.process);
  in.Read("argv", e.argv);
}

json::Object ToJson(const ScriptEnded& e) {
  json::Object o;
  o["exit_code"] = e.exit_code;
  Put(o, "signal", int64_t{e.signal});
  PutFlag(o, "out_of_memory", e.out_of_memory);
  Put(o, "peak_rss_bytes", e.peak_rss_bytes);
  Put(o, "start_us", e.start_us);
  Put(o, "duration_us", e.duration_us);
  Put(o, "leftovers", e.leftovers);
  Put(o, "problem", e.problem);
  return o;
}
void FromJson(Members& in, ScriptEnded& e) {
  in.Read("exit_code", e.exit_code);
  in.Read("signal", e.signal);
  in.Read("out_of_memory", e.out_of_memory);
  in.Read("peak_rss_bytes", e.peak_rss_bytes);
  in.Read("start_us", e.start_us);
  in.Read("duration_us", e.duration_us);
  in.Read("leftovers", e.leftovers);
  in.Read("problem", e.problem);
}

json::Object ToJson(const EnvironmentReady& e) {
  json::Object o;
  Put(o, "key", e.key);
  Put(o, "kind", e.kind);
  Put(o, "name", e.name);
  Put(o, "base", e.base);
  Put(o, "base_id", e.base_id);
  Put(o, "python_version", e.python_version);
  Put(o, "file", e.file);
  PutFlag(o, "reused", e.reused);
  PutUnsigned(o, "bytes", e.bytes);
  if (!e.packages.empty()) o["packages"] = InstalledToJson(e.packages);
  return o;
}
void FromJson(Members& in, EnvironmentReady& e) {
  in.Read("key", e.key);
  in.Read("kind", e.kind);
  in.Read("name", e.name);
  in.Read("base", e.base);
  in.Read("base_id", e.base_id);
  in.Read("python_version", e.python_version);
  in.Read("file", e.file);
  in.Read("reused", e.reused);
  in.Read("bytes", e.bytes);
  if (const json::Array* packages = in.ReadArray("packages")) {
    Result<std::vector<InstalledPackage>> read = InstalledFromJson(*packages);
    if (!read.ok()) return in.Fail("packages", "packages: name, version, source");
    e.packages = std::move(*read);
  }
}

json::Object ToJson(const Progress& e) {
  json::Object o;
  o["step"] = ToJsonText(e.step);
  Put(o, "detail", e.detail);
  PutUnsigned(o, "done", e.done);
  PutUnsigned(o, "total", e.total);
  return o;
}
void FromJson(Members& in, Progress& e) {
  in.Read("step", e.step);
  in.Read("detail", e.detail);
  in.Read("done", e.done);
  in.Read("total", e.total);
}

json::Object ToJson(const ContainerMade& e) {
  json::Object o;
  o["id"] = ToJsonText(e.id);
  Put(o, "name", e.name);
  Put(o, "image", e.image);
  Put(o, "engine", e.engine);
  Put(o, "socket", e.socket);
  return o;
}
void FromJson(Members& in, ContainerMade& e) {
  in.Read("id", e.id);
  in.Read("name", e.name);
  in.Read("image", e.image);
  in.Read("engine", e.engine);
  in.Read("socket", e.socket);
}

json::Object ToJson(const Output&) { return {}; }
json::Object ToJson(const Metrics&) { return {}; }

std::string EncodeOutput(const Output& e) {
  std::string bytes(1, static_cast<char>(e.stream));
  bytes += e.bytes;
  return bytes;
}

Result<std::optional<Event>> DecodeOutput(std::string_view payload) {
  TENON_EXPECT_PEER(!payload.empty() && (payload[0] == 1 || payload[0] == 2),
                    "output of an unknown stream");
  return std::optional<Event>(Output{static_cast<Stream>(payload[0]), payload.substr(1)});
}

Result<std::optional<Event>> DecodeMetrics(std::string_view payload) {
  TENON_TRY(std::vector<MetricBlock> blocks, DecodeMetricBlocks(payload));
  return std::optional<Event>(Metrics{std::move(blocks)});
}

template <typename T>
Result<Event> Read(const json::Object& object) {
  Members members(object);
  T event;
  FromJson(members, event);
  Status status = members.status();
  if (!status.ok()) return Corrupt(status.error().message);
  return Event(std::move(event));
}

using ReadFunction = Result<Event> (*)(const json::Object&);

// nullptr: a type that carries no JSON, or an unknown one.
ReadFunction ReaderOf(EventType type) {
  switch (type) {
    case EventType::kSubmitted:
      return Read<Submitted>;
    case EventType::kState:
      return Read<StateChange>;
    case EventType::kStep:
      return Read<Step>;
    case EventType::kArtifacts:
      return Read<Artifacts>;
    case EventType::kNotice:
      return Read<Notice>;
    case EventType::kEnd:
      return Read<End>;
    case EventType::kGap:
      return Read<Gap>;
    case EventType::kRunnerStarted:
      return Read<RunnerStarted>;
    case EventType::kAnnotation:
      return Read<Annotation>;
    case EventType::kScriptStarted:
      return Read<ScriptStarted>;
    case EventType::kScriptEnded:
      return Read<ScriptEnded>;
    case EventType::kEnvironmentReady:
      return Read<EnvironmentReady>;
    case EventType::kProgress:
      return Read<Progress>;
    case EventType::kContainerMade:
      return Read<ContainerMade>;
    case EventType::kOutput:
    case EventType::kMetrics:
      break;
  }
  return nullptr;
}

}  // namespace

EventType TypeOf(const Event& event) {
  // In the order of the variant.
  constexpr EventType kTypes[] = {EventType::kSubmitted,   EventType::kState,
                                  EventType::kStep,        EventType::kOutput,
                                  EventType::kMetrics,     EventType::kArtifacts,
                                  EventType::kNotice,      EventType::kEnd,
                                  EventType::kGap,         EventType::kRunnerStarted,
                                  EventType::kAnnotation,  EventType::kScriptStarted,
                                  EventType::kScriptEnded, EventType::kEnvironmentReady,
                                  EventType::kProgress,    EventType::kContainerMade};
  static_assert(std::size(kTypes) == std::variant_size_v<Event>);
  return kTypes[event.index()];
}

json::Object EventToJson(const Event& event) {
  return std::visit([](const auto& e) { return ToJson(e); }, event);
}

Result<Event> EventFromJson(EventType type, const json::Object& object) {
  ReadFunction read = ReaderOf(type);
  if (read == nullptr) return Invalid("this type of event has no JSON form");
  return read(object);
}

std::string EncodeEvent(const Event& event) {
  if (const auto* output = std::get_if<Output>(&event)) return EncodeOutput(*output);
  if (const auto* metrics = std::get_if<Metrics>(&event))
    return EncodeMetricBlocks(metrics->blocks);
  std::string text = json::Print(json::Value(EventToJson(event)));
  return text.size() <= kCompressFrom ? text : Compress(text);
}

Result<std::optional<Event>> DecodeEvent(uint8_t type, std::string_view payload) {
  size_t cost = 0;
  return DecodeEventWithCost(type, payload, &cost);
}

Result<std::optional<Event>> DecodeEventWithCost(uint8_t type, std::string_view payload,
                                                 size_t* cost) {
  *cost = 0;
  const auto known = static_cast<EventType>(type);
  if (known == EventType::kOutput) return DecodeOutput(payload);
  if (known == EventType::kMetrics) return DecodeMetrics(payload);
  ReadFunction read = ReaderOf(known);
  if (read == nullptr) return std::optional<Event>();

  std::string text;
  if (!payload.empty() && payload[0] == kZstdFirstByte) {
    TENON_TRY(text, Decompress(payload, kMaxEventJson));
    payload = text;
  }
  Result<json::Value> value = json::ParseLimited(payload, 64, kMaxEventValues);
  if (!value.ok()) return Corrupt(value.error().message);
  *cost = payload.size() + kValueCost * json::CountValues(*value);
  const json::Object* object = value->if_object();
  TENON_EXPECT_PEER(object != nullptr, "not a JSON object");
  TENON_TRY(Event event, read(*object));
  return std::optional<Event>(std::move(event));
}

}  // namespace tenon::run
