# SPDX-License-Identifier: Apache-2.0
"""A machine with Debian 11: its own files, libraries, Python and sshd, older than anything here. Same kernel, other root.

    with old_debian.OldDebian() as server:      # as sshd.Sshd; Missing and Unusable say why it can't be had
        user = server.user()

Made by debootstrap once and kept below build/test-images/.
"""

import itertools
import os
import subprocess

from hosts import images, sshd

_uids = itertools.count(61000 + os.getpid() % 600 * 5)  # below 64000: 64321 and on are other tests'  # of nobody on this machine


class OldDebian(sshd.Sshd):
    def prepare(self):
        tar = images.root("debian11")
        self.root = self.folder / "root"
        self.root.mkdir()
        subprocess.run(["tar", "-C", self.root, "--numeric-owner", "-xf", tar], check=True)
        self.enter = ["chroot", self.root]
        for made in ("run/sshd", "tenon-test"):
            (self.root / made).mkdir(parents=True, exist_ok=True)
        root = self.root
        self.mounts += [f"mount --bind {self.folder} {root}/tenon-test", f"mount -t proc proc {root}/proc",
                        f"mount --rbind /dev {root}/dev", f"mount --rbind /sys {root}/sys"]

    def home_of(self, name):
        return self.root / "home" / name

    def inside(self, path):
        if path == self.folder:
            return "/tenon-test"
        return "/" + str(path.relative_to(self.root))

    def useradd_options(self):
        return ["-u", str(next(_uids))]

    def _command(self):
        return [word.replace(f"exec {sshd.SSHD} -D -f {self.folder}/config -E {self.folder}/log",
                             f"exec chroot {self.root} {sshd.SSHD} -D -f /tenon-test/config -E /tenon-test/log")
                for word in super()._command()]
