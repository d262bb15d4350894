# SPDX-License-Identifier: Apache-2.0
"""A canary that was given as a secret is in no image, layer, label, answer of the engine, log or file of ours."""

import io
import json
import os
import secrets
import tarfile

import pytest

from e2e.harness import all_below, read_if_there
from hosts.api import ApiError
from hosts.docker_runs import pip_file
from hosts.packages import Index

pytestmark = pytest.mark.planned_skip("needs root, and docker.io and debootstrap installed")

SCRIPT = """
import os, sys, time
import tenon_demo
print("have", len(os.environ["TOKEN"]), flush=True)
print(os.environ["TOKEN"], flush=True)
print(os.environ["TOKEN"], file=sys.stderr, flush=True)
open("outputs/note.txt", "w").write("nothing to see")
if len(sys.argv) > 1: time.sleep(600)
"""


def search_tar(data, canary, where):
    """Every member of a tar, tars inside it too; names, links and contents."""
    found = []
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            text = json.dumps([member.name, member.linkname, member.uname, member.pax_headers])
            if canary in text:
                found.append(f"{where}: {member.name} (name)")
            if not member.isfile():
                continue
            content = tar.extractfile(member).read()
            if member.name.endswith((".tar", "layer")):
                found += search_tar(content, canary, f"{where}/{member.name}")
            elif canary.encode() in content:
                found.append(f"{where}: {member.name}")
    return found


def search_engine(runs, canary):
    """Images with their layers, histories and labels, containers, and the engine's own log."""
    api, found = runs.api, []
    for image in api.images():
        for kind in ("json", "history"):
            if canary.encode() in api.call("GET", f"/images/{image['Id']}/{kind}"):
                found.append(f"image {image['RepoTags']} {kind}")
        if any("tenon/env:" in t for t in image["RepoTags"] or []):
            found += search_tar(api.call("GET", f"/images/{image['Id']}/get"), canary, str(image["RepoTags"]))
    for container in api.containers():
        text = api.call("GET", f"/containers/{container['Id']}/json")
        if canary.encode() in text:
            found.append(f"inspect of container {container['Names']}")
        try:
            if canary in api.logs(container["Id"]):
                found.append(f"logs of container {container['Names']}")
        except ApiError as error:
            assert error.status == 501, error  # this container has no log
    if canary in runs.engine.log:
        found.append("the engine's log")
    return found


def search_files(folder, canary):
    found = []
    for path in all_below(folder):
        if canary in path.name or (path.is_symlink() and canary in os.readlink(path)):
            found.append(str(path))
        elif canary.encode() in read_if_there(path):
            found.append(str(path))
    return found


def search_processes(canary):
    """Command lines; the script's own environment is where the secret belongs."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as f:
                    if canary.encode() in f.read():
                        found.append(f"command line of {entry}")
            except OSError:
                pass
    return found


@pytest.mark.parametrize("volumes", [True, False], ids=["volumes", "copies"])
def test_canary_is_found_nowhere(runs, volumes):
    """The password of a private index, and the script's token."""
    password, token = secrets.token_hex(12), secrets.token_hex(12)
    with Index(password=password).add("tenon-demo", "1.0") as index:
        line = f"--index-url http://tenon:${{INDEX_PASSWORD}}@{runs.engine.gateway}:{index.port}/simple/"
        folder = runs.project(SCRIPT, conda=pip_file(line, "tenon-demo"), compute={"sharedVolumes": volumes})
        options = ("--secret", "TOKEN", "--secret", "INDEX_PASSWORD")
        env = {"TOKEN": token, "INDEX_PASSWORD": password}
        done = runs.submit(folder, *options, "main.py", env=env).ok()
        assert index.downloads(), "the private index was not used"
        assert done.out.startswith("have 24\n")
        watcher = runs.start(folder, *options, "main.py", "stay", env=env)
        watcher.wait_for("have 24")
        for canary in (password, token):
            assert canary not in done.out + done.err + watcher.out + watcher.err
            assert search_engine(runs, canary) == []
            assert search_processes(canary) == []
            assert search_files(runs.tenon.home, canary) == []
            for words in (["show", "last"], ["show", "last", "-o", "json"], ["logs", "last"], ["env", "list"],
                          ["env", "show", "last"], ["history", "last", "-o", "json"]):
                assert canary not in repr(runs.tenon.run(*words, cwd=folder).ok()), words
        runs.tenon.run("cancel", "last", "--grace", "0s", cwd=folder).ok()
        watcher.wait()
        runs.tenon.run("experiment", "diagnostics", "-r", "last", cwd=folder)
        for canary in (password, token):
            assert search_files(runs.tenon.home, canary) == search_files(folder, canary) == []


def test_canary_of_a_failed_build_is_found_nowhere(runs):
    """The tool's own last words hold addresses with passwords."""
    password = secrets.token_hex(12)
    with Index(password="another").add("tenon-demo", "1.0") as index:
        line = f"--index-url http://tenon:${{INDEX_PASSWORD}}@{runs.engine.gateway}:{index.port}/simple/"
        folder = runs.project(SCRIPT, conda=pip_file(line, "tenon-demo"))
        done = runs.submit(folder, "--secret", "INDEX_PASSWORD", "main.py", env={"INDEX_PASSWORD": password})
    assert done.code == 125 and "tenon-demo" in done.err, repr(done)
    assert password not in done.out + done.err
    assert search_files(runs.tenon.home, password) == [] and search_engine(runs, password) == []


def test_search_would_find_it(runs):
    """The search itself: a canary that is planted is found in a layer, a label and a file."""
    canary = secrets.token_hex(12)
    name = "tenon/env:" + "0" * 32
    runs.api.derive(runs.image("busybox"), name, [f"LABEL x={canary}"], ["sh", "-c", f"echo {canary} > /etc/leak"])
    found = search_engine(runs, canary)
    assert any("etc/leak" in f for f in found) and any("json" in f for f in found), found
    (runs.scratch / "x").write_text(canary)
    assert search_files(runs.scratch, canary)
    runs.api.remove_image(name)
