// SPDX-License-Identifier: Apache-2.0
// Linked as `tenon` is, with src/base/glibc_compat.cc in place of glibc's newer functions: proves
// that exceptions still unwind (main thread, another thread, through a callback of the C library)
// and that random numbers are random. Prints "ok", or the first thing that failed.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

int destroyed = 0;
struct Guard {
  ~Guard() { ++destroyed; }
};

[[gnu::noinline]] void ThrowDeep(int depth) {
  Guard guard;
  if (depth == 0) throw std::runtime_error("deep");
  ThrowDeep(depth - 1);
}

bool CatchDeep() {
  destroyed = 0;
  try {
    ThrowDeep(50);
  } catch (const std::runtime_error& error) {
    return destroyed == 51 && std::string(error.what()) == "deep";
  }
  return false;
}

bool CatchInThread() {
  bool caught = false;
  std::thread([&caught] { caught = CatchDeep(); }).join();
  return caught;
}

// qsort lies in the shared libc, so the walk crosses from one loaded object to another.
bool CatchThroughLibc() {
  int values[] = {3, 1, 2};
  try {
    qsort(values, 3, sizeof values[0],
          [](const void*, const void*) -> int { throw std::logic_error("compare"); });
  } catch (const std::logic_error&) {
    return true;
  }
  return false;
}

bool CatchLibraryError() {
  try {
    (void)std::stoi("not a number");
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

bool RandomDiffers() {
  std::random_device device;
  std::set<unsigned> seen;
  for (int i = 0; i < 64; ++i) seen.insert(device());
  return seen.size() > 32;
}

}  // namespace

int main() {
  struct {
    const char* name;
    bool (*run)();
  } cases[] = {{"deep", CatchDeep},
               {"thread", CatchInThread},
               {"libc", CatchThroughLibc},
               {"library", CatchLibraryError},
               {"random", RandomDiffers}};
  for (const auto& one : cases) {
    if (!one.run()) {
      std::printf("failed: %s\n", one.name);
      return 1;
    }
  }
  std::puts("ok");
  return 0;
}
