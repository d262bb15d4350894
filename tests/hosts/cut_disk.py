# SPDX-License-Identifier: Apache-2.0
"""An ext4 file system in a file whose power can be cut: what was not waited for is gone.

    with CutDisk(folder) as disk:
        …write below disk.path…
        disk.cut()        # from here on every call on it fails, and nothing more reaches the file
        …end whoever uses it…
        disk.mount_again()
"""

import fcntl
import os
import struct
import subprocess
from pathlib import Path

EXT4_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2  # the journal in memory is thrown away, as by a power cut


class Unusable(Exception):
    """Says why there can be none here."""


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unusable(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout.strip()


class CutDisk:
    def __init__(self, folder, megabytes=512, options=""):
        self.folder = Path(folder)
        self.path = self.folder / "disk"
        self.megabytes = megabytes
        self.options = options
        self.image = self.folder / "disk-0.image"
        self.number = 0
        self.loop = None
        self.mounted = False

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unusable("not root")
        try:
            self.path.mkdir(parents=True)
            with open(self.image, "wb") as file:
                file.truncate(self.megabytes << 20)
            run("mkfs.ext4", "-q", "-F", "-m", "0", self.image)
            self.loop = run("losetup", "--find", "--show", self.image)
            self._mount()
        except (Unusable, FileNotFoundError) as why:
            self.__exit__()
            raise Unusable(f"no file system in a file here: {why}") from None
        return self

    def _mount(self):
        words = ["-o", self.options] if self.options else []
        run("mount", "-t", "ext4", *words, self.loop, self.path)
        self.mounted = True

    def cut(self):
        """The power goes, at whatever the disk was doing."""
        fd = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack("i", NO_LOG_FLUSH))
        finally:
            os.close(fd)

    def abort(self):
        """Another way: the journal is given up, and the file system can only be read from then on."""
        run("mount", "-o", "remount,abort", self.path)

    def mount_again(self):
        """As the machine does when it comes back: the journal is replayed, the rest is looked at. What had reached the
        file is copied to another one: somebody else's mount namespace may still hold the file system that was cut."""
        self.number += 1
        old, self.image = self.image, self.folder / f"disk-{self.number}.image"
        run("cp", "--sparse=always", old, self.image)
        self._put_away()
        old.unlink()
        self.loop = run("losetup", "--find", "--show", self.image)
        subprocess.run(["e2fsck", "-p", self.loop], capture_output=True, check=False)
        self._mount()

    def _put_away(self):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.path)], capture_output=True, check=False)
        self.mounted = False
        if self.loop:
            subprocess.run(["losetup", "--detach", self.loop], capture_output=True, check=False)
        self.loop = None

    def __exit__(self, *_):
        self._put_away()
