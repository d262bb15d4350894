# SPDX-License-Identifier: Apache-2.0
"""A Docker engine of the tests' own: its own data, socket, bridge and rules, gone without a trace afterwards.

    with engine.DockerEngine() as docker:      # Unusable says why it can't be had here
        docker.api.containers()

Needs root. The machine's own engine, if there is one, is neither used nor disturbed: the bridge has a name of its own, and
of the packet filter only rules that name it are made and taken away.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from hosts.api import Api, ApiError


class Unusable(Exception):
    """The engine can't be started here; the text says why."""


def processes_with(text):
    """Pids of living processes whose command line holds the text; never our own."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            command = Path(f"/proc/{entry}/cmdline").read_bytes()
            state = Path(f"/proc/{entry}/stat").read_text().rsplit(") ", 1)[1][0]
        except OSError:
            continue
        if os.fsencode(text) in command and state not in "ZX":
            found.append(int(entry))
    return found


def send(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def end_processes(text, seconds=10):
    """Ends, by pid, all whose command line holds the text."""
    deadline = time.monotonic() + seconds
    while pids := processes_with(text):
        for pid in pids:
            send(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise AssertionError(f"processes that could not be ended: {pids}")
        time.sleep(0.02)


def unmount_below(folder):
    """The innermost first."""
    prefix = str(folder) + "/"
    for _ in range(5):
        places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        mine = sorted({p for p in places if p.startswith(prefix)}, key=len, reverse=True)
        if not mine:
            return
        for place in mine:
            subprocess.run(["umount", "-l", place], capture_output=True, check=False)


def short_folder(prefix):
    """Below /tmp whatever TMPDIR says: a socket's path may have 107 bytes. Others may enter."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    folder.chmod(0o755)
    return folder


def disk_in_memory():
    """For DockerEngine where the machine has plenty, for two of them: a disk that takes nobody's time. None: it has not."""
    told = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return "6g" if int(told["MemAvailable"].split()[0]) > 18 << 20 else None


class Bridge:
    """A network for containers that reaches the world through this machine's addresses."""

    FORWARD = Path("/proc/sys/net/ipv4/ip_forward")

    def __init__(self):
        self.name = None
        self.gateway = None
        self._rules = []
        self._forward = self.FORWARD.read_text()

    def up(self):
        for number in range(1, 100):
            name, net = f"tenon-br{number}", f"172.{30 - number % 10}.{100 + number}"
            if self._ip("link", "add", "name", name, "type", "bridge").returncode == 0:
                break
        else:
            raise Unusable("no bridge can be made: " + self._ip("link", "show").stderr.decode())
        self.name, self.gateway = name, f"{net}.1"
        self._ip("addr", "add", f"{net}.1/24", "dev", name)
        self._ip("link", "set", name, "up")
        self.FORWARD.write_text("1\n")
        self._rule("-t", "nat", "POSTROUTING", "-s", f"{net}.0/24", "!", "-o", name, "-j", "MASQUERADE")
        self._rule("-t", "filter", "FORWARD", "-i", name, "-j", "ACCEPT")
        self._rule("-t", "filter", "FORWARD", "-o", name, "-j", "ACCEPT")

    def down(self):
        for rule in self._rules:
            subprocess.run(["iptables", "-w", *rule[:2], "-D", *rule[2:]], capture_output=True, check=False)
        if self.name:
            self._ip("link", "del", self.name)
        others = [n for n in os.listdir("/sys/class/net") if n.startswith(("tenon-br", "docker", "br-", "podman"))]
        if not others:
            self.FORWARD.write_text(self._forward)

    def _rule(self, *rule):
        done = subprocess.run(["iptables", "-w", *rule[:2], "-I", *rule[2:]], capture_output=True, check=False)
        if done.returncode != 0:
            raise Unusable("iptables: " + done.stderr.decode().strip())
        self._rules.append(rule)

    @staticmethod
    def _ip(*words):
        return subprocess.run(["ip", *words], capture_output=True, check=False)


class Engine:
    """What the engines of the tests have in common: a folder, a socket in it, a log."""

    SOCKET = None

    def __init__(self):
        self.folder = None
        self._process = None

    @property
    def socket(self):
        return self.folder / self.SOCKET

    @property
    def api(self):
        return Api(self.socket)

    @property
    def variables(self):
        """What a program needs to find it."""
        return {"DOCKER_HOST": f"unix://{self.socket}"}

    @property
    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def __enter__(self):
        """Unusable when it can't be had here. Whatever fails, nothing stays behind."""
        try:
            self.open()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def leftovers(self):
        """Containers, volumes and networks, in words."""
        api = self.api
        found = [f"container {c['Names']} {c['State']} {c['Labels']}" for c in api.containers()]
        found += [f"volume {v['Name']}" for v in api.volumes()]
        found += [f"network {n['Name']}" for n in api.networks()]
        return found

    def sweep(self):
        """Removes what leftovers() tells."""
        api = self.api
        for container in api.containers():
            api.remove(container["Id"])
        for volume in api.volumes():
            with contextlib.suppress(ApiError):
                api.call("DELETE", f"/volumes/{volume['Name']}")
        for network in api.networks():
            with contextlib.suppress(ApiError):
                api.call("DELETE", f"/networks/{network['Id']}")

    def open(self):
        raise NotImplementedError

    def close(self):
        raise NotImplementedError


class DockerEngine(Engine):
    """`live_restore`: containers go on while the engine is away. `disk`: size of a disk of its own ("300m")."""

    SOCKET = "d.sock"

    def __init__(self, live_restore=True, disk=None):
        super().__init__()
        self.live_restore = live_restore
        self.disk = disk
        self._bridge = None
        self._containerd = None

    @property
    def gateway(self):
        """This machine's address as containers see it; it is good here too."""
        return self._bridge.gateway

    def open(self):
        if os.geteuid() != 0:
            raise Unusable("a Docker engine of the tests' own needs root")
        missing = [p for p in ("dockerd", "containerd", "runc", "iptables", "ip") if not shutil.which(p)]
        if missing:
            raise Unusable(f"not installed: {', '.join(missing)}; scripts/setup --tests installs docker.io")
        self.folder = short_folder("tenon-engine-")
        if self.disk:
            (self.folder / "data").mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.disk}", "tmpfs", self.folder / "data"],
                           check=True)
        self._bridge = Bridge()
        self._bridge.up()
        self._start_containerd()
        self.start()

    def _start_containerd(self):
        """Apart from dockerd, as distributions do it: an engine that is killed leaves it alone."""
        folder = self.folder / "containerd"
        folder.mkdir()
        (folder / "config.toml").write_text(
            f'version = 2\nroot = "{folder}/root"\nstate = "{folder}/state"\n'
            f'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n[grpc]\n  address = "{folder}/c.sock"\n')
        self._containerd = self._spawn(["containerd", "--config", folder / "config.toml"])
        deadline = time.monotonic() + 60
        while not (folder / "c.sock").exists():
            if self._containerd.poll() is not None or time.monotonic() > deadline:
                raise Unusable(f"containerd does not start: {self.log[-1500:]}")
            time.sleep(0.01)

    def _spawn(self, command):
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    start_new_session=True)

    def start(self):
        """Returns when it answers. Also after kill() and stop()."""
        command = ["dockerd", "--data-root", self.folder / "data", "--exec-root", self.folder / "exec", "--pidfile",
                   self.folder / "pid", "-H", f"unix://{self.socket}", "--bridge", self._bridge.name, "--iptables=false",
                   "--ip-forward=false", "--config-file", self.folder / "daemon.json", "--containerd",
                   self.folder / "containerd/c.sock"]
        # A file of our own: the machine's configuration is not ours.
        (self.folder / "daemon.json").write_text('{"live-restore": true}\n' if self.live_restore else "{}\n")
        (self.folder / "pid").unlink(missing_ok=True)
        self._process = self._spawn(command)
        deadline = time.monotonic() + 60
        while not self.api.ping():
            if self._process.poll() is not None:
                raise Unusable(f"dockerd ended with {self._process.returncode}: {self.log[-1500:]}")
            if time.monotonic() > deadline:
                raise Unusable(f"dockerd does not answer: {self.log[-1500:]}")
            time.sleep(0.02)

    def kill(self):
        """As if the machine's memory had run out: no goodbye to anybody. Containers are left to their shims."""
        self._process.kill()
        self._process.wait()

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def restart(self):
        self.stop()
        self.start()

    def let_in(self, gid):
        """A group that may use the socket from now on."""
        os.chown(self.socket, 0, gid)
        self.socket.chmod(0o660)

    def close(self):
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(OSError, ApiError):
                self.sweep()
            self.stop()
        if self._containerd is not None:
            self._containerd.kill()
            self._containerd.wait()
        if self.folder is not None:
            end_processes(str(self.folder) + "/")
            remove_cgroups_of(self.folder)
            unmount_below(self.folder)
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._bridge is not None:
            self._bridge.down()


def remove_cgroups_of(folder):
    """Those of killed containers: dockerd names them by the container's id, which is a folder of its data."""
    try:
        ids = os.listdir(folder / "data" / "containers")
    except OSError:
        return
    for parent, names, _ in os.walk("/sys/fs/cgroup"):  # others come and go meanwhile
        if os.path.basename(parent) == "docker":
            for name in set(names) & set(ids):
                with contextlib.suppress(OSError):
                    os.rmdir(os.path.join(parent, name))
