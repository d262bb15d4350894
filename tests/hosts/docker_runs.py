# SPDX-License-Identifier: Apache-2.0
"""What the tests with containers share: projects with a container target, and `tenon` with an engine."""

import atexit
import contextlib
import json
import os
import shutil
import signal
import time

from e2e import harness
from hosts import engine as engines
from hosts import images
from hosts.api import ApiError

# What a machine needs to reach its package index; the other tests do without.
INDEX_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL",
                   "PIP_EXTRA_INDEX_URL", "PIP_CERT", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "SSL_CERT_FILE")
NO_PACKAGES = "name: project_environment\ndependencies: []\n"
SLEEPER = """
import os, time
open("outputs/partial.txt", "w").write("kept")
print("ready", flush=True)
time.sleep(600)
"""


def as_user(uid):
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]


def give_to(uid, folder):
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, uid, uid, follow_symlinks=False)


def usable(engine):
    """For fixtures: the engine, opened and with the usual image in it; skips where it can't be had."""
    import pytest  # pylint: disable=import-outside-toplevel  # the timed programs do without

    try:
        engine.__enter__()
        images.load(engine.api, "debian")
    except (engines.Unusable, images.Missing) as why:
        engine.close()
        pytest.skip(str(why))
    except BaseException:
        engine.close()
        raise
    yield engine
    engine.close()


class EngineTenon(harness.Tenon):
    """The program with an engine to use. `uid`: it runs as that user, who owns the scratch folder."""

    def __init__(self, binary, home, scratch, variables, uid=None):
        super().__init__(binary, home, scratch)
        self.variables = dict(variables)
        self.uid = uid
        self._prefix = [] if uid is None else as_user(uid)

    def env(self, extra=None):
        kept = {k: os.environ[k] for k in INDEX_VARIABLES if k in os.environ}
        made = super().env({**kept, **self.variables, **(extra or {})})
        if self.uid is not None:
            os.chown(made["HOME"], self.uid, self.uid)
        return made

    def run(self, *args, prefix=(), **options):
        return super().run(*args, prefix=[*self._prefix, *prefix], **options)

    def start(self, *args, prefix=(), **options):
        return super().start(*args, prefix=[*self._prefix, *prefix], **options)


def yaml_lines(values):
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in values.items() if value is not None)


def write_project(folder, script, image, conda=None, compute=None, runconfig=None, files=None, script_name="main.py"):
    """The reference's layout: docker.compute, docker-python.runconfig, conda_dependencies.yml. `conda` None: the image's
    own Python is used as it is. `compute` and `runconfig` add to the files; None as a value takes a line away."""
    target = {"type": "localdocker", "baseDockerImage": image, "sharedVolumes": True}
    if conda is None:
        target["userManagedEnvironment"] = True
    target.update(compute or {})
    how = {"ArgumentVector": ["$file"], "Target": "docker", "Framework": "Python", "PrepareEnvironment": True,
           "CondaDependenciesFile": "aml_config/conda_dependencies.yml", "TrackedRun": True}
    how.update(runconfig or {})
    texts = {"aml_config/docker.compute": yaml_lines(target), "aml_config/docker-python.runconfig": yaml_lines(how),
             "aml_config/conda_dependencies.yml": conda or NO_PACKAGES, **(files or {})}
    return harness.make_project(folder, script, script_name=script_name, files=texts)


def pip_file(*lines):
    return "name: project_environment\ndependencies:\n- pip:\n" + "".join(f"  - {json.dumps(line)}\n" for line in lines)


TOOLS = []  # folders with tools that a `tenon` of this process has fetched, for the next ones


class Runs:
    """An engine, a `tenon` that uses it, and projects. `fetched`: the tools that an earlier one fetched are there."""

    def __init__(self, engine, tenon, scratch, fetched=True):
        self.engine = engine
        self.tenon = tenon
        self.scratch = scratch
        self.compute = {}  # keys of every project's target
        self.leaves_something = False  # set by tests that mean it
        if fetched:
            self._bring_tools()

    def _bring_tools(self):
        for folder in TOOLS:
            to = self.tenon.home / "tools" / folder.name
            shutil.copytree(folder, to, symlinks=True)
            if self.tenon.uid is not None:
                give_to(self.tenon.uid, self.tenon.home)

    def _keep_tools(self):
        known = {folder.name for folder in TOOLS}
        for folder in (self.tenon.home / "tools").glob("uv-*"):
            if folder.is_dir() and folder.name not in known:
                kept = harness.ROOT / "build" / "test-images" / "tools" / f"{os.getpid()}" / folder.name
                shutil.copytree(folder, kept, symlinks=True)
                atexit.register(shutil.rmtree, kept.parent, ignore_errors=True)
                TOOLS.append(kept)

    @property
    def api(self):
        return self.engine.api

    def image(self, name="debian"):
        return images.load(self.api, name)

    def derived(self, name, changes=(), command=None, base="debian"):
        """An image made from another one, once per engine."""
        full = f"tenon-test/{name}:1"
        if self.api.image(full) is None:
            self.api.derive(self.image(base), full, changes, command)
        return full

    def project(self, script, name="proj", image=None, **options):
        options["compute"] = {**self.compute, **(options.get("compute") or {})}
        folder = write_project(self.scratch / name, script, image or self.image(), **options)
        if self.tenon.uid is not None:
            give_to(self.tenon.uid, folder)
        return folder

    def submit(self, folder, *words, **options):
        words = words or ("main.py",)
        options.setdefault("timeout", 240)
        return self.tenon.run("submit", "-c", "docker-python", *words, cwd=folder, **options)

    def start(self, folder, *words, **options):
        return self.tenon.start("submit", "-c", "docker-python", *(words or ("main.py",)), cwd=folder, **options)

    def last(self, folder, **options):
        return self.tenon.json("history", "last", "-o", "json", cwd=folder, **options)

    def details(self, folder, run="last", **options):
        """Steps, notices and all else `show` knows."""
        return self.tenon.json("show", run, "-o", "json", cwd=folder, **options)["details"]

    def index_line(self, index, password=None):
        """A pip line that names the index so that containers and this machine find it."""
        return f"--index-url {index.url(self.engine.gateway, password)}"

    def of_others(self):
        """What below the home does not belong to the user, once the runners have tidied up."""
        assert not self.tenon.processes_left()
        return [p for p in self.tenon.home.rglob("*") if os.lstat(p).st_uid != (self.tenon.uid or 0)]

    def runner_pid(self):
        """The runner on this machine, not the one inside a container."""
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as f:
                    ours = b"tenon-runner" in f.read()
                if ours and os.readlink(f"/proc/{entry}/cwd").startswith(str(self.tenon.home)):
                    return int(entry)
            except OSError:
                continue
        return None

    def kill_runner(self):
        """Returns once it is gone: until then it holds what says that the run is supervised."""
        harness.wait_until(self.runner_pid, 30, "a runner")
        while (pid := self.runner_pid()) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def container(self, kind="run"):
        """What the engine tells of the only container of that kind; None when there is none."""
        found = self.api.containers(f"tenon.kind={kind}")
        assert len(found) <= 1, found
        return self.api.inspect(found[0]["Id"]) if found else None

    def environments(self):
        """Ids of the prepared images."""
        return {i["Id"] for i in self.api.images() if any("tenon/env:" in t for t in i["RepoTags"] or [])}

    def builds_since(self, moment):
        """How many containers were made to build something."""
        query = {"since": f"{moment:.6f}", "until": f"{time.time():.6f}",
                 "filters": json.dumps({"type": ["container"], "event": ["create"], "label": ["tenon.kind=build"]})}
        return len(self.api.call("GET", "/events", query=query).splitlines())

    def cleanup(self):
        left = self.tenon.cleanup()
        self._keep_tools()
        found = [] if self.leaves_something else self.engine.leftovers()
        self.engine.sweep()
        for image in self.api.images():
            for tag in image["RepoTags"] or [image["Id"]]:
                if "tenon-test/" not in tag:
                    try:
                        self.api.remove_image(tag)
                    except ApiError:
                        pass
        assert not left, f"processes that could not be ended: {left}"
        assert not found, f"left behind in the engine: {found}"

