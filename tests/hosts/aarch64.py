# SPDX-License-Identifier: Apache-2.0
"""A machine that is aarch64 as far as a runner can tell: `uname -m` says so, and the kernel hands programs for aarch64 to qemu.
The machine's other programs are this one's own, so a runner for aarch64 does a whole run here, Python and all.

    with aarch64.Programs():
        server = sshd.Sshd(mounts=aarch64.uname_mounts(folder))

Needs root and qemu-user-static.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from hosts.sshd import Unusable

QEMU = "/usr/bin/qemu-aarch64-static"
MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"


class Programs:
    """While it is open the kernel runs programs for aarch64."""

    def __init__(self):
        self._folder = None
        self._entry = None

    def __enter__(self):
        try:
            self._open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _open(self):
        if os.geteuid() != 0:
            raise Unusable("programs for aarch64 need root")
        if not os.access(QEMU, os.X_OK):
            raise Unusable(f"no {QEMU}; scripts/setup --tests installs qemu-user-static")
        self._folder = Path(tempfile.mkdtemp(prefix="tenon-binfmt-", dir="/var/tmp"))
        done = subprocess.run(["mount", "-t", "binfmt_misc", "tenon-test", self._folder], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unusable(f"this kernel knows no binfmt_misc: {done.stderr.strip()}")
        name = self._folder.name  # its own entry also where there is one: whoever made that may take it away
        try:
            (self._folder / "register").write_text(f":{name}:M::{MAGIC}:{MASK}:{QEMU}:F")
        except OSError as error:
            raise Unusable(f"binfmt_misc: {error.strerror}") from None
        self._entry = self._folder / name

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            if self._entry is not None:
                self._entry.write_text("-1")
        if self._folder is not None:
            subprocess.run(["umount", self._folder], capture_output=True, check=False)
            with contextlib.suppress(OSError):
                self._folder.rmdir()


def uname_mounts(folder, machine="aarch64"):
    """For Sshd(mounts=…): `uname -m` of that machine."""
    real = shutil.which("uname")
    copy, wrapper = folder / "uname.real", folder / "uname"
    shutil.copy(os.path.realpath(real), copy)
    wrapper.write_text(f'#!/bin/sh\nif [ "$*" = -m ]; then echo {machine}; else exec {copy} "$@"; fi\n')
    for path in (copy, wrapper):
        path.chmod(0o755)
    for parent in [folder, *folder.parents]:
        if parent.stat().st_mode & 0o1 == 0:
            parent.chmod(parent.stat().st_mode | 0o1)
    return [f"mount --bind {wrapper} {os.path.realpath(real)}"]
