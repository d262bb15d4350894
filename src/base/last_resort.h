// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_LAST_RESORT_H_
#define TENON_BASE_LAST_RESORT_H_

#include <unistd.h>

#include <cstring>
#include <exception>
#include <new>

namespace tenon {

// What `main` does with an exception that nobody has caught: says so and returns 1, so that the
// program ends and is not aborted. The net below the limits that every reader has, not their
// replacement. Takes no memory, since that may be what is missing.
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
