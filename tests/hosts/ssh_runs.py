# SPDX-License-Identifier: Apache-2.0
"""What the tests with other machines share: projects with a target on a server of the tests' own, attached and used through
the command line as a user would."""

import contextlib
import os
import shutil
import time
from pathlib import Path

from e2e import harness
from hosts.docker_runs import INDEX_VARIABLES, NO_PACKAGES

NAME = "far"
SLEEPER = """
import os, time
open("outputs/partial.txt", "w").write("kept")
print("begin", flush=True)
time.sleep(600)
"""


def waiter(go, code=0):
    """A script that says "begin", then "end" once the file `go` is there."""
    return f"""
import os, time
open("outputs/partial.txt", "w").write("kept")
print("begin", flush=True)
while not os.path.exists({str(go)!r}): time.sleep(0.02)
print("end", flush=True)
raise SystemExit({code})
"""


def index_variables():
    """For SetEnv of a server: what this machine needs to reach its package index."""
    return " ".join(f'"{k}={os.environ[k]}"' for k in INDEX_VARIABLES if k in os.environ)


class SshRuns:
    """A server, a user of it, a `tenon`, and projects whose target is that user's account. `port`: of a link in between."""

    def __init__(self, server, user, tenon, scratch, kind="remote", port=None):
        self.server = server
        self.user = user
        self.tenon = tenon
        self.scratch = Path(scratch)
        self.kind = kind
        self.port = port or server.port
        self.leaves_something = False  # set by tests that mean it

    def project(self, script="print('hello')\n", name="proj", files=None, script_name="main.py"):
        """One that knows no other machine yet."""
        texts = {"aml_config/conda_dependencies.yml": NO_PACKAGES, **(files or {})}
        return harness.make_project(self.scratch / name, script, script_name=script_name, files=texts)

    def attach(self, folder, *options, name=NAME, kind=None, user=None, password=None, host_key=("--accept-host-key",), tenon=None,
               **how):
        user = user or self.user
        password = user.password if password is None else password
        words = ["computetarget", "attach", kind or self.kind, "-n", name, "-a", self.server.address, "--port", str(self.port), "-u",
                 user.name, "--password-stdin", *host_key, "--framework", "Python", *options]
        return (tenon or self.tenon).run(*words, cwd=folder, stdin=password.encode() + b"\n", **how)

    def attached(self, script="print('hello')\n", *options, name="proj", files=None, script_name="main.py", **how):
        """A project and the target in it."""
        folder = self.project(script, name, files, script_name)
        self.attach(folder, *options, **how).ok()
        return folder

    def submit(self, folder, *words, tenon=None, name=NAME, **options):
        options.setdefault("timeout", 120)
        return (tenon or self.tenon).run("submit", "-c", name, *(words or ("main.py",)), cwd=folder, **options)

    def start(self, folder, *words, tenon=None, name=NAME, **options):
        return (tenon or self.tenon).start("submit", "-c", name, *(words or ("main.py",)), cwd=folder, **options)

    def left_going(self, folder):
        """The id of a run that goes on without anybody who watches."""
        started = self.start(folder)
        started.wait_for("begin")
        run_id = self.last(folder)["run_id"]
        started.kill()
        return run_id

    def last(self, folder, tenon=None, **options):
        return (tenon or self.tenon).json("history", "last", "-o", "json", cwd=folder, **options)

    def details(self, folder, run="last", **options):
        """Steps, notices and all else `show` knows."""
        return self.tenon.json("show", run, "-o", "json", cwd=folder, **options)["details"]

    def another_client(self, name="other"):
        """A `tenon` on another machine, as far as anybody can tell: it has a home of its own."""
        folder = self.scratch / name
        folder.mkdir()
        return harness.Tenon(self.tenon.binary, folder / "tenon-home", folder)

    @contextlib.contextmanager
    def somebody_else(self, folder):
        """Another client, and its copy of the project: it has access to the machine, and knows nothing else of it."""
        other = self.another_client()
        copy = other.scratch / folder.name
        shutil.copytree(folder, copy)
        try:
            self.attach(copy, "--force", tenon=other).ok()
            yield other, copy
        finally:
            assert not other.cleanup()

    def far_files(self, pattern):
        """Below our folder on the host, wherever it is. Folders may come and go meanwhile."""
        found = (Path(folder, name) for root in self.user.roots() for folder, folders, files in os.walk(root)
                 for name in folders + files)
        return sorted(path for path in found if path.match(pattern))

    def far_runs(self):
        """Folders of runs on the host."""
        return [p for p in self.far_files("runs/*") if p.is_dir()]

    def runners(self):
        """Pids of runners that work for the user, agents not counted."""
        found = []
        for pid in self.user.processes():
            words = command_of(pid)
            if any(b"tenon-runner" in w for w in words[:2]) and b"serve" not in words:
                found.append(pid)
        return found

    def still_running(self, seconds=60):
        """Processes of the user that do not end by themselves once nobody is connected; sshd's own are not counted."""
        deadline = time.monotonic() + seconds
        while True:
            left = {pid: b" ".join(command_of(pid)).decode("utf-8", "replace") for pid in self.user.processes()}
            left = {pid: words for pid, words in left.items() if words and not words.startswith("sshd: ")}
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.05)

    def cleanup(self):
        left = self.tenon.cleanup()
        far = {} if self.leaves_something else self.still_running()
        assert not left, f"processes that could not be ended: {left}"
        assert not far, f"left running on the host: {far}"


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return [b""]
