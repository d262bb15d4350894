// SPDX-License-Identifier: Apache-2.0
// Text from elsewhere on its way to a terminal. ForTerminal() (base/text.h) is the one function
// that all of it goes through: invalid sequences become U+FFFD, control characters other than
// newline and tab are shown as \xNN, other deceptive ones as \uNNNN. What has been through it once
// is not changed again.
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
