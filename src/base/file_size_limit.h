// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_BASE_FILE_SIZE_LIMIT_H_
#define TENON_BASE_FILE_SIZE_LIMIT_H_

namespace tenon {

// A write beyond the limit on the size of files (ulimit -f) is an error from now on (EFBIG), not
// the end of this program. Programs that it starts are ended by it as ever.
void SurviveFileSizeLimit();

}  // namespace tenon

#endif  // TENON_BASE_FILE_SIZE_LIMIT_H_
