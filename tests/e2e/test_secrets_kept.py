# SPDX-License-Identifier: Apache-2.0
"""A secret is in nothing that is written down, whoever writes it: also when the runner that knew it is gone."""

import glob
import json
import os
import signal

import pytest

from e2e.harness import wait_unlocked, wait_until
from e2e.runner_harness import Runner, alive, processes_with

TOKEN = 'canary/7f3a"9c\\51 éd+e&0b'
HELD = r"""
import os, pathlib, time
import tenon
token = os.environ["TOKEN"]
flat = token.replace("/", "-slash-") if "FLAT" in os.environ else token
def log():
    tenon.log(token, 1)
    tenon.log("loss of " + token, 0.5)
    tenon.log("loss-of-the-training-set", 0.25)
    tenon.log("text", "it is " + token)
log()
for name in (flat + ".txt", "plain-name-of-some-length.txt", "sub/" + flat + "/model.bin"):
    path = pathlib.Path("outputs", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("contents of a file")
print("up", flush=True)
while not os.path.exists("go-on"):
    time.sleep(0.01)
log()
pathlib.Path("logged").touch()
time.sleep(600)
"""


@pytest.fixture
def runner(tmp_path):
    tool = Runner(tmp_path / "home", tmp_path)
    yield tool
    assert not tool.cleanup()


def memory_halves(run):
    return glob.glob(f"/dev/shm/tenon-{run.spec['key']}") + glob.glob(f"/run/lock/tenon-{run.spec['key']}")


def kill_runner(run):
    """Points that are logged after this are for whoever recovers the run."""
    os.kill(run.pid, signal.SIGKILL)
    wait_until(lambda: not alive(run.pid), 10, "the death of the runner")
    wait_unlocked(run.segment)
    (run.folder / "work/go-on").touch()
    wait_until((run.folder / "work/logged").exists, 30, "points after the death of the runner")


def kill_script(run):
    for pid in processes_with(run.spec["key"].encode()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def written_by_us(runner, run):
    """Every byte of the home that is not the script's own."""
    for path in runner.home.rglob("*"):
        own = runner.home / "work" / run.id / "work"
        if path.is_file() and own not in path.parents and runner.home / "shim" not in path.parents:
            yield path, path.read_bytes()


def names_of(run):
    journal = run.journal()
    files = {f["path"] for r in journal.of("artifacts") for f in r.json["files"]}
    series = {name for name, *_ in journal.metrics()}
    return files, series


def assert_no_secret(runner, run, *secrets):
    for path, data in written_by_us(runner, run):
        for secret in secrets:
            for form in (secret, json.dumps(secret)[1:-1], secret.split("/")[-1]):
                assert form.encode() not in data, (path, form)
    for record in run.journal().records:  # where they are packed in the file
        for secret in secrets:
            for form in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
                assert form.encode() not in record.payload, record


@pytest.mark.parametrize("script_dies_too", [False, True])
def test_names_that_recovery_writes_hold_no_secret(runner, script_dies_too):
    run = runner.start(HELD, secrets={"TOKEN": TOKEN, "OTHER": "another secret"})
    run.wait_for_output(b"up\n")
    assert memory_halves(run)
    kill_runner(run)
    if script_dies_too:
        kill_script(run)
    assert run.ask("recover")["recovered"] is True
    files, series = names_of(run)
    assert files == {"outputs/***.txt", "outputs/plain-name-of-some-length.txt", "outputs/sub/***/model.bin"}
    assert series == {"***", "loss of ***", "loss-of-the-training-set", "text"}
    points = [(name, value) for name, _, value in run.journal().metrics()]
    assert points.count(("text", "it is ***")) == 2 and points.count(("***", 1)) == 2
    assert_no_secret(runner, run, TOKEN)
    assert not memory_halves(run) and not (run.folder / "masks").exists()


def test_names_are_withheld_where_nobody_knows_the_secret(runner):
    run = runner.start(HELD, secrets={"TOKEN": TOKEN})
    run.wait_for_output(b"up\n")
    kill_runner(run)
    kill_script(run)
    for path in memory_halves(run):  # as after a restart of the machine
        os.unlink(path)
    run.ask("recover")
    files, series = names_of(run)
    # The runner has masked what it saw; other names may be kept that are too short for the secret.
    assert {name for name in series if not name.startswith("withheld-")} <= {"***", "loss of ***", "text",
                                                                           "loss-of-the-training-set"}
    texts = [value for name, _, value in run.journal().metrics() if name == "text"]
    assert texts in ([], ["it is ***"])  # those that nobody could mask are dropped
    assert len(files) == 3 and all(name.startswith("outputs/withheld-") for name in files)
    assert_no_secret(runner, run, TOKEN)
    notices = [r.json["text"] for r in run.journal().of("notice")]
    assert any("withheld" in text and "secrets" in text for text in notices), notices
    assert (run.folder / "work/outputs" / (TOKEN + ".txt")).exists()


def test_short_names_are_kept_where_nobody_knows_a_long_secret(runner):
    token = "ghp_" + "k3" * 30
    script = HELD.replace('"sub/" + flat', '"s/" + flat')
    run = runner.start(script, secrets={"TOKEN": token})
    run.wait_for_output(b"up\n")
    kill_runner(run)
    for path in memory_halves(run):
        os.unlink(path)
    run.ask("recover")
    files, series = names_of(run)
    assert "outputs/plain-name-of-some-length.txt" in files and "loss-of-the-training-set" in series
    assert len(files) == 3
    assert_no_secret(runner, run, token)


def test_no_half_of_a_kept_secret_tells_it(runner):
    run = runner.start(HELD, secrets={"TOKEN": TOKEN})
    run.wait_for_output(b"up\n")
    halves = [open(path, "rb").read() for path in memory_halves(run)]
    for path in memory_halves(run):
        assert os.stat(path).st_mode & 0o777 == 0o600
    for data in [*halves, (run.folder / "masks").read_bytes()]:
        for piece in (b"canary", b"TOKEN", TOKEN.encode()):
            assert piece not in data
    assert (run.folder / "masks").stat().st_mode & 0o777 == 0o600
    run.ask("cancel", {"grace_us": 0})
    run.wait()
    assert not memory_halves(run) and not (run.folder / "masks").exists()
    files, series = names_of(run)
    assert "outputs/***.txt" in files and "***" in series
    assert_no_secret(runner, run, TOKEN)


def test_two_outputs_that_differ_in_the_secret_alone_are_both_kept(runner):
    script = r"""
import os
for word in ("ONE", "TWO"):
    open("outputs/" + os.environ[word] + ".txt", "w").write(word)
open("outputs/***", "w").write("THREE")
"""
    run = runner.start(script, secrets={"ONE": "first-secret", "TWO": "second-secret"})
    run.wait()
    files, _ = names_of(run)
    assert files == {"outputs/***.txt", "outputs/***.txt-2", "outputs/***"}
    assert_no_secret(runner, run, "first-secret", "second-secret")


def test_an_empty_folder_is_not_kept_under_a_secret_name(runner):
    """It is no output, but the tree of the outputs would hold its name."""
    token = "canary-7f3a9c51ed"
    run = runner.start("import os\nos.makedirs('outputs/' + os.environ['TOKEN'] + '/x')\n"
                       "open('outputs/a.txt', 'w').write('one')\n", secrets={"TOKEN": token})
    run.wait()
    assert names_of(run)[0] == {"outputs/a.txt"}
    assert_no_secret(runner, run, token)


FORMS = r"""
import base64, json, os, re, struct, urllib.parse
token = os.environ["TOKEN"]
wide = token.encode("utf-16-be")
key = os.environ["KEY"]
print("json", json.dumps(token), json.dumps(token, ensure_ascii=False), json.dumps(token).replace("/", "\\/"))
print("units", "".join(f"\\u{unit.hex()}" for unit in struct.unpack("2s" * (len(wide) // 2), wide)))
print("repr", repr(token), ascii(token), repr(token.encode()))
print("url", urllib.parse.quote(token), urllib.parse.quote_plus(token), urllib.parse.quote(token, safe="").lower())
print("octal", "".join(chr(b) if 32 <= b < 127 and b not in b'"\\\\' else f"\\{b:03o}" for b in token.encode()))
print("escape", re.escape(token))
for user in ("a:", "ab:", "abc:"):
    print("basic", base64.b64encode((user + token + "..").encode()).decode())
for line in key.splitlines():
    print("line", line)
print("whole", repr(key))
print("joined", key.replace("\n", ""))
"""


def test_every_form_of_a_secret_is_masked(runner):
    token = 'canary/7f3a"9c\\51 \u00e9d+e&0b\U0001f600\'x'
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n"
    run = runner.start(FORMS, secrets={"TOKEN": token, "KEY": key}, environment={"PYTHONIOENCODING": "utf-8"})
    journal = run.wait()
    assert journal.end["exit_code"] == 0
    lines = journal.stdout.decode().splitlines()
    basic = [line for line in lines if line.startswith("basic ")]
    assert len(basic) == 3 and all("***" in line and len(line) < 24 for line in basic), basic
    lines = [line for line in lines if line not in basic]
    assert lines == ['json "***" "***" "***"', "units ***", "repr '***' '***' b'***'", "url *** *** ***", "octal ***", "escape ***",
                     "line -----BEGIN PRIVATE KEY-----", "line ***", "line ***", "line -----END PRIVATE KEY-----",
                     "whole '***'", "joined -----BEGIN PRIVATE KEY-----******-----END PRIVATE KEY-----"]
