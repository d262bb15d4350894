# SPDX-License-Identifier: Apache-2.0
"""Podman's compatible socket, for a user without rights or for root, with storage of its own.

A user who is not there exists for the service alone: names and ranges of ids are mounted over /etc in a mount namespace of its own, the
machine's files stay as they are. Needs root to begin with.
"""

import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from pathlib import Path

from hosts.api import ApiError
from hosts.engine import Engine, Unusable, end_processes, short_folder, unmount_below

UID = 64400 + os.getpid() % 400  # two test processes at once are two users
FIRST, COUNT = 2_000_000_000, 65536


class PodmanEngine(Engine):
    """`uid` None: as root, in a network of its own that leads nowhere: nothing of the machine's is changed."""

    SOCKET = "p.sock"

    def __init__(self, uid=UID):
        super().__init__()
        self.uid = uid

    def open(self):
        if os.geteuid() != 0:
            raise Unusable("Podman for a throw-away user needs root to begin with")
        wanted = ("podman", "newuidmap", "slirp4netns", "unshare", "setpriv") if self.uid else ("podman",)
        missing = [p for p in wanted if not shutil.which(p)]
        if missing:
            raise Unusable(f"not installed: {', '.join(missing)}; scripts/setup --tests installs podman, uidmap and slirp4netns")
        self.folder = short_folder("tenon-podman-")
        self.start()

    def start(self):
        for name in ("home", "runtime", "storage", "run", "tmp", "scratch"):
            (self.folder / name).mkdir(mode=0o700, exist_ok=True)
        # Podman asks for more than a machine may allow.
        (self.folder / "containers.conf").write_text('[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n')
        podman = ["podman", "--root", self.folder / "storage", "--runroot", self.folder / "run", "--tmpdir",
                  self.folder / "tmp", "--cgroup-manager", "cgroupfs", "--storage-driver", "overlay"]
        service = [*podman, "system", "service", "--time", "0", f"unix://{self.socket}"]
        command = [str(c) for c in (self._as_user(service) if self.uid else self._as_root(service))]
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.folder / "home"), "LANG": "C.UTF-8"}
        env["TMPDIR"] = str(self.folder / "scratch")  # images that are sent stay there
        env["CONTAINERS_CONF"] = str(self.folder / "containers.conf")
        if self.uid:
            env["XDG_RUNTIME_DIR"] = str(self.folder / "runtime")
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                             start_new_session=True)
        deadline = time.monotonic() + 60
        while not self.api.ping():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise Unusable(f"podman system service does not start: {self.log[-1500:]}")
            time.sleep(0.02)

    @staticmethod
    def _as_root(command):
        mounts = ["ip link set lo up"]
        mounts += [f"mount -t tmpfs tmpfs {p}" for p in ("/var/lib/cni", "/run/netns") if os.path.isdir(p)]
        return ["unshare", "--mount", "--net", "--propagation", "private", "sh", "-c",
                " && ".join(mounts) + ' && exec "$@"', "sh", *command]

    def _as_user(self, command):
        """The user's name, ranges and devices are there for the command only. The whole of /etc is another one: a file that
        is mounted over a single one goes when somebody else's `useradd` replaces that."""
        files = {}
        try:
            name = pwd.getpwuid(self.uid).pw_name
        except KeyError:
            name = "tenonpod"
            files = {"passwd": f"{name}:x:{self.uid}:{self.uid}::{self.folder}/home:/bin/sh\n", "group": f"{name}:x:{self.uid}:\n"}
        files |= {"subuid": f"{name}:{FIRST}:{COUNT}\n", "subgid": f"{name}:{FIRST}:{COUNT}\n"}
        # A new one for each service: containers of an earlier one go on with theirs.
        etc = Path(tempfile.mkdtemp(prefix="etc-", dir=self.folder))
        # A lock of somebody else's may be gone before it is copied.
        subprocess.run(["cp", "-a", "/etc/.", etc], check=False, stderr=subprocess.DEVNULL)
        for name, line in files.items():
            made = etc / name
            made.write_text(made.read_text() + line)
            made.chmod(0o644)
        mounts = [f"mount --bind {etc} /etc"]
        # Open to everybody on an ordinary machine, and not on a few.
        for name, numbers in (("net/tun", (10, 200)), ("fuse", (10, 229))):
            made = self.folder / name.replace("/", "-")
            if not made.exists():
                os.mknod(made, 0o666 | stat.S_IFCHR, os.makedev(*numbers))
                made.chmod(0o666)
            if os.path.exists(f"/dev/{name}"):
                mounts.append(f"mount --bind {made} /dev/{name}")
        for name in ("home", "runtime", "storage", "run", "tmp", "scratch"):
            os.chown(self.folder / name, self.uid, self.uid)
        os.chown(self.folder, self.uid, self.uid)
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join(mounts) + ' && exec "$@"', "sh",
                "setpriv", "--reuid", self.uid, "--regid", self.uid, "--clear-groups", "--inh-caps=-all", *command]

    def kill(self):
        self._process.kill()
        self._process.wait()

    def close(self):
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(OSError, ApiError):
                self.sweep()
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.folder is not None:
            end_processes(str(self.folder) + "/")
            self._end_pause()
            unmount_below(self.folder)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _end_pause(self):
        """The process that keeps the user's namespaces does not name our folder."""
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                if self.uid and os.stat(f"/proc/{entry}").st_uid == self.uid and int(entry) > 1:
                    os.kill(int(entry), signal.SIGKILL)
