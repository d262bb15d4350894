// SPDX-License-Identifier: Apache-2.0
// Freeze and Unpack as one command, for snapshot_bench.py.
#include <cstdio>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/freeze/unpack.h"

namespace {

int Fail(const tenon::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int Freeze(const std::string& store_folder, const std::string& folder, const std::string& cache) {
  const int64_t start = tenon::SystemClock().MonotonicUs();
  auto store = tenon::snapshot::ObjectStore::Open(store_folder);
  if (!store.ok()) return Fail(store.error());
  tenon::snapshot::FreezeOptions options;
  options.folder = folder;
  options.stat_cache = cache;
  options.ignore_files = {".amlignore", ".gitignore"};
  options.always_ignored = {".git", "/outputs", "__pycache__", ".ipynb_checkpoints"};
  options.stays_here = [](std::string_view path) { return path.ends_with(".compute"); };
  auto frozen = tenon::snapshot::Freeze(*store, options);
  if (!frozen.ok()) return Fail(frozen.error());
  const int64_t us = tenon::SystemClock().MonotonicUs() - start;
  std::printf("{\"root\": \"%s\", \"files\": %llu, \"hashed\": %llu, \"us\": %lld}\n",
              frozen->root.Hex().c_str(), static_cast<unsigned long long>(frozen->files),
              static_cast<unsigned long long>(frozen->files_hashed), static_cast<long long>(us));
  return 0;
}

int Unpack(const std::string& store_folder, const std::string& root, const std::string& folder) {
  const int64_t start = tenon::SystemClock().MonotonicUs();
  auto store = tenon::snapshot::ObjectStore::Open(store_folder);
  if (!store.ok()) return Fail(store.error());
  const auto hash = tenon::Hash::FromHex(root);
  if (!hash) return 2;
  auto unpacked = tenon::snapshot::Unpack(*store, *hash, folder);
  if (!unpacked.ok()) return Fail(unpacked.error());
  const int64_t us = tenon::SystemClock().MonotonicUs() - start;
  std::printf("{\"files\": %llu, \"us\": %lld}\n", static_cast<unsigned long long>(unpacked->files),
              static_cast<long long>(us));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "freeze") == 0) return Freeze(argv[2], argv[3], argv[4]);
  if (argc == 5 && std::strcmp(argv[1], "unpack") == 0) return Unpack(argv[2], argv[3], argv[4]);
  std::fprintf(stderr,
               "usage: snapshot_tool freeze STORE FOLDER CACHE | unpack STORE ROOT FOLDER\n");
  return 2;
}
