// SPDX-License-Identifier: Apache-2.0
#include "run/event.h"

#include "base/compress.h"
#include "base/json_limits.h"
#include "base/shown_bytes.h"
#include "run/described.h"
#include "run/event_cost.h"

namespace tenon::run {
namespace {

constexpr size_t kCompressFrom = 256u << 10;
constexpr size_t kValueCost = 40;  // a string in a vector, or a member of a struct
constexpr char kZstdFirstByte = '\x28';

constexpr std::pair<Level, std::string_view> kLevels[] = {
    {Level::kInfo, "info"}, {Level::kWarning, "warning"}, {Level::kError, "error"}};

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

Result<std::optional<Event>> DecodeSamples(std::string_view payload) {
  TENON_TRY(std::vector<SampleBlock> blocks, DecodeSampleBlocks(payload));
  return std::optional<Event>(Samples{std::move(blocks)});
}

template <Described T>
Result<Event> Read(const json::Object& object) {
  Result<T> event = FromJsonObject<T>(object);
  if (!event.ok()) return Corrupt(event.error().message);
  return Event(std::move(*event));
}

using ReadFunction = Result<Event> (*)(const json::Object&);

// Returns nullptr for a type that carries no JSON, and for an unknown one.
template <typename... T>
ReadFunction FindReader(EventType type, const std::variant<T...>*) {
  ReadFunction found = nullptr;
  auto consider = [&]<typename E>(const E*) {
    if constexpr (Described<E>) {
      if (E::kType == type) found = Read<E>;
    }
  };
  (consider(static_cast<const T*>(nullptr)), ...);
  return found;
}
ReadFunction ReaderOf(EventType type) {
  return FindReader(type, static_cast<const Event*>(nullptr));
}

}  // namespace

json::Value ToJsonValue(State state) { return json::Value(StateName(state)); }

void ReadValue(Members& in, std::string_view key, State& out) {
  std::string name;
  in.Read(key, name);
  if (!in.Has(key) || in.failed()) return;
  const std::optional<State> known = StateFromName(name);
  if (!known) return in.Fail(key, "a state of a run");
  out = *known;
}

json::Value ToJsonValue(Level level) {
  for (const auto& [value, name] : kLevels) {
    if (value == level) return json::Value(name);
  }
  return json::Value("info");
}

void ReadValue(Members& in, std::string_view key, Level& out) {
  std::string level;
  in.Read(key, level);
  for (const auto& [value, name] : kLevels) {
    if (name == level) out = value;  // an unknown level leaves the default
  }
}

void End::Check(Members& in) const {
  if (!IsFinal(state)) in.Fail("state", "a final state");
}

EventType TypeOf(const Event& event) {
  return std::visit([](const auto& e) { return e.kType; }, event);
}

json::Object EventToJson(const Event& event) {
  return std::visit(
      []<typename E>(const E& e) {
        if constexpr (Described<E>) {
          return ToJsonObject(e);
        } else {
          return json::Object();
        }
      },
      event);
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
  if (const auto* samples = std::get_if<Samples>(&event))
    return EncodeSampleBlocks(samples->blocks);
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
  if (known == EventType::kSamples) return DecodeSamples(payload);
  ReadFunction read = ReaderOf(known);
  if (read == nullptr) return std::optional<Event>();

  std::string text;
  if (!payload.empty() && payload[0] == kZstdFirstByte) {
    TENON_TRY(text, Decompress(payload, kMaxEventJson));
    payload = text;
  }
  Result<json::Value> value = json::ParseLimited(payload, 64, kMaxEventValues);
  if (!value.ok()) return Corrupt(value.error().message);
  *cost = ShownBytes(payload) + kValueCost * json::CountValues(*value);
  const json::Object* object = value->if_object();
  TENON_EXPECT_PEER(object != nullptr, "not a JSON object");
  TENON_TRY(Event event, read(*object));
  return std::optional<Event>(std::move(event));
}

}  // namespace tenon::run
