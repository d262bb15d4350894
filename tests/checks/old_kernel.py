# SPDX-License-Identifier: Apache-2.0
"""Runs a program as on Linux 3.10 (x86-64): `old_kernel.py PROGRAM ARG...`

A seccomp filter, inherited by everything the program starts, answers ENOSYS to every system call
newer than 3.10, and what a 3.10 kernel answers to newer flags of older calls: O_TMPFILE, open file
description locks, reflink ioctls.
"""

import ctypes
import errno
import os
import struct
import sys

LAST_CALL = 313  # finit_module, the last one in 3.10
SYS_OPEN, SYS_OPENAT, SYS_FCNTL, SYS_IOCTL = 2, 257, 72, 16
O_TMPFILE_BIT = 0o20000000
OFD_FIRST, OFD_LAST = 36, 38
FICLONE, FICLONERANGE = 0x40049409, 0x4020940D

AUDIT_ARCH_X86_64 = 0xC000003E
LOAD, JEQ, JGE, JGT, JSET, RETURN = 0x20, 0x15, 0x35, 0x25, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE = 0, 4


def argument(n):
    return 16 + 8 * n


def program():
    """The filter as a list of (code, jump if true, jump if false, value)."""

    def deny(number):
        return (RETURN, 0, 0, ERRNO | number)

    allow = (RETURN, 0, 0, ALLOW)
    return [
        (LOAD, 0, 0, ARCHITECTURE),
        (JEQ, 1, 0, AUDIT_ARCH_X86_64),
        deny(errno.ENOSYS),
        (LOAD, 0, 0, NUMBER),
        (JGT, 0, 1, LAST_CALL),
        deny(errno.ENOSYS),
        # open: flags are the second argument
        (JEQ, 0, 4, SYS_OPEN),
        (LOAD, 0, 0, argument(1)),
        (JSET, 0, 1, O_TMPFILE_BIT),
        deny(errno.EISDIR),
        allow,
        # openat: the third
        (JEQ, 0, 4, SYS_OPENAT),
        (LOAD, 0, 0, argument(2)),
        (JSET, 0, 1, O_TMPFILE_BIT),
        deny(errno.EISDIR),
        allow,
        # fcntl
        (JEQ, 0, 5, SYS_FCNTL),
        (LOAD, 0, 0, argument(1)),
        (JGE, 0, 2, OFD_FIRST),
        (JGT, 1, 0, OFD_LAST),
        deny(errno.EINVAL),
        allow,
        # ioctl
        (JEQ, 0, 4, SYS_IOCTL),
        (LOAD, 0, 0, argument(1)),
        (JEQ, 1, 0, FICLONE),
        (JEQ, 0, 1, FICLONERANGE),
        deny(errno.ENOTTY),
        allow,
    ]


def install():
    libc = ctypes.CDLL(None, use_errno=True)
    code = b"".join(struct.pack("HBBI", *step) for step in program())
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    no_new_privileges, set_seccomp, mode_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0:
        sys.exit("no_new_privs: " + os.strerror(ctypes.get_errno()))
    if libc.prctl(set_seccomp, mode_filter, header, 0, 0) != 0:
        sys.exit("seccomp: " + os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    install()
    os.execvp(sys.argv[1], sys.argv[1:])
