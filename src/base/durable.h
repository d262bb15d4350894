// SPDX-License-Identifier: Apache-2.0
// Waits for the disk. Nothing else calls fsync(2), fdatasync(2) or syncfs(2). Each call is a
// durable step: tests count the steps and can end the process at any of them.
//
// TENON_TEST_DURABLE_STEPS=N:FILE (tests only) appends a line to FILE for each step. The process
// that comes to step N or a later one is killed (SIGKILL) before it waits. N = 0 only counts.
#ifndef TENON_BASE_DURABLE_H_
#define TENON_BASE_DURABLE_H_

namespace tenon {

// Like fsync(2), fdatasync(2) and syncfs(2), but repeated on EINTR. They also fail with EIO when
// the file system has given up and reports success all the same.
int DurableFsync(int fd);
int DurableFdatasync(int fd);
int DurableSyncfs(int fd);

// Whether fsync of a new file also makes its name durable, and the names of new folders above it.
// True on ext4 and XFS (which commit their journals in order) and on btrfs (which logs new folders
// above the file). On other file systems the caller has to fsync each folder.
bool NamesFollowFsync(int fd);

}  // namespace tenon

#endif  // TENON_BASE_DURABLE_H_
