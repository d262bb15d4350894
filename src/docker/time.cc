// SPDX-License-Identifier: Apache-2.0
#include "docker/time.h"

#include <time.h>

#include <cstdio>

namespace tenon::docker {

std::optional<int64_t> ParseTime(const std::string& text) {
  tm parts{};
  int used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used) != 6) {
    return std::nullopt;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  int64_t us = int64_t{::timegm(&parts)} * 1'000'000;
  const char* rest = text.c_str() + used;
  if (*rest == '.') {
    ++rest;
    for (int64_t unit = 100'000; *rest >= '0' && *rest <= '9'; ++rest, unit /= 10) {
      us += (*rest - '0') * unit;
    }
  }
  char sign = 0;
  int hours = 0, minutes = 0;
  if (std::sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) == 3 &&
      (sign == '+' || sign == '-')) {
    us -= (sign == '+' ? 1 : -1) * (int64_t{hours} * 60 + minutes) * 60'000'000;
  }
  if (us < 0) return std::nullopt;
  return us;
}

}  // namespace tenon::docker
