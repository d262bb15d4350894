// SPDX-License-Identifier: Apache-2.0
#include "history/codec.h"

#include <concepts>
#include <cstring>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/compress.h"
#include "history/database.h"
#include "run/artifact_name.h"

namespace tenon::history {
namespace {

// Enumerators are stored as numbers.
static_assert(static_cast<int>(run::State::kNotStarted) == 0);
static_assert(static_cast<int>(run::State::kNotResponding) == 10);
static_assert(static_cast<int>(run::ExecutorKind::kSpark) == 2);
static_assert(static_cast<int>(run::Level::kError) == 2);
static_assert(std::variant_size_v<run::MetricValue> == 5);

constexpr int LastOf(run::State) { return static_cast<int>(run::State::kNotResponding); }
constexpr int LastOf(run::ExecutorKind) { return static_cast<int>(run::ExecutorKind::kSpark); }
constexpr int LastOf(run::Level) { return static_cast<int>(run::Level::kError); }

template <typename S, typename T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

// Fields(archive, value): one list of members for both directions. The bindings make the compiler
// count them.
template <typename A, Is<ProcessId> S>
void Fields(A& a, S& s) {
  auto& [pid, start_ticks, boot_id] = s;
  a(pid, start_ticks, boot_id);
}
template <typename A, Is<run::Package> S>
void Fields(A& a, S& s) {
  auto& [text, name, where, pypi] = s;
  (void)pypi;  // the journal has it, and whoever starts the run again asks the table
  a(text, name, where);
}
template <typename A, Is<run::PackageFile> S>
void Fields(A& a, S& s) {
  auto& [path, hash] = s;
  a(path, hash);
}
template <typename A, Is<run::Packages> S>
void Fields(A& a, S& s) {
  auto& [file, format, python, python_where, channels, conda, pip, pip_options, files] = s;
  a(file, format, python, python_where, channels, conda, pip, pip_options, files);
}
template <typename A, Is<run::InstalledPackage> S>
void Fields(A& a, S& s) {
  auto& [name, version, source] = s;
  a(name, version, source);
}
template <typename A, Is<run::ContainerSpec> S>
void Fields(A& a, S& s) {
  auto& [image, image_where, shared_volumes, nvidia_docker, gpus, gpus_from_option, gpu_where,
         memory_bytes, nano_cpus, shm_bytes, ulimits, read_only_root, network] = s;
  a(image, image_where, shared_volumes, nvidia_docker, gpus, gpus_from_option, gpu_where,
    memory_bytes, nano_cpus, shm_bytes, ulimits, read_only_root, network);
}
template <typename A, Is<run::ScriptEnded> S>
void Fields(A& a, S& s) {
  auto& [exit_code, signal, out_of_memory, peak_rss_bytes, start_us, duration_us, leftovers,
         problem] = s;
  a(exit_code, signal, out_of_memory, peak_rss_bytes, start_us, duration_us, leftovers, problem);
}
template <typename A, Is<run::EnvironmentReady> S>
void Fields(A& a, S& s) {
  auto& [key, kind, name, base, base_id, python_version, file, reused, bytes, packages] = s;
  a(key, kind, name, base, base_id, python_version, file, reused, bytes, packages);
}
template <typename A, Is<run::ContainerMade> S>
void Fields(A& a, S& s) {
  auto& [id, name, image, engine, socket] = s;
  a(id, name, image, engine, socket);
}
template <typename A, Is<run::RunSpec> S>
void Fields(A& a, S& s) {
  auto& [key, id, number, project, project_id, user, user_id, script, arguments, parameters, tree,
         kept_tree, target, target_type, host, run_configuration, executor, python, environment,
         secret_names, shared_directory, setup, tracked, grace_us, timeout_us, keep, keep_on_fail,
         retries, only_prepare, managed_environment, prepare_environment, refresh_environment,
         packages, container, git_commit, git_branch, git_diff_object, rerun_of] = s;
  a(key, id, number, project, project_id, user, user_id, script, arguments, parameters, tree,
    kept_tree, target, target_type, host, run_configuration, executor, python, environment,
    secret_names, shared_directory, setup, tracked, grace_us, timeout_us, keep, keep_on_fail,
    retries, only_prepare, managed_environment, prepare_environment, refresh_environment, packages,
    container, git_commit, git_branch, git_diff_object, rerun_of);
}
template <typename A, Is<run::Submitted> S>
void Fields(A& a, S& s) {
  auto& [spec, client, tenon_version] = s;
  a(spec, client, tenon_version);
}
template <typename A, Is<run::Step> S>
void Fields(A& a, S& s) {
  auto& [name, duration_us, detail] = s;
  a(name, duration_us, detail);
}
template <typename A, Is<run::Artifact> S>
void Fields(A& a, S& s) {
  auto& [path, size, hash, mode] = s;
  a(path, size, hash, mode);
}
template <typename A, Is<run::Notice> S>
void Fields(A& a, S& s) {
  auto& [level, text, hint] = s;
  a(level, text, hint);
}
template <typename A, Is<run::Proof> S>
void Fields(A& a, S& s) {
  auto& [method, ended, left, unseen, remark, gpu] = s;
  a(method, ended, left, unseen, remark, gpu);
}
template <typename A, Is<run::End> S>
void Fields(A& a, S& s) {
  auto& [state, exit_code, signal, reason, never_started, recovered, rebooted, peak_rss_bytes,
         start_us, duration_us, proof, outputs_left] = s;
  a(state, exit_code, signal, reason, never_started, recovered, rebooted, peak_rss_bytes, start_us,
    duration_us, proof, outputs_left);
}
template <typename A, Is<run::Gap> S>
void Fields(A& a, S& s) {
  auto& [stdout_bytes, stderr_bytes, records, reason] = s;
  a(stdout_bytes, stderr_bytes, records, reason);
}
template <typename A, Is<run::RunnerStarted> S>
void Fields(A& a, S& s) {
  auto& [process, host, version, protocol] = s;
  a(process, host, version, protocol);
}
template <typename A, Is<run::ScriptStarted> S>
void Fields(A& a, S& s) {
  auto& [process, argv] = s;
  a(process, argv);
}
template <typename A, Is<journal::SeriesSummary> S>
void Fields(A& a, S& s) {
  auto& [count, numbers, min, max, last, last_step, last_time_us] = s;
  a(count, numbers, min, max, last, last_step, last_time_us);
}
template <typename A, typename T>
void Fields(A& a, journal::Said<T>& s) {
  auto& [value, time_us, by] = s;
  a(value, time_us, by);
}
template <typename A, typename T>
void Fields(A& a, const journal::Said<T>& s) {
  auto& [value, time_us, by] = s;
  a(value, time_us, by);
}
template <typename A, Is<journal::SegmentFold> S>
void Fields(A& a, S& s) {
  auto& [records, first_us, last_us, submitted, submitted_us, state, state_reason, end, end_us,
         runner, script, script_us, script_ended, environment, container, steps, notices, artifacts,
         outputs_tree, outputs_left, series, stdout_bytes, stderr_bytes, gap, hole_bytes, name,
         note, hidden, tags, held, left_out, files_left_out] = s;
  a(records, first_us, last_us, submitted, submitted_us, state, state_reason, end, end_us, runner,
    script, script_us, script_ended, environment, container, steps, notices, artifacts,
    outputs_tree, outputs_left, series, stdout_bytes, stderr_bytes, gap, hole_bytes, name, note,
    hidden, tags, held, left_out, files_left_out);
}

enum class Part { kRow, kDetail };

template <typename A, Is<journal::RunView> S>
void ViewFields(A& a, S& s, Part part) {
  auto& [spec, client, tenon_version, state, reason, end, created_us, start_us, end_us, duration_us,
         last_heard_us, runner, script, environment, container, steps, notices, artifacts,
         outputs_tree, outputs_left, series, stdout_bytes, stderr_bytes, gap, hole_bytes, name,
         note, hidden, tags, files_left_out, unreadable, untold] = s;
  // The index has the last two beside the run.
  if (part == Part::kDetail) {
    a(steps, notices, environment, container);
    return;
  }
  a(spec, client, tenon_version, state, reason, end, created_us, start_us, end_us, duration_us,
    last_heard_us, runner, script, artifacts, outputs_tree, outputs_left, series, stdout_bytes,
    stderr_bytes, gap, hole_bytes, name, note, hidden, tags, files_left_out);
}

class Encoder {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (Put(values), ...);
  }
  std::string Take() { return std::move(out_); }

 private:
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      out_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    out_ += static_cast<char>(value);
  }
  template <std::unsigned_integral T>
  void Put(const T& value) {
    Varint(value);
  }
  template <std::signed_integral T>
  void Put(const T& value) {
    const auto wide = static_cast<int64_t>(value);
    Varint((static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
  }
  void Put(const double& value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof raw);
    out_.append(raw, sizeof raw);
  }
  void Put(const std::string& text) {
    Varint(text.size());
    out_ += text;
  }
  template <typename T>
  requires std::is_enum_v<T>
  void Put(const T& value) { Varint(static_cast<uint64_t>(value)); }
  template <typename T>
  void Put(const std::optional<T>& value) {
    out_ += static_cast<char>(value.has_value());
    if (value) Put(*value);
  }
  template <typename K, typename V>
  void Put(const std::pair<K, V>& pair) {
    Put(pair.first);
    Put(pair.second);
  }
  template <typename T>
  void Put(const std::vector<T>& items) {
    Varint(items.size());
    for (const T& item : items) Put(item);
  }
  template <typename K, typename V>
  void Put(const std::map<K, V>& items) {
    Varint(items.size());
    for (const auto& item : items) Put(item);
  }
  void Put(const run::MetricValue& value) {
    Varint(value.index());
    std::visit([this](const auto& v) { Put(v); }, value);
  }
  template <typename T>
  requires std::is_class_v<T>
  void Put(const T& value) { Fields(*this, value); }

  std::string out_;
};

// After the first thing that is wrong everything reads as empty and ok() is false. Reads over what
// is there before, and keeps its memory.
class Decoder {
 public:
  explicit Decoder(std::string_view in) : in_(in) {}
  template <typename... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return in_.empty(); }

 private:
  void Fail() {
    ok_ = false;
    in_ = {};
  }
  std::string_view Bytes(size_t n) {
    if (n > in_.size()) {
      Fail();
      return {};
    }
    const std::string_view bytes = in_.substr(0, n);
    in_.remove_prefix(n);
    return bytes;
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !in_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(in_.front());
      in_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  // A number of things that take a byte each at least.
  size_t Size() {
    const uint64_t n = Varint();
    if (n > in_.size()) {
      Fail();
      return 0;
    }
    return n;
  }
  template <std::unsigned_integral T>
  void Get(T& value) {
    value = static_cast<T>(Varint());
  }
  template <std::signed_integral T>
  void Get(T& value) {
    const uint64_t raw = Varint();
    value = static_cast<T>(static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1));
  }
  void Get(double& value) {
    if (const auto raw = Bytes(sizeof value); ok_) std::memcpy(&value, raw.data(), sizeof value);
  }
  void Get(std::string& text) { text.assign(Bytes(Size())); }
  template <typename T>
  requires std::is_enum_v<T>
  void Get(T& value) {
    const uint64_t raw = Varint();
    if (raw > static_cast<uint64_t>(LastOf(T{}))) return Fail();
    value = static_cast<T>(raw);
  }
  template <typename T>
  void Get(std::optional<T>& value) {
    if (Varint() == 0) return value.reset();
    Get(value ? *value : value.emplace());
  }
  template <typename K, typename V>
  void Get(std::pair<K, V>& pair) {
    Get(pair.first);
    Get(pair.second);
  }
  template <typename T>
  void Get(std::vector<T>& items) {
    const size_t n = Size();
    if (items.size() > n) items.resize(n);
    for (size_t i = 0; i < n && ok_; ++i) Get(i < items.size() ? items[i] : items.emplace_back());
  }
  template <typename K, typename V>
  void Get(std::map<K, V>& items) {
    const size_t n = Size();
    auto at = items.begin();  // stored in order; most runs have the names of the one before
    for (size_t i = 0; i < n && ok_; ++i) {
      K key{};
      Get(key);
      if (at == items.end() || at->first != key) {
        items.erase(at, items.end());
        at = items.emplace_hint(items.end(), std::move(key), V{});
      }
      Get(at->second);
      ++at;
    }
    items.erase(at, items.end());
  }
  void Get(run::MetricValue& value) {
    switch (Varint()) {
      case 0:
        return Get(value.emplace<0>());
      case 1:
        return Get(value.emplace<1>());
      case 2:
        return Get(value.emplace<2>());
      case 3:
        return Get(value.emplace<3>());
      case 4:
        return Get(value.emplace<4>());
      default:
        return Fail();
    }
  }
  template <typename T>
  requires std::is_class_v<T>
  void Get(T& value) { Fields(*this, value); }

  std::string_view in_;
  bool ok_ = true;
};

// First byte of what is stored. A fold with ten thousand artifacts is worth compressing; the usual
// one of a kilobyte is not.
constexpr char kPlain = 1;
constexpr char kCompressed = 2;
constexpr size_t kWorthCompressing = 16u << 10;
constexpr size_t kLargest = size_t{64} << 20;  // journal::kMaxHeld keeps them far below

std::string Seal(std::string bytes) {
  if (bytes.size() >= kWorthCompressing) return kCompressed + Compress(bytes);
  bytes.insert(bytes.begin(), kPlain);
  return bytes;
}

Error Damaged() {
  return Corrupt("the history index holds bytes that are not a run").WithHint(kRebuildHint);
}

// Calls `decode` on the contents.
template <typename F>
Status Unseal(std::string_view bytes, F decode) {
  if (bytes.empty()) return Damaged();
  const std::string_view body = bytes.substr(1);
  std::string plain;
  if (bytes[0] == kCompressed) {
    auto decompressed = Decompress(body, kLargest);
    if (!decompressed.ok()) return Damaged();
    plain = std::move(*decompressed);
  } else if (bytes[0] != kPlain) {
    return Damaged();
  }
  Decoder decoder(bytes[0] == kCompressed ? std::string_view(plain) : body);
  decode(decoder);
  if (!decoder.ok() || !decoder.at_end()) return Damaged();
  return {};
}

}  // namespace

std::string EncodeFold(const journal::SegmentFold& fold) {
  Encoder encoder;
  encoder(fold);
  return Seal(encoder.Take());
}

Result<journal::SegmentFold> DecodeFold(std::string_view bytes) {
  journal::SegmentFold fold;
  TENON_TRY_VOID(Unseal(bytes, [&](Decoder& decoder) { decoder(fold); }));
  // An index that was made when any name was taken.
  run::DropForeignNames(&fold.artifacts);
  return fold;
}

std::string EncodeRow(const journal::RunView& view) {
  Encoder encoder;
  ViewFields(encoder, view, Part::kRow);
  return Seal(encoder.Take());
}

std::string EncodeDetail(const journal::RunView& view) {
  Encoder encoder;
  ViewFields(encoder, view, Part::kDetail);
  return Seal(encoder.Take());
}

Status DecodeRow(std::string_view bytes, journal::RunView& view) {
  TENON_TRY_VOID(Unseal(bytes, [&](Decoder& decoder) { ViewFields(decoder, view, Part::kRow); }));
  run::DropForeignNames(&view.artifacts);
  return {};
}

Status DecodeDetail(std::string_view bytes, journal::RunView& view) {
  return Unseal(bytes, [&](Decoder& decoder) { ViewFields(decoder, view, Part::kDetail); });
}

}  // namespace tenon::history
