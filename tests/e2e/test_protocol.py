# SPDX-License-Identifier: Apache-2.0
"""Client and runner of different releases. `tests/data/protocol-1` holds what the first release said;
today's programs must understand it or say clearly why not."""

import json
import os
import subprocess

from pathlib import Path

import pytest

from e2e import harness

SAVED = harness.ROOT / "tests/data/protocol-1"
RUNNER = harness.build_dir() / "tenon-runner"


def ask(verb, request):
    done = subprocess.run([RUNNER, verb], input=json.dumps(request), capture_output=True, text=True,
                          timeout=60)
    hello, answer = done.stdout.split("\n", 1)
    return hello, json.loads(answer)


def saved_start(tenon, project):
    """The saved request, about a real tree in a real home."""
    folder = project("import sys; print(sys.argv[1:])\n")
    tree = tenon.json("snapshot", "--json", cwd=folder)
    text = (SAVED / "start.json").read_text()
    root = next(v for k, v in sorted(tree.items()) if isinstance(v, str) and len(v) == 64)
    for name, value in (("@HOME@", tenon.home), ("@TREE@", root), ("@PATH@", os.environ["PATH"])):
        text = text.replace(name, str(value))
    return json.loads(text)


def test_saved_request_of_the_first_protocol_is_carried_out(tenon, project):
    request = saved_start(tenon, project)
    hello, answer = ask("start", request)
    assert hello.startswith("tenon-runner 1 ")
    assert set(answer["runner"]) == {"pid", "start_ticks", "boot_id"}
    log = tenon.home / "runs" / request["run_id"] / "host.tj"
    harness.wait_until(lambda: b"Completed" in log.read_bytes(), 30, "the end of the run")
    assert b"['--epochs', '2']" in log.read_bytes()


@pytest.mark.parametrize("verb", ["start", "cancel", "recover"])
@pytest.mark.parametrize("protocol,who", [(0, "the other side is the older one"),
                                          (2, "this side is the older one")])
def test_runner_answers_a_client_of_another_protocol(tenon, project, verb, protocol, who):
    request = dict(saved_start(tenon, project), protocol=protocol)
    _, answer = ask(verb, request)
    assert who in answer["error"]["message"], answer
    assert answer["error"]["hint"]
    assert not (tenon.home / "runs" / request["run_id"]).exists()


def replace_runner(tenon, transcript):
    """Puts a runner of another release where the client looks for its own."""
    path, = (p for p in (tenon.home / "bin").glob("tenon-runner-*") if p.suffix != ".checked")
    size = path.stat().st_size
    script = "#!/bin/sh\ncat >/dev/null\ncat <<'END'\n" + transcript + "END\nexit 0\n"
    path.unlink()
    path.write_text(script + "#" * (size - len(script.encode()) - 1) + "\n")
    path.chmod(0o755)
    found = path.stat()
    assert found.st_size == size
    # The client takes it for the one whose hash it has looked at.
    times = [f"{ns // 10**9}.{ns % 10**9}" for ns in (found.st_mtime_ns, found.st_ctime_ns)]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    Path(str(path) + ".checked").write_text(f"{found.st_ino} {size} {' '.join(times)} {boot}\n")


@pytest.mark.parametrize("protocol,version,who", [(2, "9.9.9", "this side is the older one"),
                                                  (0, "0.0.1", None)])
def test_client_answers_a_runner_of_another_protocol(tenon, project, protocol, version, who):
    folder = project()
    tenon.run("submit", "main.py", cwd=folder).ok()
    saved = (SAVED / "answer-start.txt").read_text()
    replace_runner(tenon, saved.replace("tenon-runner 1 0.1.0", f"tenon-runner {protocol} {version}"))
    done = tenon.run("submit", "main.py", cwd=folder)
    assert done.code == 125, repr(done)
    assert (who or "runner") in done.err
    runs = tenon.json("history", "list", "-o", "json", cwd=folder)
    assert [r["status"] for r in runs] == ["Failed", "Completed"]


def test_saved_answer_of_the_first_protocol_is_understood(tenon, project):
    folder = project()
    tenon.run("submit", "main.py", cwd=folder).ok()
    replace_runner(tenon, (SAVED / "answer-start.txt").read_text())
    done = tenon.run("submit", "-a", "main.py", cwd=folder)
    assert done.code == 0, repr(done)
