// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/shared_image.h"

#include <unistd.h>

#include <charconv>
#include <utility>

#include "base/clock.h"
#include "base/compress.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

namespace tenon::runner {
namespace {

constexpr size_t kHomeDigits = 8;
constexpr size_t kLongestLabel = 16u << 20;
constexpr useconds_t kLookUs = 200'000;
// How long a stopped container may take to become an image: storing gigabytes takes time.
constexpr int64_t kStoringUs = 120'000'000;

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// "" when `text` is not hex.
std::string FromHex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const auto [at, failure] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (failure != std::errc() || at != text.data() + i + 2) return "";
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::string TagOfHome(const std::string& key, const std::string& home) {
  return key + "-" + Sha256Of(home).Hex().substr(0, kHomeDigits);
}

bool IsOf(const docker::Image& image, const std::string& home) {
  return docker::LabelOf(image.labels, kLabelHome) == home;
}

std::optional<SharedImage> WholeOrNot(const docker::Image& image, const std::string& key) {
  if (docker::LabelOf(image.labels, kLabelKind) != "environment" ||
      docker::LabelOf(image.labels, kLabelKey) != key) {
    return std::nullopt;
  }
  auto made = ReadMadeLabel(docker::LabelOf(image.labels, kLabelMade));
  if (!made) return std::nullopt;
  return SharedImage{image.id, std::move(*made)};
}

}  // namespace

std::string ImageName(const std::string& key) { return std::string(kImageRepository) + ":" + key; }

std::string ImageNameOfHome(const std::string& key, const std::string& home) {
  return ImageName(TagOfHome(key, home));
}

std::string BuildContainerName(const std::string& key) { return "tenon-build-" + key; }

// In hex, because Podman does not accept quotes in a label.
std::string MadeLabel(const MadeEnvironment& made) {
  return ToHex(Compress(json::Print(made.ToJson())));
}

std::optional<MadeEnvironment> ReadMadeLabel(const std::string& label) {
  const std::string packed = FromHex(label);
  if (packed.empty()) return std::nullopt;
  const auto text = Decompress(packed, kLongestLabel);
  if (!text.ok()) return std::nullopt;
  const auto value = json::Parse(*text);
  if (!value.ok() || !value->is_object()) return std::nullopt;
  auto made = MadeEnvironment::FromJson(value->get_object());
  if (!made.ok()) return std::nullopt;
  return std::move(*made);
}

Result<std::optional<SharedImage>> FindShared(docker::Engine& engine, const std::string& key) {
  TENON_TRY(const auto image, engine.FindImage(ImageName(key)));
  return image ? WholeOrNot(*image, key) : std::nullopt;
}

Status KeepShared(docker::Engine& engine, const std::string& id, const std::string& key,
                  const std::string& home) {
  TENON_TRY(const auto image, engine.FindImage(id));
  if (!image) return NotFound("the image " + ImageName(key) + " is gone");
  if (IsOf(*image, home)) return {};
  return engine.Tag(id, kImageRepository, TagOfHome(key, home));
}

Result<std::optional<SharedImage>> NameImage(docker::Engine& engine, const std::string& id,
                                             const std::string& key, const std::string& home,
                                             bool anew) {
  const std::optional<SharedImage> ours;
  TENON_TRY(const auto named, engine.FindImage(ImageName(key)));
  if (named && named->id != id && !anew) {
    if (auto theirs = WholeOrNot(*named, key); theirs && !IsOf(*named, home)) {
      TENON_TRY_VOID(KeepShared(engine, theirs->id, key, home));
      (void)engine.RemoveImage(id).ok();
      return theirs;
    }
  }
  if (named && named->id != id && !IsOf(*named, home)) {
    TENON_TRY_VOID(engine.Tag(id, kImageRepository, TagOfHome(key, home)));
    return ours;
  }
  TENON_TRY_VOID(engine.Tag(id, kImageRepository, key));
  return ours;
}

Status WaitForOtherHome(docker::Engine& engine, const std::string& key, const std::string& home,
                        const std::function<void()>& on_wait, const std::atomic<bool>& stop) {
  bool told = false;
  int64_t stopped_us = 0;
  for (;;) {
    if (stop) return Unavailable("stopped");
    TENON_TRY(const auto container, engine.Find(BuildContainerName(key)));
    if (!container || docker::LabelOf(container->labels, kLabelHome) == home) return {};
    const int64_t now = SystemClock().MonotonicUs();
    if (container->running) {
      stopped_us = 0;
    } else {
      if (stopped_us == 0) stopped_us = now;
      if (now - stopped_us >= kStoringUs) return {};
    }
    if (!told) on_wait();
    told = true;
    ::usleep(kLookUs);
  }
}

}  // namespace tenon::runner
