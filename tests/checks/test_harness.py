# SPDX-License-Identifier: Apache-2.0
"""The harness of the end-to-end tests, with a shell script in the place of `tenon`."""

import os
import signal
import time

import pytest

from e2e import harness


@pytest.fixture
def stand_in(tmp_path):
    def make(text):
        program = tmp_path / "stand-in"
        program.write_text("#!/bin/bash\n" + text + "\n")
        program.chmod(0o755)
        tool = harness.Tenon(program, tmp_path / "home", tmp_path)
        made.append(tool)
        return tool

    made = []
    yield make
    for tool in made:
        tool.cleanup()


def test_streams_and_code_come_back_apart(stand_in):
    answer = stand_in(r"printf 'a\xff'; echo b >&2; exit 9").run()
    assert (answer.out_bytes, answer.err, answer.code) == (b"a\xff", "b\n", 9)


def test_death_by_signal_reads_as_in_a_shell(stand_in):
    assert stand_in("kill -TERM $$").run().code == 143


def test_no_variable_of_the_caller_leaks_in(stand_in, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("TENON_HOME", "/nowhere")
    answer = stand_in("env").run(env={"EXTRA": "1"})
    assert "/nowhere" not in answer.out
    assert "EXTRA=1" in answer.out.split()


def test_a_daemon_that_left_its_session_is_ended(stand_in):
    tool = stand_in("setsid bash -c 'cd /; trap \"\" TERM HUP; while :; do sleep 1; done' "
                    "</dev/null >/dev/null 2>&1 & echo $!")
    tool.run().ok()
    harness.wait_until(tool.processes, what="the daemon")
    assert tool.cleanup() == []
    assert tool.processes() == []


def test_a_process_without_our_environment_is_found_by_its_folder(stand_in):
    tool = stand_in("mkdir -p $TENON_HOME; cd $TENON_HOME; "
                    "env -i /bin/sleep 300 </dev/null >/dev/null 2>&1 &")
    tool.run().ok()
    assert len(harness.wait_until(tool.processes, what="the sleeper")) == 1
    assert tool.cleanup() == []


def test_processes_of_another_home_are_left_alone(stand_in, tmp_path):
    tool = stand_in("exec sleep 300")
    other = harness.Tenon(tool.binary, tmp_path / "home-2", tmp_path)
    running = other.start()
    harness.wait_until(other.processes, what="the sleeper")
    tool.cleanup()
    assert running.process.poll() is None
    assert other.cleanup() == []
    assert running.wait().code == 128 + signal.SIGKILL


def test_a_program_in_a_terminal_sees_one(stand_in):
    tool = stand_in('test -t 0 -a -t 1 -a -t 2 && stty size; read -r line; echo "got $line"; exit 4')
    answer = tool.pty(size=(20, 77), keys=b"word\r", when="20 77")
    assert "20 77" in answer.out
    assert "got word" in answer.out
    assert answer.code == 4


def test_a_hanging_program_fails_the_test_and_is_ended(stand_in):
    started = time.monotonic()
    with pytest.raises(harness.TimedOut):
        stand_in("echo before; exec sleep 300").run(timeout=1)
    assert time.monotonic() - started < 60


def test_waiting_for_words_that_never_come_shows_the_output(stand_in):
    running = stand_in("echo something else; exit 3").start()
    with pytest.raises(AssertionError, match="something else"):
        running.wait_for("the words")


def test_a_project_has_what_it_was_asked_for(project):
    folder = project("print(1)\n", files={"data/x.bin": b"\0", "aml_config/local.compute": None})
    assert (folder / "main.py").read_text() == "print(1)\n"
    assert (folder / "data/x.bin").read_bytes() == b"\0"
    assert sorted(os.listdir(folder / "aml_config")) == ["local.runconfig"]
