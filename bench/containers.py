#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers of runs in containers, each against the engine's own work in the same run.

    scripts/build && sudo python3 bench/containers.py [--quick] [NAME...]

Starts a Docker engine of its own, so it takes root and docker.io. Prints a markdown table with N, median and spread
(smallest to largest). Works in temporary folders.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]

import measure  # noqa: E402
from measure import alternate, ms, ratio, row, s, timed  # noqa: E402
from hosts import images  # noqa: E402
from hosts.docker_runs import EngineTenon, Runs, pip_file  # noqa: E402
from hosts.engine import DockerEngine, Unusable  # noqa: E402

TENON = Path(os.environ.get("TENON_BUILD", ROOT / "build/release")) / "tenon"
PACKAGES = ("numpy", "scikit-learn")


class Bench:
    def __init__(self, engine, folder, quick):
        self.quick = quick
        self.engine = engine
        self.runs = Runs(engine, EngineTenon(TENON, folder / "home", folder, engine.variables), folder)

    def docker(self, *words):
        done = subprocess.run(["docker", *words], env=dict(os.environ, **self.engine.variables), capture_output=True,
                              check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout


def need_docker():
    if not shutil.which("docker"):
        sys.exit("the program `docker` is not there; it is what we compare with")


def submit(b):
    """A prepared environment on both sides, the same command in it."""
    need_docker()
    n = 5 if b.quick else 20
    folder = b.runs.project("print('x')\n", conda=pip_file("six==1.16.0"))
    b.runs.submit(folder).ok()
    [image] = b.runs.environments()
    python = interpreter_of(b, image)

    def direct():
        out = b.docker("run", "--rm", "--user", f"{os.getuid()}:{os.getgid()}", "-v", f"{folder}:/azureml-run", "-w",
                       "/azureml-run", image, python, "main.py")
        assert out == b"x\n"

    ours, peer = alternate(n, lambda: timed(lambda: b.runs.submit(folder).ok()), lambda: timed(direct))
    row("warm submit of `print('x')` in a container against `docker run --rm` of it", n, ms(ours), ms(peer),
        ratio(ours, peer), "≤ 1.15")
    reuse(b, folder, n)


def interpreter_of(b, image):
    """That of a prepared image: in the first folder of its own PATH."""
    env = dict(e.split("=", 1) for e in b.engine.api.image(image)["Config"]["Env"])
    return env["PATH"].split(":")[0] + "/python"


def reuse(b, folder, n):
    """The step that finds the prepared environment, as the journal has it."""
    took = []
    for _ in range(n):
        b.runs.submit(folder).ok()
        steps = [step for step in b.runs.details(folder)["steps"] if "reused" in step["detail"]]
        assert len(steps) == 1, steps
        hours, minutes, seconds = steps[0]["duration"].split(":")
        took.append(int(hours) * 3600 + int(minutes) * 60 + float(seconds))
    row("finding the prepared image again, by the journal", n, ms(took), "", "", "≤ 20 ms")


def build(b):
    """Cold: no cache of ours, none of the peer's; the tool itself is fetched before on both sides."""
    n = 1 if b.quick else 3
    image = b.runs.image()
    folder = b.runs.project("import sklearn\n", name="cold", conda=pip_file(*PACKAGES))
    b.runs.submit(b.runs.project("import six\n", name="first", conda=pip_file("six==1.16.0"))).ok()
    uv = next((p for p in (b.runs.tenon.home).rglob("uv") if p.is_file() and os.access(p, os.X_OK)), None)
    assert uv is not None, "no uv below the home"

    def ours():
        for cache in b.runs.tenon.home.rglob("cache"):
            shutil.rmtree(cache, ignore_errors=True)
        return timed(lambda: b.runs.tenon.run("env", "prepare", "-c", "docker-python", "--refresh", cwd=folder,
                                              timeout=900).ok())

    def peer():
        command = "uv venv -q /tmp/e && uv pip install -q --python /tmp/e/bin/python " + " ".join(PACKAGES)
        host = {"Binds": [f"{uv}:/usr/local/bin/uv:ro"]}
        bundle = "/etc/ssl/certs/ca-certificates.crt"
        env = ["HOME=/tmp"]
        if os.path.exists(bundle):
            host["Binds"].append(f"{bundle}:/ca.crt:ro")
            env.append("SSL_CERT_FILE=/ca.crt")

        def work():
            code, text = b.engine.api.run(image, ["sh", "-c", command], host=host, Env=env)
            assert code == 0, text
        return timed(work)

    mine, theirs = alternate(n, ours, peer)
    row(f"cold build of {' + '.join(PACKAGES)} against `uv pip install` of them in the same image", n, s(mine), s(theirs),
        ratio(mine, theirs), "≤ 1.3")


ALL = {f.__name__: f for f in (submit, build)}


def main():
    options = measure.options(__doc__, ALL)
    with contextlib.ExitStack() as stack:
        try:
            engine = stack.enter_context(DockerEngine())
            images.load(engine.api, "debian")
        except (Unusable, images.Missing) as why:
            sys.exit(str(why))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp"))))
        bench = Bench(engine, folder, options.quick)
        stack.callback(bench.runs.tenon.cleanup)
        measure.run(ALL, options.name, bench)


if __name__ == "__main__":
    main()
