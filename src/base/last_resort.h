// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_LAST_RESORT_H_
#define TENON_BASE_LAST_RESORT_H_

#include <unistd.h>

#include <cstring>
#include <exception>
#include <new>

namespace tenon {

// Runs `run` for `main`. Prints an exception that nobody has caught and returns 1, so that the
// program ends instead of aborting. This is the net below the limits that every reader has, not
// their replacement. It allocates no memory, since memory may be what is missing.
template <typename F>
int CatchAll(F run) {
  const auto say = [](const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); };
  try {
    return run();
  } catch (const std::bad_alloc&) {
    say("error: there is not enough memory for this\n");
  } catch (const std::exception& problem) {
    say("error: ");
    say(problem.what());
    say("\n");
  } catch (...) {
    say("error: something went wrong that should not have\n");
  }
  return 1;
}

}  // namespace tenon

#endif  // TENON_BASE_LAST_RESORT_H_
