// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_SHOWN_BYTES_H_
#define TENON_BASE_SHOWN_BYTES_H_

#include <cstddef>
#include <string_view>

namespace tenon {

// At most how many bytes a text takes where it is shown: by ForTerminal(), in JSON (json::Print()
// of json::EncodeBytes()), or quoted for a shell. Quotes around the text are not counted. A plain
// text takes as many bytes as it has; one made to grow takes up to six times that.
size_t ShownBytes(std::string_view bytes);

}  // namespace tenon

#endif  // TENON_BASE_SHOWN_BYTES_H_
