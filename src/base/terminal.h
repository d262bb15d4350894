// SPDX-License-Identifier: Apache-2.0
// Text from elsewhere on its way to a terminal. All of it goes through ForTerminal() (base/text.h):
// invalid sequences become U+FFFD, control characters other than newline and tab become \xNN, other
// deceptive characters become \uNNNN or \UNNNNNNNN. Applying it twice changes nothing more.
#ifndef TENON_BASE_TERMINAL_H_
#define TENON_BASE_TERMINAL_H_

#include <string>
#include <string_view>

namespace tenon {

// A character that a terminal obeys, or that makes a text look like another one: controls (newline
// and tab among them), marks of writing direction, characters without width, tags.
bool IsDeceptive(char32_t code);

// ForTerminal() for a place that has one line: line breaks and tabs become blanks.
std::string OneLine(std::string_view bytes);

}  // namespace tenon

#endif  // TENON_BASE_TERMINAL_H_
