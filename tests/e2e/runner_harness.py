# SPDX-License-Identifier: Apache-2.0
"""Drives the built `tenon-runner` by its verbs (docs/runner.md), without `tenon`."""

import json
import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

from e2e import harness
from e2e.journal_py import Journal, store_tree


class RunnerError(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.kind = error["kind"]
        self.hint = error.get("hint", "")


class Run:
    """One run: its folder, its journal, and the verbs about it."""

    def __init__(self, runner, spec):
        self.runner = runner
        self.spec = spec
        self.id = spec["id"]
        self.folder = runner.home / "runs" / self.id
        self.segment = self.folder / "host.tj"
        self.handle = None

    def start(self, environment=None, secrets=None, **options):
        request = {"spec": self.spec, "environment": self.runner.environment(environment),
                   "secrets": secrets or {}, "version": "test"}
        self.handle = self.ask("start", request, **options)
        return self

    def ask(self, verb, request=None, **options):
        return self.runner.ask(verb, {"home": str(self.runner.home), "run_id": self.id,
                                      **(request or {})}, **options)

    def journal(self):
        return Journal(self.segment)

    @property
    def pid(self):
        return self.handle["runner"]["pid"]

    def wait_for(self, condition, timeout=60, what="a record"):
        """Waits until condition(journal) holds; returns its value."""

        def look():
            return self.segment.exists() and condition(self.journal())

        try:
            return harness.wait_until(look, timeout, what)
        except harness.TimedOut:
            records = self.journal().records if self.segment.exists() else []
            raise harness.TimedOut(f"{what}: {records[-20:]}") from None

    def wait_for_output(self, text, timeout=60):
        return self.wait_for(lambda j: text in j.stdout, timeout, f"{text!r} in the output")

    def wait(self, timeout=60):
        """The journal, once the run has its end and the supervisor is gone."""
        self.wait_for(lambda j: j.end, timeout, "the end")
        harness.wait_until(lambda: not alive(self.pid), timeout, "the end of the supervisor")
        return self.journal()


def alive(pid):
    try:
        return harness.process_state(f"/proc/{pid}") not in "ZX"
    except OSError:
        return False


def processes_with(text):
    """Pids whose environment or command line holds the text."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        for file in ("environ", "cmdline"):
            try:
                with open(f"/proc/{name}/{file}", "rb") as f:
                    if text in f.read() and alive(int(name)):
                        found.append(int(name))
                        break
            except OSError:
                pass
    return found


def remove_cgroup(key):
    """Of a run whose runner was killed and that nobody has recovered."""
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        try:
            os.rmdir(f"{root}/tenon-{key}")
        except OSError:
            pass


class Runner:
    def __init__(self, home, scratch):
        binary = harness.build_dir() / "tenon-runner"
        assert binary.exists(), f"{binary} is not there; scripts/build makes it"
        self.binary = harness.for_everybody(binary)
        self.home = Path(home)
        self.scratch = Path(scratch)
        self.runs = []
        self.prefix = []  # in front of the program
        self.extra_env = {}  # of the runner itself

    def environment(self, extra=None):
        env = {k: os.environ[k] for k in ("PATH", "LANG", "PYENV_ROOT") if k in os.environ}
        env.update(HOME=str(self.scratch), TENON_HOME=str(self.home))
        env.update(extra or {})
        return {k: v for k, v in env.items() if v is not None}

    def ask_raw(self, verb, text, timeout=60):
        env = {"PATH": os.environ["PATH"], "TENON_HOME": str(self.home), **self.extra_env}
        return subprocess.run([*map(str, self.prefix), str(self.binary), verb], input=text, env=env,
                              capture_output=True, timeout=timeout, check=False, cwd="/")

    def ask(self, verb, request, timeout=60):
        request = {"protocol": 1, **request}
        done = self.ask_raw(verb, json.dumps(request).encode(), timeout)
        lines = done.stdout.decode().splitlines()
        assert len(lines) == 2 and lines[0].startswith("tenon-runner 1 "), done
        answer = json.loads(lines[1])
        if "error" in answer:
            assert done.returncode == 1, done
            raise RunnerError(answer["error"])
        assert done.returncode == 0, done
        return answer

    def new(self, script="print('hello')\n", files=None, **spec):
        """A run of one script, its files in the store, not started yet."""
        key = str(uuid.uuid4())
        folder = self.scratch / ("project-" + key[:8])
        for name, text in {"main.py": script, **(files or {})}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        tree = store_tree(self.home / "objects", folder)
        run = Run(self, {"key": key, "id": f"proj_{len(self.runs)}_{key[:8]}", "number": 1,
                         "project": "proj", "script": "main.py", "tree": tree, "kept_tree": tree,
                         "target": "local", "target_type": "local", "executor": "process",
                         "python": "python3", **spec})
        self.runs.append(run)
        return run

    def start(self, script="print('hello')\n", environment=None, secrets=None, **spec):
        if secrets:
            spec["secret_names"] = sorted(secrets)
        return self.new(script, **spec).start(environment, secrets)

    def cleanup(self):
        """Ends whatever the runs left; the pids that would not go."""
        deadline = time.monotonic() + 10
        while True:
            left = harness.marked_processes(self.home)
            for run in self.runs:
                left += processes_with(run.spec["key"].encode())
            for pid in set(left):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not left or time.monotonic() > deadline:
                break
            time.sleep(0.02)
        for run in self.runs:
            remove_cgroup(run.spec["key"])
        return left
