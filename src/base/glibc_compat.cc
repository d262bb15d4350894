// SPDX-License-Identifier: Apache-2.0
// Two functions newer than the oldest glibc that `tenon` supports (2.34).
//
// The compiler's static run time libraries on the build machine need them: libgcc_eh needs
// _dl_find_object (glibc 2.35), libstdc++'s random_device needs arc4random (2.36). A program that
// defines them itself does not import them, and so starts on older systems. They are hidden, so
// that a shared library loaded later keeps using the real ones. Only `tenon` links this file; the
// runner is static and has its own libc inside.

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace {

struct Search {
  uintptr_t address;
  dl_find_object* result;
};

// Fills the result when `info` is the object that holds the address. Returns 0 to go on; 1 (found)
// or 2 (found, but without an eh_frame) ends the walk.
int Visit(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const ElfW(Phdr)* eh_frame = nullptr;
  uintptr_t start = UINTPTR_MAX, end = 0;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_EH_FRAME) eh_frame = &segment;
    if (segment.p_type != PT_LOAD) continue;
    uintptr_t from = info->dlpi_addr + segment.p_vaddr, to = from + segment.p_memsz;
    if (from < start) start = from;
    if (to > end) end = to;
    inside |= search->address >= from && search->address < to;
  }
  if (!inside) return 0;
  if (eh_frame == nullptr) return 2;
  *search->result = {};
  search->result->dlfo_map_start = reinterpret_cast<void*>(start);
  search->result->dlfo_map_end = reinterpret_cast<void*>(end);
  search->result->dlfo_eh_frame = reinterpret_cast<void*>(info->dlpi_addr + eh_frame->p_vaddr);
  return 1;
}

}  // namespace

extern "C" {

// GCC 12's unwinder has no other way to find the tables: -1 would turn every throw into an abort.
// It reads dlfo_eh_frame only. The link map is left out because dl_iterate_phdr does not give it.
__attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* result) {
  Search search{reinterpret_cast<uintptr_t>(address), result};
  return dl_iterate_phdr(Visit, &search) == 1 ? 0 : -1;
}

__attribute__((visibility("hidden"))) uint32_t arc4random() {
  uint32_t value;
  if (syscall(SYS_getrandom, &value, sizeof value, 0) == static_cast<long>(sizeof value)) {
    return value;
  }
  int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0) abort();
  ssize_t n;
  do {
    n = read(fd, &value, sizeof value);
  } while (n < 0 && errno == EINTR);
  close(fd);
  if (n != static_cast<ssize_t>(sizeof value)) abort();
  return value;
}

}  // extern "C"
