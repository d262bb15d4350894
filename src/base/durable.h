// SPDX-License-Identifier: Apache-2.0
// Waiting for the disk. Nothing else calls fsync(2), fdatasync(2) or syncfs(2): each call here is a
// durable step, which tests count and stop at.
//
// TENON_TEST_DURABLE_STEPS=N:FILE (tests only) appends a line to FILE for each step; the process
// that comes to step N or a later one is killed (SIGKILL) before it waits. N = 0 only counts.
#ifndef TENON_BASE_DURABLE_H_
#define TENON_BASE_DURABLE_H_

namespace tenon {

// As the calls of those names; repeated on EINTR.
int DurableFsync(int fd);
int DurableFdatasync(int fd);
int DurableSyncfs(int fd);

// Whether fsync of a new file makes its name, and those of new folders above it, durable as well.
// So it is on ext4 (its journal is committed in order), XFS (likewise) and btrfs (which logs new
// folders above). Elsewhere each folder has to be waited for.
bool NamesFollowFsync(int fd);

}  // namespace tenon

#endif  // TENON_BASE_DURABLE_H_
