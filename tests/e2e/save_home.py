# SPDX-License-Identifier: Apache-2.0
"""Makes a sample of what a release leaves behind, for tests of later ones: a home with runs of every kind
and end, and what that release itself said of them. No test: run it with the build folder of the release.

    TENON_BUILD=.../build/release SAVE_TO=tests/data/home-0.1.0 python3 -m pytest tests/e2e/save_home.py
"""

import json
import os
import signal
import tarfile
from pathlib import Path

import pytest

from e2e.harness import make_project, wait_until
from hosts.docker_runs import EngineTenon
from hosts.ssh_runs import SshRuns

LEARNS = """
import sys
from azureml.logging import get_azureml_logger
log = get_azureml_logger()
for step in range(20):
    log.log("loss", 1.0 / (step + 1))
log.log("rate", 0.5)
open("outputs/model.txt", "w").write("weights")
print("learned", *sys.argv[1:])
print("a word of warning", file=sys.stderr)
"""
FAILS = "import sys; print('before it fails'); sys.exit(3)\n"
STAYS = """
import os, time
open("outputs/partial.txt", "w").write("kept")
print("begin", flush=True)
time.sleep(600)
"""
# What is remade, or of this machine alone.
LEFT_OUT = {"bin", "shim", "ssh", "cache", "tools", "work", "secrets.json", "secrets.key"}


def kept(info):
    parts = Path(info.name).parts
    if len(parts) > 1 and parts[1] in LEFT_OUT:
        return None
    if not (info.isfile() or info.isdir()) or info.name.endswith((".sock", ".lock", "-wal", "-shm")):
        return None
    info.mtime, info.uid, info.gid, info.uname, info.gname = 1_500_000_000, 0, 0, "", ""
    return info


def kill_all(tenon):
    """The runner, its script and the client, as when a machine is switched off."""
    for pid in tenon.processes():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not tenon.processes(), 20, "the end of all")


def local_runs(tenon, folder):
    named = {}

    def last():
        return tenon.json("history", "last", "-o", "json", cwd=folder)["run_id"]

    tenon.run("submit", "-c", "local", "learn.py", "--epochs", "3", cwd=folder).ok()
    named["done"] = last()
    tenon.run("tag", named["done"], "best", cwd=folder).ok()
    tenon.run("note", named["done"], "as it should be", cwd=folder).ok()
    assert tenon.run("submit", "-c", "local", "fail.py", cwd=folder).code == 3
    named["failed"] = last()
    watched = tenon.start("submit", "-c", "local", "stay.py", cwd=folder)
    watched.wait_for("begin")
    named["canceled"] = last()
    tenon.run("cancel", named["canceled"], cwd=folder).ok()
    watched.wait()
    return named


@pytest.mark.planned_skip("needs root, docker.io and openssh-server")
def test_save(runs, far, tmp_path):
    to = Path(os.environ["SAVE_TO"])
    home = tmp_path / "saved-home"
    tenon = EngineTenon(runs.tenon.binary, home, tmp_path, runs.engine.variables)
    texts = {"learn.py": LEARNS, "fail.py": FAILS, "stay.py": STAYS}
    here = make_project(tmp_path / "here", LEARNS, files=texts)
    named = local_runs(tenon, here)

    boxed = runs.project(LEARNS)
    tenon.run("submit", "-c", "docker-python", "main.py", "--epochs", "5", cwd=boxed, timeout=120).ok()
    named["boxed"] = tenon.json("history", "last", "-o", "json", cwd=boxed)["run_id"]

    away = SshRuns(far.server, far.user, tenon, tmp_path)
    folder = away.attached(LEARNS, name="away", files={"stay.py": STAYS})
    away.submit(folder, "main.py", "--epochs", "7").ok()
    named["away"] = away.last(folder)["run_id"]
    watched = away.start(folder, "stay.py")
    watched.wait_for("begin")
    named["left"] = away.last(folder)["run_id"]
    watched.kill()

    said = {"named": named, "runs": tenon.json("runs", "-o", "json"), "show": {}, "logs": {}, "metrics": {}}
    for name in ("done", "failed", "canceled", "boxed", "away"):
        said["show"][name] = tenon.json("show", named[name], "-o", "json")
        said["logs"][name] = tenon.run("logs", named[name]).ok().out
        said["metrics"][name] = tenon.json("metrics", named[name], "-o", "json")
    # Nobody looks at this one any more, so it has no end.
    watched = tenon.start("submit", "-c", "local", "stay.py", cwd=here)
    watched.wait_for("begin")
    named["killed"] = tenon.json("history", "last", "-o", "json", cwd=here)["run_id"]
    kill_all(tenon)
    for record in (home / "hosts").glob("*.json"):
        known = json.loads(record.read_text())
        known["facts"]["kernel"] = "6.1.0-25-amd64"
        record.write_text(json.dumps(known, indent=2))
    to.mkdir(parents=True, exist_ok=True)
    (to / "said.json").write_text(json.dumps(said, indent=1, sort_keys=True) + "\n")
    with tarfile.open(to / "home.tar.gz", "w:gz", compresslevel=9) as archive:
        archive.add(home, "home", filter=kept)
    far.user.kill_processes()
