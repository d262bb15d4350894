# SPDX-License-Identifier: Apache-2.0
"""Runs the built `tenon` in a home of its own, and ends whatever it left running.

    def test_exit_code_is_the_scripts(tenon, project):
        folder = project("raise SystemExit(7)\\n")
        assert tenon.run("submit", "-c", "local", "main.py", cwd=folder).code == 7
"""

import atexit
import errno
import fcntl
import functools
import json
import os
import re
import pty
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCAL_COMPUTE = "type: local\npythonLocation: python3\n"
LOCAL_RUNCONFIG = (
    "ArgumentVector:\n- $file\nFramework: Python\nPrepareEnvironment: false\nTarget: local\n"
    "TrackedRun: true\n"
)
# Of the caller's environment only these reach the program under test.
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "CI", "TENON_DEEP",
                  "ASAN_OPTIONS", "UBSAN_OPTIONS", "PYENV_ROOT")


class TimedOut(Exception):
    pass


class Result:
    """What a finished program left: `code` as a shell sees it, texts, and the exact bytes."""

    def __init__(self, args, code, out_bytes, err_bytes):
        self.args = args
        self.code = code
        self.out_bytes = out_bytes
        self.err_bytes = err_bytes

    @property
    def out(self):
        return self.out_bytes.decode("utf-8", "replace")

    @property
    def err(self):
        return self.err_bytes.decode("utf-8", "replace")

    def json(self):
        return json.loads(self.out)

    def ok(self):
        """This result, after checking that the program ended with 0."""
        assert self.code == 0, repr(self)
        return self

    def __repr__(self):
        return (f"{' '.join(map(str, self.args))} -> {self.code}\n--- stdout\n{self.out[-4000:]}"
                f"\n--- stderr\n{self.err[-4000:]}")


class Background:
    """A program that was started and not waited for. Its output goes to files and can be read
    at any time."""

    def __init__(self, args, process, out_path, err_path):
        self.args = args
        self.process = process
        self.pid = process.pid
        self._out_path = out_path
        self._err_path = err_path

    @property
    def out(self):
        return self._out_path.read_bytes().decode("utf-8", "replace")

    @property
    def err(self):
        return self._err_path.read_bytes().decode("utf-8", "replace")

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        return self.wait()

    def wait(self, timeout=60):
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimedOut(f"{self.args} did not end in {timeout} s\n{self.out}\n{self.err}") from None
        return Result(self.args, shell_code(code), self._out_path.read_bytes(),
                      self._err_path.read_bytes())

    def wait_for(self, text, timeout=60):
        """Waits until a line of its standard output holds the text, and is whole."""
        line = re.compile(re.escape(text) + ("" if text.endswith("\n") else ".*\n"))
        wait_until(lambda: line.search(self.out) or self.process.poll() is not None, timeout,
                   f"{text!r} in the output of {self.args}")
        assert line.search(self.out), repr(self.wait())


def shell_code(code):
    return 128 - code if code < 0 else code


def wait_until(condition, timeout=30, what="the condition"):
    """Asks again until the condition holds and returns its value; fails after the timeout."""
    deadline = time.monotonic() + timeout
    pause = 0.005
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimedOut(f"{what} did not come about in {timeout} s")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def wait_unlocked(segment):
    """Until nobody holds it: a killed runner keeps its lock until the disk has answered its other thread."""
    def free():
        with open(segment, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    wait_until(free, 60, f"the lock of {segment}")


def all_below(folder):
    """Everything below it, while files and folders may come and go."""
    return [Path(parent, name) for parent, folders, files in os.walk(folder) for name in folders + files]


def read_if_there(path):
    """The bytes of a plain file; none of anything else, or of one that has gone."""
    try:
        return path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    except FileNotFoundError:
        return b""


def build_dir():
    return Path(os.environ.get("TENON_BUILD", ROOT / "build" / "release"))


def release_binary():
    """Where every user of this machine may start it, because some tests are other users."""
    binary = build_dir() / "tenon"
    assert binary.exists(), f"{binary} is not there; scripts/build makes it"
    return for_everybody(binary)


@functools.lru_cache
def for_everybody(program):
    """The program; a copy, where it lies below a folder that others can't enter (/root)."""
    if all(folder.stat().st_mode & 0o001 for folder in program.resolve().parents):
        return program
    folder = Path(tempfile.mkdtemp(prefix="tenon-program-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    return Path(shutil.copy2(program, folder))


def make_project(folder, script="print('hello')\n", script_name="main.py", files=None,
                 compute=LOCAL_COMPUTE, runconfig=LOCAL_RUNCONFIG):
    """A project with a `local` target. `files` maps relative names to text or bytes; None for
    `compute` or `runconfig` leaves that file out."""
    contents = {script_name: script, "aml_config/local.compute": compute,
                "aml_config/local.runconfig": runconfig}
    contents.update(files or {})
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        if text is None:
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


class Tenon:
    def __init__(self, binary, home, scratch):
        self.binary = Path(binary)
        self.home = Path(home)
        self.scratch = Path(scratch)
        self._started = []
        self._count = 0

    def env(self, extra=None):
        """A clean environment; None as a value removes a variable."""
        env = {k: os.environ[k] for k in KEPT_VARIABLES if k in os.environ}
        user_home = self.scratch / "user-home"
        user_home.mkdir(exist_ok=True)
        env.update(HOME=str(user_home), TENON_HOME=str(self.home), TERM="dumb", TZ="UTC")
        for name, value in (extra or {}).items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = str(value)
        return env

    def command(self, args):
        return [str(self.binary)] + [a if isinstance(a, bytes) else str(a) for a in args]

    def run(self, *args, cwd=None, env=None, stdin=b"", timeout=60, prefix=()):
        """Runs `tenon ARGS` to its end. `prefix` goes in front of the program (strace, setpriv)."""
        command = [str(p) for p in prefix] + self.command(args)
        try:
            done = subprocess.run(command, cwd=cwd or self.scratch, env=self.env(env), input=stdin,
                                  capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired as late:
            out = (late.stdout or b"").decode("utf-8", "replace")
            err = (late.stderr or b"").decode("utf-8", "replace")
            raise TimedOut(f"{command} did not end in {timeout} s\n{out}\n{err}") from None
        return Result(command, shell_code(done.returncode), done.stdout, done.stderr)

    def json(self, *args, **options):
        return self.run(*args, **options).ok().json()

    def start(self, *args, cwd=None, env=None, prefix=()):
        """Starts `tenon ARGS` in a session of its own and returns at once."""
        self._count += 1
        out_path = self.scratch / f"background-{self._count}.out"
        err_path = self.scratch / f"background-{self._count}.err"
        command = [str(p) for p in prefix] + self.command(args)
        with open(out_path, "wb") as out, open(err_path, "wb") as err:
            process = subprocess.Popen(command, cwd=cwd or self.scratch, env=self.env(env),
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       start_new_session=True)
        self._started.append(process)
        return Background(command, process, out_path, err_path)

    def pty(self, *args, cwd=None, env=None, timeout=60, size=(30, 100), keys=b"", when=None):
        """Runs `tenon ARGS` in a terminal of size (rows, columns); both streams come as `out`.
        `keys` are typed at once, or as soon as the text `when` is on the screen."""
        command = self.command(args)
        environment = self.env({"TERM": "xterm-256color", **(env or {})})
        pid, terminal = pty.fork()
        if pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
                os.chdir(cwd or self.scratch)
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        seen = b""
        deadline = time.monotonic() + timeout
        try:
            while True:
                if keys and (when is None or when.encode() in seen):
                    os.write(terminal, keys)
                    keys = b""
                left = deadline - time.monotonic()
                if left <= 0:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    raise TimedOut(f"{command} did not end in {timeout} s\n{seen!r}")
                if not select.select([terminal], [], [], left)[0]:
                    continue
                try:
                    piece = os.read(terminal, 65536)
                except OSError as error:
                    if error.errno != errno.EIO:
                        raise
                    piece = b""
                if not piece:
                    break
                seen += piece
            status = os.waitpid(pid, 0)[1]
        finally:
            os.close(terminal)
        return Result(command, shell_code(os.waitstatus_to_exitcode(status)), seen, b"")

    def processes(self):
        """Pids that belong to this home: by their environment, or by living below it."""
        return marked_processes(self.home)

    def processes_left(self, seconds=30):
        """Those that do not end by themselves: a runner tidies up after its run has ended."""
        deadline = time.monotonic() + seconds
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.processes()

    def cleanup(self):
        """Ends everything that belongs to this home; returns the pids that would not go."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
        deadline = time.monotonic() + 10
        looks = 0  # in a row that found nothing: one that is just starting a program has no environment
        while True:
            left = self.processes()
            looks = 0 if left else looks + 1
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            for process in self._started:
                process.poll()
            if looks == 2 or time.monotonic() > deadline:
                break
            time.sleep(0.02)
        for process in self._started:
            process.wait()
        remove_cgroups(self.home)
        return left


def cgroups_called(name):
    """Wherever they are; others may come and go while we look, which os.walk does not mind."""
    return [Path(parent, name) for parent, folders, _ in os.walk("/sys/fs/cgroup")
            if name in folders]


def remove_cgroups(home):
    """What a runner that was killed could not remove itself, and nobody looked after."""
    for spec in Path(home).glob("runs/*/spec.json"):
        try:
            key = json.loads(read_if_there(spec))["spec"]["key"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        for folder in cgroups_called(f"tenon-{key}"):
            try:
                folder.rmdir()
            except OSError:
                pass


def marked_processes(home):
    marker = b"TENON_HOME=" + os.fsencode(str(home))
    below = str(home) + "/"
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        folder = "/proc/" + entry
        try:
            if process_state(folder) in "ZX":
                continue
            with open(folder + "/environ", "rb") as f:
                variables = f.read().split(b"\0")
            mine = marker in variables
            for link in ("cwd", "exe"):
                mine = mine or (os.readlink(f"{folder}/{link}") + "/").startswith(below)
        except OSError:
            continue
        if mine:
            found.append(int(entry))
    return found


def process_state(folder):
    with open(folder + "/stat", "rb") as f:
        return chr(f.read().rsplit(b") ", 1)[1][0])
