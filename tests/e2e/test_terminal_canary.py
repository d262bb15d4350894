# SPDX-License-Identifier: Apache-2.0
"""What steers a terminal is planted wherever a host, an engine, a tool, a journal or a project file can put text, and looked for in
what every listing shows on a terminal. The only exact bytes are a script's own."""

import json
import re
import struct

import pytest

from e2e.journal_py import TYPES, Journal, crc32c
from hosts.ssh_runs import SLEEPER

NEEDS_SSHD = pytest.mark.planned_skip("needs root and openssh-server")
# Escape sequences, a bell, backspaces, C1 controls, a carriage return, a line that passes for ours, directions, no width.
EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x08\x9b31m\rBack\n" "Forged: line\n" "\u202e\u2066\u200f\u061c\u200b\ufeff\u2028\U000e0041"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")

# Names by which things are found again, and numbers in words: what is planted there makes a record unreadable.
KEPT = {"id", "project_id", "state", "tree", "kept_tree", "git_diff_object", "host", "client", "executor", "level", "boot_id", "hash",
        "sha256", "format", "where_kind"}


def check(said):
    """Nothing but the program's own line ends is left of what was planted. A note has as many lines as its writer gave it."""
    text = said.out_bytes.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    assert not BAD.search(text), f"{said.args}: {BAD.search(text)!r} in {text!r}"
    assert not any("\udc80" <= c <= "\udcff" for c in text), f"{said.args}: {text!r}"
    assert said.args[1] == "note" or not re.search("^(Forged|Back)", text, re.M), f"{said.args}: {text!r}"


def spoil(value, key=""):
    if isinstance(value, dict):
        return {k: spoil(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [spoil(v, key) for v in value]
    if isinstance(value, str) and key not in KEPT and not (key == "key" and re.fullmatch(r"[0-9a-f-]{36}", value)):
        return value + EVIL
    return value


MORE = [(14, {"key": "e" * 64, "kind": "conda", "name": "environment", "base": "base", "base_id": "sha256:1", "python_version": "3",
              "file": "conda.yml", "reused": False, "bytes": 1}),
        (16, {"id": "c1", "name": "container", "image": "image", "engine": "docker", "socket": "/run/x"}),
        (7, {"level": "warning", "text": "a notice", "hint": "a hint"}),
        (7, {"level": "error", "text": "an error", "hint": "a hint"}),
        (3, {"name": "step", "duration_us": 9_000_000, "detail": "a detail"}),
        (9, {"reason": "a full disk", "records": 1, "stdout_bytes": 1, "stderr_bytes": 1}),
        (2, {"state": "CancelRequested", "reason": "canceled by somebody"})]


def spoil_segment(path, more=()):
    """Rewrites a segment: every text in its records gets what steers a terminal, and records of other kinds are added."""
    header = path.read_bytes()[:64]
    kinds = {name: kind for kind, name in TYPES.items()}
    made, number = header, 0
    for record in Journal(path).records:
        kind, time_us, payload = kinds.get(record.type, record.type), record.time_us, record.payload
        if kind == 8:
            for other, event in more:
                number, made = number + 1, made + encode(number + 1, time_us, other, json.dumps(spoil(event)).encode())
        if kind not in (4, 5):
            event = spoil(json.loads(payload))
            if kind == 8:
                event["proof"] = spoil({"method": "cgroup", "ended": 0, "left": 0, "unseen": 0, "remark": "r", "gpu": "g"})
                event.setdefault("reason", EVIL)
            payload = json.dumps(event).encode()
        number += 1
        made += encode(number, time_us, kind, payload)
    path.write_bytes(made)


def encode(number, time_us, kind, payload):
    rest = struct.pack("<IQqB3x", len(payload), number, time_us, kind) + payload
    return struct.pack("<I", crc32c(rest)) + rest


SCRIPT = f"""
import os
from azureml.logging import get_azureml_logger
log = get_azureml_logger()
evil = {EVIL!r}
log.log("plain", 1.5)
log.log("name" + evil, 2.5)
log.log("text", "value" + evil)
os.makedirs("outputs", exist_ok=True)
open("outputs/file" + evil.replace("/", "_"), "w").write("x")
"""


@pytest.fixture
def spoiled(tenon, project):
    """A project of which everything that others write is spoiled."""
    folder = project(SCRIPT)
    for _ in range(2):
        tenon.run("submit", "-c", "local", "main.py", "--arg", "value" + EVIL, cwd=folder).ok()
    tenon.run("tag", "last", "tag" + EVIL.replace("\n", " "), cwd=folder)
    tenon.run("note", "last", "note" + EVIL, cwd=folder)
    assert not tenon.processes_left()
    for segment in sorted(tenon.home.glob("runs/*/*.tj")):
        spoil_segment(segment, MORE if segment.name == "host.tj" else ())
    tenon.run("history", "rebuild", cwd=folder).ok()
    return folder


LISTINGS = ["runs", "runs --all-projects", "history list", "history list -o table", "ps", "status last", "show last", "show 1 --full",
            "logs last", "metrics last", "metrics last --chart", "metrics last --csv", "compare 1 2", "compare 1 2 --all",
            "history info -r last", "history last", "tag last", "note last", "env list", "env show last", "env diff 1 2", "asset list",
            "du", "cancel last", "history download -r last -d there", "history info -r last --artifact nothing", "rerun last --dry-run",
            "exec last -- true", "forward last 6006", "experiment diagnostics -r last", "config show", "config check", "snapshot",
            "runconfiguration list", "computetarget list", "gc --dry-run", "secrets list", "restore last elsewhere --dry-run",
            "history info -r last -a control_log", "history promote -r last --artifact nothing", "experiment return -r last", "data list -t local", "completion bash"]


def test_nothing_planted_in_a_journal_reaches_the_terminal(tenon, spoiled):
    for line in LISTINGS:
        check(tenon.pty(*line.split(), cwd=spoiled, env={"NO_COLOR": "1", "COLUMNS": "300"}))
    shown = tenon.pty("show", "2", cwd=spoiled, env={"NO_COLOR": "1"}).out
    for part in ("cgroup\\x1b", "e\\x1b]0;owned", "container\\x1b", "\\u202e"):
        assert part in shown, shown
    for line in ("runs", "show last", "history list", "metrics last", "history info -r last", "ps", "env list"):
        for form in ("json", "tsv", "table"):
            check(tenon.pty(*line.split(), "-o", form, cwd=spoiled, env={"NO_COLOR": "1"}))
        check(tenon.pty(*line.split(), "--json", "--query", "[]", cwd=spoiled, env={"NO_COLOR": "1"}))


def test_the_log_that_is_made_of_a_journal_has_none_of_it(tenon, spoiled, tmp_path):
    """It is a text file, which people show in a terminal."""
    tenon.run("history", "download", "-r", "last", "-d", tmp_path / "down", cwd=spoiled)
    text = (tmp_path / "down" / "control_log").read_text()
    assert "owned" in text and not BAD.search(text) and not re.search("^(Forged|Back)", text, re.M), text


def test_names_with_line_breaks_make_no_line_of_their_own(tenon, project):
    """Names of files that begin with a dot are named in a note."""
    folder = project("open('outputs/.a\\nForged: line', 'w').write('x')\n", files={"outputs/.keep": ""})
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    check(tenon.pty("history", "download", "-r", "last", "-d", ".", cwd=folder, env={"NO_COLOR": "1"}))
    check(tenon.pty("experiment", "return", "-r", "last", cwd=folder, env={"NO_COLOR": "1"}))


def test_styles_are_ours_alone(tenon, spoiled):
    """On a terminal with colours only the few sequences that Tenon itself writes are seen."""
    for line in ("runs", "show last", "logs last", "compare 1 2", "config check", "metrics last --chart"):
        seen = tenon.pty(*line.split(), cwd=spoiled, env={"NO_COLOR": None}).out_bytes
        sequences = set(re.findall(rb"\x1b.{0,8}", seen))
        assert all(re.match(rb"\x1b\[(?:0|1|2|31|32|33|36)m", s) for s in sequences), (line, sequences)
        assert b"\x1b[31mBack" not in seen and b"owned\x07" not in seen


def test_json_is_whole_for_programs(tenon, spoiled):
    shown = tenon.json("show", "last", "--json", cwd=spoiled)
    assert shown["details"]["proof"]["method"] == "cgroup" + EVIL
    assert shown["details"]["metrics"]["text"]["last"] == "value" + EVIL


def test_nothing_planted_in_project_files_reaches_the_terminal(tenon, project):
    evil = json.dumps("value" + EVIL)  # a JSON text is a YAML text
    key = json.dumps("key" + EVIL)
    folder = project("print(1)\n", files={
        "aml_config/odd.compute": f"type: {evil}\npythonLocation: {evil}\n{key}: {evil}\n",
        "aml_config/odd.runconfig": f"ArgumentVector: [$file]\nTarget: {evil}\n{key}: {evil}\nFramework: {evil}\n",
        "aml_config/fine.compute": f"type: local\npythonLocation: {evil}\n",
        "aml_config/fine.runconfig": f"ArgumentVector: [$file, {evil}]\nTarget: fine\nFramework: Python\n"
                                     f"EnvironmentVariables: {{{key}: {evil}}}\nCondaDependenciesFile: {evil}\n",
        "aml_config/conda_dependencies.yml": f"name: {evil}\n{key}: {evil}\ndependencies:\n- {evil}\n- pip: [{evil}]\n"})
    git = folder / ".git"
    for name in ("objects", "refs/heads"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/branch" + EVIL.replace("\n", " ") + "\n")
    for line in ("config show -c fine", "config show -c odd", "config check", "config upgrade --dry-run", "submit -c fine main.py",
                 "submit -c odd main.py", "submit --dry-run -c fine main.py", "computetarget list", "computetarget show odd",
                 "computetarget show fine", "runconfiguration list", "env prepare -c fine", "config set Target x -c odd",
                 "computetarget test odd", "show last", "runs"):
        check(tenon.pty(*line.split(), cwd=folder, env={"NO_COLOR": "1"}))


AGENT = """#!/usr/bin/env python3
import json, struct, sys
error = {"error": {"kind": "denied", "message": "refused" + EVIL, "hint": "a hint" + EVIL}, "ok": False}
head = json.dumps(error).encode()
if sys.argv[1:] != ["serve"]:
    sys.stdin.buffer.read()
    sys.stdout.write("tenon-runner 1 0.1.0\\n" + json.dumps(error) + "\\n")
    sys.stderr.write("words" + EVIL)
    sys.exit(1)
out = sys.stdout.buffer
out.write(b"tenon-runner 1 0.1.0\\ntenon-agent 1\\n")
out.flush()
while True:
    start = sys.stdin.buffer.read(8)
    if len(start) < 8: break
    a, b = struct.unpack("<II", start)
    sys.stdin.buffer.read(a + b)
    out.write(struct.pack("<II", len(head), 0) + head)
    out.flush()
"""


@NEEDS_SSHD
def test_nothing_that_an_agent_says_reaches_the_terminal(far):
    folder = far.attached(SLEEPER)
    run_id = far.left_going(folder)
    [agent] = [p for p in far.far_files("bin/tenon-runner-*") if p.is_file()]
    kept = agent.read_bytes()
    agent.unlink()
    far.user.write(agent.relative_to(far.user.home), AGENT.replace("import json", f"EVIL = {EVIL!r}\nimport json", 1), 0o755)
    for line in ("status last", "ps", "logs -f last", "cancel last", "submit -c far main.py", "computetarget test far", "host show far",
                 "host list", "host clean far --dry-run", "data list -t far", "exec far -- true", "forward -t far 6006", "cp x far:y",
                 "runs fetch -t far", "env list -t far", "host idle far", "experiment clean -t far --dry-run", "history download -r last"):
        check(far.tenon.pty(*line.replace("last", run_id).split(), cwd=folder, env={"NO_COLOR": "1"}))
    agent.write_bytes(kept)
    far.tenon.run("cancel", run_id, "--grace", "1s", cwd=folder).ok()


@NEEDS_SSHD
def test_nothing_that_is_known_of_a_machine_reaches_the_terminal(far):
    folder = far.attached()
    [record] = far.tenon.home.glob("hosts/*.json")
    known = json.loads(record.read_text())
    known["facts"] = spoil(known["facts"])
    for fact in ("os", "kernel", "shell", "login_problem", "gpu_problem", "home_problem", "conda", "uv"):
        known["facts"][fact] = fact + EVIL
    known["facts"]["engines"] = [{"kind": "docker" + EVIL, "how": "none", "version": EVIL, "socket": EVIL, "problem": EVIL}]
    known["facts"]["gpus"] = [{"name": "GPU" + EVIL, "uuid": EVIL, "memory_bytes": 1}]
    record.write_text(json.dumps(known))
    for line in ("host list", "host list --json", "host show far", "computetarget show far", "computetarget list", "ssh-config far"):
        check(far.tenon.pty(*line.split(), cwd=folder, env={"NO_COLOR": "1"}))
