// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_SHOWN_BYTES_H_
#define TENON_BASE_SHOWN_BYTES_H_

#include <cstddef>
#include <string_view>

namespace tenon {

// How many bytes a text takes at most where it is shown: by ForTerminal(), in JSON (json::Print()
// of json::EncodeBytes()), quoted for a shell. As many as it has if it is plain, up to six times
// that if it was made to grow.
size_t ShownBytes(std::string_view bytes);

}  // namespace tenon

#endif  // TENON_BASE_SHOWN_BYTES_H_
