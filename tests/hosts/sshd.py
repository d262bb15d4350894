# SPDX-License-Identifier: Apache-2.0
"""A real sshd on 127.0.0.1 with users, passwords and host keys of the tests' own, gone without a trace afterwards.

    with sshd.Sshd() as server:                 # Unusable says why it can't be had here
        user = server.user(shell="/bin/tcsh")
        server.port, server.fingerprint, user.name, user.password, user.home

Needs root. The machine's own sshd, if there is one, is neither used nor disturbed. Users are real ones, made by useradd; every one
is removed by its exact name, also when the tests are ended early, and the next tests remove those of tests that were killed.
"""

import atexit
import contextlib
import itertools
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

SSHD = "/usr/sbin/sshd"
BASE = "/home"  # where homes are; what lies below /tmp and /var/tmp is in a place that everybody shares
PREFIX = "tenon-sshd-"
USER_NAME = re.compile(r"tenon-t(\d+)-\d+")
_numbers = itertools.count(1)
_open = []


class Unusable(Exception):
    """It can't be had here; the text says why."""


def _close_all():
    for server in list(_open):
        server.close()


atexit.register(_close_all)


def _run(*command, stdin=None):
    """For tools that lock /etc/passwd: somebody else may hold it for a moment."""
    deadline = time.monotonic() + 30
    while True:
        done = subprocess.run([str(c) for c in command], input=stdin, capture_output=True, text=True, check=False)
        if "lock" not in done.stderr or time.monotonic() > deadline:
            return done
        time.sleep(0.05)


def processes_of(uid):
    """Pids of living processes of the user."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError):
                status = Path(f"/proc/{entry}/status").read_text()
                state = re.search(r"^State:\s+(\S)", status, re.M).group(1)
                if re.search(rf"^Uid:\s+{uid}\b", status, re.M) and state not in "ZX":
                    found.append(int(entry))
    return found


def kill_processes_of(uid, seconds=10):
    """All at once and without mercy, until none is left."""
    deadline = time.monotonic() + seconds
    while pids := processes_of(uid):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise AssertionError(f"processes that could not be ended: {pids}")
        time.sleep(0.01)


def remove_user(name):
    Path(f"/etc/sudoers.d/{name}").unlink(missing_ok=True)
    with contextlib.suppress(KeyError):
        kill_processes_of(pwd.getpwnam(name).pw_uid)
        done = _run("userdel", name)
        if done.returncode not in (0, 6):  # 6: another test process has swept it meanwhile
            raise AssertionError(f"userdel {name}: {done.stderr}")


def sweep():
    """Users and folders that tests which were killed could not remove."""
    for entry in pwd.getpwall():
        match = USER_NAME.fullmatch(entry.pw_name)
        if not match or os.path.exists(f"/proc/{match.group(1)}"):
            continue
        remove_user(entry.pw_name)
        folder = next((p for p in Path(entry.pw_dir).parents if p.name.startswith(PREFIX)), None)
        if folder is not None:
            unmount(folder)
            shutil.rmtree(folder, ignore_errors=True)


def unmount(folder):
    """What is mounted there or below it, the innermost first."""
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for place in sorted((p for p in places if (p + "/").startswith(f"{folder}/")), key=len, reverse=True):
        subprocess.run(["umount", "-l", place], capture_output=True, check=False)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_key(path, kind="ed25519", passphrase="", comment="tenon-test"):
    """A pair; returns the public line."""
    for old in (path, Path(f"{path}.pub")):
        Path(old).unlink(missing_ok=True)
    size = ["-b", "2048"] if kind == "rsa" else []
    done = _run("ssh-keygen", "-q", "-t", kind, *size, "-N", passphrase, "-C", comment, "-f", path)
    assert done.returncode == 0, done.stderr
    return Path(f"{path}.pub").read_text().strip()


def fingerprint(public_key_file):
    return _run("ssh-keygen", "-lf", public_key_file).stdout.split()[1]


class User:
    """A user of this machine with a password and a home in the server's folder."""

    def __init__(self, server, shell, password, groups):
        self.name = f"tenon-t{os.getpid()}-{next(_numbers)}"
        self.password = password or "Pw-" + secrets.token_urlsafe(12)
        self.shell = shell
        self.server = server
        self.home = server.home_of(self.name)  # as this machine sees it
        inside = server.inside(self.home)
        group = ["-G", ",".join(groups)] if groups else []
        done = _run(*server.enter, "useradd", *server.useradd_options(), "-M", "-l", "-d", inside, "-s", shell, "-U", *group, self.name)
        if done.returncode != 0:
            raise Unusable(f"useradd: {done.stderr.strip()}")
        self.uid, self.gid = (int(_run(*server.enter, "id", option, self.name).stdout) for option in ("-u", "-g"))
        self._remove_roots()
        self.home.mkdir(parents=True)
        self._own_home()
        self.set_password(self.password)

    def _own_home(self):
        os.chown(self.home, self.uid, self.gid)
        self.home.chmod(0o700)

    def set_password(self, password):
        self.password = password
        done = _run(*self.server.enter, "chpasswd", stdin=f"{self.name}:{password}\n")
        assert done.returncode == 0, done.stderr

    def mount_home(self, size="256m", options=""):
        """A file system of its own for the home: tmpfs, so `size` is what fits. `options`: "noexec"."""
        told = ",".join(o for o in (f"size={size}", options) if o)
        subprocess.run(["mount", "-t", "tmpfs", "-o", told, "tenon-test", self.home], check=True)
        self._own_home()
        self.server.see_mounts()

    def mount_home_by_program(self):
        """The home through FUSE: as far from a local disk as this machine has it."""
        if not shutil.which("fuse-overlayfs") or not os.path.exists("/dev/fuse"):
            raise Unusable("no fuse-overlayfs or no /dev/fuse; scripts/setup --tests installs the former")
        parts = {name: self.server.folder / f"{self.name}-{name}" for name in ("lower", "upper", "work")}
        for part in parts.values():
            part.mkdir()
        told = ",".join(["allow_other", *(f"{name}dir={part}" for name, part in parts.items())])
        done = _run("fuse-overlayfs", "-o", told, self.home)
        if done.returncode != 0:
            raise Unusable(f"fuse-overlayfs: {done.stderr.strip()}")
        self._own_home()
        self.server.see_mounts()

    def write(self, name, text, mode=0o644):
        """A file below the home, the user's own, with its folders."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        for made in [path, *path.parents]:
            if made == self.home:
                break
            os.chown(made, self.uid, self.gid)
        return path

    def authorize(self, public_key):
        keys = self.home / ".ssh/authorized_keys"
        old = keys.read_text() if keys.exists() else ""
        self.write(".ssh/authorized_keys", old + public_key.strip() + "\n", 0o600)
        keys.parent.chmod(0o700)

    def allow_sudo(self):
        """Everything, without a password, as on machines of the clouds."""
        if not shutil.which("sudo"):
            raise Unusable("no sudo; scripts/setup --tests installs it")
        rule = os.open(f"/etc/sudoers.d/{self.name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o440)
        with open(rule, "w", encoding="utf-8") as file:
            file.write(f"{self.name} ALL=(ALL) NOPASSWD: ALL\n")

    def prefix(self):
        """Words in front of a command that is to run as this user, without any login."""
        return [*map(str, self.server.enter), "setpriv", "--reuid", str(self.uid), "--regid", str(self.gid), "--init-groups"]

    def run(self, *command, **options):
        options = {"capture_output": True, "text": True, "check": True, **options}
        return subprocess.run([*self.prefix(), *map(str, command)], cwd=self.home, **options).stdout

    def processes(self):
        return processes_of(self.uid)

    def kill_processes(self):
        """Everything of this user, the server's own processes for the user included."""
        kill_processes_of(self.uid)

    def roots(self):
        """Where our folder can lie on the host: in the home, else at the first place where programs may be started."""
        return [self.home / ".tenon", *(Path(f"{place}/tenon-{self.uid}") for place in ("/var/tmp", "/tmp", "/dev/shm"))]

    def _remove_roots(self):
        for root in self.roots()[1:]:
            if root.is_dir() and not root.is_symlink():
                shutil.rmtree(root, ignore_errors=True)

    def files(self):
        """Paths of the plain files below the home, as text relative to it."""
        return sorted(str(p.relative_to(self.home)) for p in self.home.rglob("*") if p.is_file())

    def remove(self):
        self.kill_processes()
        self._remove_roots()
        if not self.server.enter:  # else it is gone with its machine
            remove_user(self.name)


class Sshd:
    """`options`: lines of sshd_config as a mapping (MaxSessions=1, Banner=…), ahead of ours, so they win. `mounts`: commands of
    /bin/sh that run as root in a mount namespace of the server's own before it starts. `prefix`: words in front of the
    whole (ip netns exec NAME). `address`: where it listens."""

    enter = ()  # words that run a command on a machine with other files

    def __init__(self, mounts=(), prefix=(), address="127.0.0.1", host_keys=("ed25519",), **options):
        self.options = options
        self.mounts = list(mounts)
        self.prefix = list(prefix)
        self.address = address
        self.host_keys = host_keys
        self.users = []
        self.folder = None
        self.port = None
        self._process = None

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

    def open(self):
        if os.geteuid() != 0:
            raise Unusable("an sshd of the tests' own needs root")
        missing = [p for p in (SSHD, "ssh", "ssh-keygen", "useradd", "unshare") if not shutil.which(p)]
        if missing:
            raise Unusable(f"not installed: {', '.join(missing)}; scripts/setup --tests installs openssh-server")
        sweep()
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=BASE))
        self.folder.chmod(0o755)
        _open.append(self)
        self.prepare()
        self.make_host_keys()
        self.start()

    def prepare(self):
        (self.folder / "home").mkdir()
        os.makedirs("/run/sshd", exist_ok=True)

    def home_of(self, name):
        return self.folder / "home" / name

    def inside(self, path):
        """The path as the server's users see it."""
        return path

    def useradd_options(self):
        return []

    def make_host_keys(self):
        for kind in self.host_keys:
            make_key(self.folder / f"host_{kind}", kind)

    @property
    def fingerprint(self):
        return fingerprint(self.folder / f"host_{self.host_keys[0]}.pub")

    @property
    def log(self):
        try:
            return (self.folder / "log").read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def count(self, words):
        """Lines of the log that hold the words."""
        return sum(words in line for line in self.log.splitlines())

    def failed_passwords(self):
        return self.count("Failed password for")

    def logins(self):
        """Connections that were let in."""
        return len(re.findall(r"Accepted (?:password|publickey|keyboard-interactive)", self.log))

    def methods_tried(self):
        """What clients offered to prove who they are: "none", "publickey", "password", …"""
        return re.findall(r"userauth-request for user .* method (\S+)", self.log)

    def _config(self):
        told = {**self.options}
        ours = {"ListenAddress": self.address, "Port": self.port, "PidFile": "none", "UsePAM": "no", "UseDNS": "no",
                "PasswordAuthentication": "yes", "KbdInteractiveAuthentication": "no", "PermitRootLogin": "no",
                "LogLevel": "DEBUG1", "PrintMotd": "no", "AuthorizedKeysFile": ".ssh/authorized_keys",
                "Subsystem": "sftp /usr/lib/openssh/sftp-server"}
        lines = [f"{name} {value}" for name, value in {**ours, **told}.items()]
        lines += [f"HostKey {self.inside(self.folder)}/host_{kind}" for kind in self.host_keys]
        return "\n".join(lines) + "\n"

    def _command(self):
        sshd = f"exec {SSHD} -D -f {self.folder}/config -E {self.folder}/log"
        script = "set -e\n" + "\n".join([*self.mounts, sshd])
        if not self.mounts:
            return [*self.prefix, "/bin/sh", "-c", script]
        return [*self.prefix, "unshare", "-m", "--propagation", "slave", "/bin/sh", "-c", script]

    def start(self):
        """Returns when it answers; on the same port as before, if there was one."""
        first = self.port is None
        for attempt in range(5):
            if first:
                self.port = free_port()
            (self.folder / "config").write_text(self._config())
            with open(self.folder / "errors", "ab") as errors:
                self._process = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                                 start_new_session=True)
            if self._answers():
                return
            self.stop()
            if attempt == 4 or "Address already in use" not in self.log:
                told = (self.folder / "errors").read_text(errors="replace")
                raise Unusable(f"sshd does not start: {told[-800:]}{self.log[-800:]}")

    def _answers(self):
        deadline = time.monotonic() + 20
        while self._process.poll() is None and time.monotonic() < deadline:
            if self.greets():
                return True
            time.sleep(0.01)
        return False

    def greets(self):
        if self.prefix:  # in a network of its own
            return f"Server listening on {self.address} port {self.port}" in self.log
        with contextlib.suppress(OSError), socket.create_connection((self.address, self.port), 5) as link:
            link.settimeout(5)
            return link.recv(4) == b"SSH-"
        return False

    def stop(self):
        """No new connections; those that stand go on, as with a service that is stopped."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def sessions(self):
        """Pids of the server's processes for our users, the parents first."""
        names = {user.name for user in self.users}
        found = []
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{entry}/cmdline").read_bytes().decode("utf-8", "replace") if entry.isdigit() else ""
                match = re.match(r"sshd: ([\w-]+)(?:@| \[)", words)
                if match and match.group(1) in names:
                    found.append(int(entry))
        return sorted(found)

    def drop(self):
        """Every connection of our users ends at once; what runs on the host for them is left alone."""
        for pid in self.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def restart(self, drop=True):
        self.stop()
        if drop:
            self.drop()
        self.start()

    def see_mounts(self):
        """What was mounted since it started is there for it too."""
        if self.mounts:
            self.restart(drop=False)

    def change_host_key(self):
        self.stop()
        self.drop()
        self.make_host_keys()
        self.start()

    def reboot(self):
        """All processes of the users are gone, and the kernel has another boot id when the server is back."""
        self.stop()
        for user in self.users:
            user.kill_processes()
        self.drop()
        (self.folder / "boot_id").write_text(f"{uuid.uuid4()}\n")
        place = "/proc/sys/kernel/random/boot_id"
        self.mounts = [m for m in self.mounts if place not in m] + [f"mount --bind {self.folder}/boot_id {place}"]
        self.start()

    def user(self, shell="/bin/bash", password=None, groups=()):
        if not self.enter and not shutil.which(shell):
            raise Unusable(f"{shell} is not installed")
        made = User(self, shell, password, groups)
        self.users.append(made)
        return made

    def ssh(self, user, key):
        """The words of a plain `ssh` to the user with a key that is authorized, for comparison."""
        return ["ssh", "-F", "none", "-T", "-i", str(key), "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no", "-o",
                "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-p", str(self.port), f"{user.name}@{self.address}"]

    def close(self):
        if self in _open:
            _open.remove(self)
        self.stop()
        for user in self.users:
            with contextlib.suppress(AssertionError):
                user.kill_processes()
        self.drop()
        wrong = []
        for user in self.users:
            try:
                user.remove()
            except AssertionError as error:
                wrong.append(str(error))
        self.users = []
        if self.folder is not None:
            unmount(self.folder)
            shutil.rmtree(self.folder, ignore_errors=True)
        assert not wrong, wrong
