// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_FILE_SIZE_LIMIT_H_
#define TENON_BASE_FILE_SIZE_LIMIT_H_

namespace tenon {

// From now on a write beyond the limit on the size of files (ulimit -f) fails with EFBIG instead of
// ending this program. The limit still ends programs that this one starts. May be called again.
void SurviveFileSizeLimit();

}  // namespace tenon

#endif  // TENON_BASE_FILE_SIZE_LIMIT_H_
