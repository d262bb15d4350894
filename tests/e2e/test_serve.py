# SPDX-License-Identifier: Apache-2.0
"""The runner's agent (docs/runner.md § serve), driven by frames."""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import struct
import threading
import time

import pytest

from e2e import harness
from e2e.journal_py import store_tree
from e2e.runner_harness import Runner, alive
from hosts.agent import Agent, Followed, Gone, batch, frame


@pytest.fixture
def runner(tmp_path):
    made = Runner(tmp_path / "root" / "host", tmp_path)
    yield made
    assert not made.cleanup()


@pytest.fixture
def agent(runner):
    with Agent([runner.binary, "serve"]) as made:
        yield made


def test_hello_says_who_and_where(agent):
    answer = agent.ask("hello")
    assert answer["ok"] and answer["uid"] == os.getuid()
    assert answer["machine"] == os.uname().machine
    assert answer["boot_id"] == open("/proc/sys/kernel/random/boot_id").read().strip()
    assert abs(answer["now_us"] / 1e6 - time.time()) < 3600
    assert agent.noise.startswith(b"tenon-runner 1 ")


def test_ends_with_its_input_and_takes_nothing_along(runner):
    agent = Agent([runner.binary, "serve"])
    assert agent.ask("hello")["ok"]
    assert agent.close() == 0


def test_ends_quietly_when_nobody_listens(runner, tmp_path):
    agent = Agent([runner.binary, "serve"])
    (tmp_path / "big").write_bytes(b"x" * (8 << 20))
    agent.send("read", path=str(tmp_path / "big"), offset=0, max=8 << 20)
    agent.receive()
    agent.send("read", path=str(tmp_path / "big"), offset=0, max=8 << 20)
    assert agent.close() == 0


def test_run_gives_back_code_and_both_streams(agent):
    answer = agent.ask("run", b"words", argv=["/bin/sh", "-c", "cat; echo err >&2; exit 3"], timeout_ms=0)
    assert (answer["ok"], answer["code"], answer["signal"], answer["timed_out"]) == (True, 3, 0, False)
    assert answer.body[:answer["out_bytes"]] == b"words"
    assert answer.body[answer["out_bytes"]:] == b"err\n"


def test_run_of_no_program_is_not_found(agent):
    answer = agent.ask("run", argv=["/nowhere/program"], timeout_ms=0)
    assert not answer["ok"] and answer["error"]["kind"] == "not_found"
    assert agent.ask("run", argv=[], timeout_ms=0)["error"]["kind"] == "invalid"
    assert agent.ask("hello")["ok"]


def test_run_is_killed_with_its_children_after_its_time(agent, tmp_path):
    pid_file = tmp_path / "pid"
    answer = agent.ask("run", argv=["/bin/sh", "-c", f"sleep 600 & echo $! >{pid_file}; wait"], timeout_ms=3000)
    assert answer["timed_out"]
    harness.wait_until(lambda: not alive(int(pid_file.read_text())), 20, "the end of the child")


def test_children_get_none_of_the_agents_descriptors(agent):
    answer = agent.ask("run", argv=["/bin/sh", "-c", "ls /proc/self/fd"], timeout_ms=0)
    # The three streams, and the folder that ls reads.
    assert len(answer.body.split()) == 4, answer.body


def test_a_program_is_left_to_finish_when_the_client_goes(runner, tmp_path):
    done = tmp_path / "done"
    agent = Agent([runner.binary, "serve"])
    agent.send("run", argv=["/bin/sh", "-c", f"sleep 0.5; echo yes >{done}"], timeout_ms=0)
    agent.process.stdin.close()
    agent.process.stdout.close()
    harness.wait_until(done.exists, 20, "the end of the program")
    assert agent.process.wait(20) == 0


def test_a_run_outlives_the_agent_and_its_hang_up(runner):
    run = runner.new("import time\nprint('begun', flush=True)\ntime.sleep(1)\nprint('over')\n")
    request = {"protocol": 1, "home": str(runner.home), "run_id": run.id, "spec": run.spec, "version": "test",
               "environment": runner.environment(), "secrets": {}}
    agent = Agent([runner.binary, "serve"])
    answer = agent.ask("run", json.dumps(request).encode(), argv=[str(runner.binary), "start"], timeout_ms=60000)
    assert answer["code"] == 0
    run.handle = json.loads(answer.body[:answer["out_bytes"]].splitlines()[1])
    run.wait_for_output(b"begun")
    agent.process.send_signal(signal.SIGHUP)
    agent.close()
    journal = run.wait()
    assert journal.end["exit_code"] == 0 and b"over" in journal.stdout


def test_put_makes_folders_and_a_whole_file(agent, tmp_path):
    path = tmp_path / "a" / "b" / "c"
    assert agent.ask("put", b"old", path=str(path), mode=0o600)["ok"]
    assert agent.ask("put", b"new" * 1000000, path=str(path), mode=0o750)["ok"]
    assert path.read_bytes() == b"new" * 1000000 and path.stat().st_mode & 0o7777 == 0o750
    assert os.listdir(path.parent) == ["c"]
    assert agent.ask("put", b"", path="relative", mode=0o600)["error"]["kind"] == "invalid"
    assert agent.ask("put", b"", path="/proc/nothing/here", mode=0o600)["ok"] is False


def test_read_gives_a_part(agent, tmp_path):
    (tmp_path / "f").write_bytes(b"0123456789")
    path = str(tmp_path / "f")
    assert agent.ask("read", path=path, offset=3, max=4).body == b"3456"
    assert agent.ask("read", path=path, offset=8, max=100).body == b"89"
    assert agent.ask("read", path=path, offset=50, max=100).body == b""
    assert agent.ask("read", path=str(tmp_path / "none"), offset=0, max=1)["error"]["kind"] == "not_found"


def test_locked_tells_whether_somebody_holds_it(agent, tmp_path):
    path = tmp_path / "f"
    assert agent.ask("locked", path=str(path))["error"]["kind"] == "not_found"
    with open(path, "w") as file:
        assert agent.ask("locked", path=str(path))["locked"] is False
        fcntl.flock(file, fcntl.LOCK_EX)
        assert agent.ask("locked", path=str(path))["locked"] is True


def test_wait_tells_of_growth_removal_and_nothing(agent, tmp_path):
    path = tmp_path / "f"
    assert agent.ask("wait", files=[{"path": str(path), "size": 0}], timeout_us=1000)["error"]["kind"] == "not_found"
    path.write_bytes(b"abc")
    assert agent.ask("wait", files=[{"path": str(path), "size": 2}], timeout_us=60_000_000)["grew"] is True
    assert agent.ask("wait", files=[{"path": str(path), "size": 3}], timeout_us=1000)["grew"] is False
    for change in (lambda: path.write_bytes(b"abcd"), path.unlink):
        agent.send("wait", files=[{"path": str(path), "size": 3 if change != path.unlink else 4}], timeout_us=60_000_000)
        threading.Timer(0.1, change).start()
        assert agent.receive(30)["grew"] is True


def test_requests_are_answered_in_order_without_waiting(agent, tmp_path):
    (tmp_path / "f").write_bytes(bytes(range(100)))
    data = b"".join(frame({"op": "read", "path": str(tmp_path / "f"), "offset": i, "max": 1}) for i in range(100))
    agent.send_bytes(data)
    assert [agent.receive().body for _ in range(100)] == [bytes([i]) for i in range(100)]


def test_a_chain_stops_at_the_first_that_fails(agent, tmp_path):
    agent.send("read", path=str(tmp_path / "none"), offset=0, max=1)
    agent.send("run", argv=["/bin/touch", str(tmp_path / "made")], timeout_ms=0, if_ok=True)
    agent.send("hello", if_ok=True)
    agent.send("hello")
    answers = [agent.receive() for _ in range(4)]
    assert [a["ok"] for a in answers] == [False, False, False, True]
    assert answers[1]["skipped"] and answers[2]["skipped"]
    assert not (tmp_path / "made").exists()
    # A program that fails is answered, and still ends the chain.
    agent.send("run", argv=["/bin/false"], timeout_ms=0)
    agent.send("hello", if_ok=True)
    assert agent.receive()["code"] == 1
    assert agent.receive()["skipped"]
    agent.send("run", argv=["/bin/true"], timeout_ms=0)
    agent.send("hello", if_ok=True)
    assert agent.receive()["ok"] and agent.receive()["ok"]


def test_unknown_requests_are_refused_and_the_rest_goes_on(agent):
    assert agent.ask("dance")["error"]["kind"] == "invalid"
    assert agent.ask("follow", id=1, files=[])["error"]["kind"] == "invalid"
    assert agent.ask("follow", id=1, files=[{"path": "relative"}])["error"]["kind"] == "invalid"
    assert agent.ask("follow", files=[{"path": "/etc/hostname"}])["error"]["kind"] == "invalid"
    assert agent.ask("hello")["ok"]


@pytest.mark.parametrize("data", [struct.pack("<II", 1 << 31, 0), struct.pack("<II", 2, 0) + b"[]", struct.pack("<II", 3, 0) + b"{]}"])
def test_nonsense_ends_the_agent_with_a_word(agent, data):
    agent.send_bytes(data)
    assert agent.receive()["error"]["kind"] == "corrupt"
    with pytest.raises(Gone):
        agent.receive()
    assert agent.process.wait(20) == 1


def test_follow_sends_what_is_there_and_what_comes(agent, tmp_path):
    path, late = tmp_path / "f", tmp_path / "later" / "g"
    path.write_bytes(b"0123456789")
    followed = Followed(agent, [(path, 4), (late, 0)])
    followed.until(lambda f: f.bytes[0] == b"456789")
    with open(path, "ab") as file:
        for i in range(50):
            file.write(b"line %d\n" % i)
            file.flush()
    expected = b"456789" + b"".join(b"line %d\n" % i for i in range(50))
    followed.until(lambda f: f.bytes[0] == expected)
    late.parent.mkdir()
    late.write_bytes(b"here")
    followed.until(lambda f: f.bytes[1] == b"here")
    late.unlink()
    followed.until(lambda f: f.events)
    assert followed.events[0][:2] == ("missing", 1)
    assert followed.end()["uid"] == os.getuid()


def test_follow_tells_of_the_lock_after_the_bytes(agent, tmp_path):
    path = tmp_path / "f"
    file = open(path, "wb")
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(b"first")
    file.flush()
    followed = Followed(agent, [(path, 0)], lock=path)
    followed.until(lambda f: f.events)
    assert followed.events[0][:2] == ("locked", True)
    file.write(b" and last")
    file.close()
    followed.until(lambda f: len(f.events) == 2)
    assert followed.events[1] == ("locked", False, [len(b"first and last")])


def test_follow_tells_of_segments_that_appear(agent, tmp_path):
    host = tmp_path / "host.tj"
    file = open(host, "wb")
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(b"host")
    file.flush()
    (tmp_path / "rank-0.tj").write_bytes(b"there already")
    # What is no segment of a machine's is nobody's business.
    for name in ("near-0123456789abcdef.tj", "spec.json", "what.tj", "rank-x.tj"):
        (tmp_path / name).write_bytes(b"not this")
    agent.send("follow", id=7, files=[{"path": str(host), "offset": 0}], lock=str(host), run_folder=str(tmp_path))
    names, got = {0: "host"}, {}

    def receive():
        told = agent.receive()
        if "segment" in told:
            assert told["file"] == len(names)
            names[told["file"]] = told["segment"]
        elif "offset" in told:
            name = names[told["file"]]
            assert told["offset"] == len(got.get(name, b""))
            got[name] = got.get(name, b"") + told.body
        return told

    while got != {"host": b"host", "rank-0": b"there already"}:
        receive()
    (tmp_path / "sampler-gpu.tj").write_bytes(b"samples")
    while got.get("sampler-gpu") != b"samples":
        receive()
    # One that comes with the end is told of before the end is.
    (tmp_path / "rank-1.tj").write_bytes(b"last")
    file.close()
    while receive().get("locked") is not False:
        pass
    assert got == {"host": b"host", "rank-0": b"there already", "sampler-gpu": b"samples", "rank-1": b"last"}


def test_segments_are_counted(agent, tmp_path):
    assert agent.ask("segments", run_folder=str(tmp_path / "nowhere"))["count"] == 0
    for name in ("host.tj", "rank-0.tj", "near-0123456789abcdef.tj", "spec.json"):
        (tmp_path / name).write_bytes(b"")
    assert agent.ask("segments", run_folder=str(tmp_path))["count"] == 2
    assert agent.ask("segments", run_folder="relative")["error"]["kind"] == "invalid"


def test_a_lock_that_is_not_there_is_held_by_nobody(agent, tmp_path):
    followed = Followed(agent, [(tmp_path / "f", 0)], lock=tmp_path / "f")
    followed.until(lambda f: f.events)
    assert followed.events[0] == ("locked", False, [0])


def test_a_slow_link_gets_text_in_fewer_bytes(agent, tmp_path):
    text = b"".join(b"step %d loss %f\n" % (i, 1 / (i + 1)) for i in range(1_000_000))
    dense = os.urandom(3 << 20)
    (tmp_path / "text").write_bytes(text)
    (tmp_path / "dense").write_bytes(dense)
    agent.send("follow", id=1, files=[{"path": str(tmp_path / name), "offset": 0} for name in ("text", "dense")])
    time.sleep(0.5)
    got, sent = [b"", b""], [0, 0]
    while [len(one) for one in got] != [len(text), len(dense)]:
        told = agent.receive()
        assert told["offset"] == len(got[told["file"]])
        got[told["file"]] += told.body
        sent[told["file"]] += len(told.raw)
    assert got == [text, dense]
    assert sent[0] < len(text) / 2, "the agent has waited long for the first pieces, and compresses the others"
    assert sent[1] == len(dense)


def test_follow_is_not_silent_for_long(agent, tmp_path):
    followed = Followed(agent, [(tmp_path / "never", 0)])
    assert followed.step(20) == ("alive", True)


def test_other_requests_are_answered_beside_streams(agent, tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    streams = {}
    for i, path in enumerate(paths):
        path.write_bytes(b"0")
        streams[i + 1] = Followed(agent, [(path, 0)], lock=path, stream=i + 1)
    answered = 0
    for round in range(20):
        for path in paths:
            with open(path, "ab") as file:
                file.write(b"%d " % round * 1000)
        agent.send("read", path=str(paths[0]), offset=0, max=1)
        agent.send("hello", id=99)
        while answered < 2 * (round + 1):
            told = agent.receive()
            if told.get("id") in streams:
                streams[told["id"]].take(told)
            else:
                assert told["ok"] and told.get("id") == (99 if "uid" in told else None)
                answered += 1
    while any(stream.bytes[0] != path.read_bytes() for stream, path in zip(streams.values(), paths)):
        told = agent.receive()
        streams[told["id"]].take(told)
    assert [stream.events[0][:2] for stream in streams.values()] == [("locked", False)] * 2
    # One is ended, the other goes on. A number that is in use is refused.
    assert streams[1].end()["uid"] == os.getuid()
    assert agent.ask("follow", id=2, files=[{"path": "/etc/hostname"}])["error"]["kind"] == "invalid"
    for path in paths:
        with open(path, "ab") as file:
            file.write(b"last")
    streams[2].until(lambda f: f.bytes[0].endswith(b"last"))
    agent.send("unfollow", id=1000)
    assert streams[2].end()["ok"]


def test_a_conversation_has_so_many_streams_and_no_more(agent, tmp_path):
    for stream in range(1, 65):
        agent.send("follow", id=stream, files=[{"path": str(tmp_path / "none"), "offset": 0}])
    agent.send("follow", id=65, files=[{"path": str(tmp_path / "none"), "offset": 0}])
    while "ok" not in (told := agent.receive()):
        assert told.get("alive")
    assert told["id"] == 65 and "at once" in told["error"]["message"]
    agent.send("unfollow", id=3)
    agent.send("follow", id=65, files=[{"path": str(tmp_path / "none"), "offset": 0}])
    agent.send("hello")
    while "uid" not in (told := agent.receive()):
        assert told.get("alive")


def test_a_stream_that_is_not_begun_says_so_under_its_number(agent, tmp_path):
    agent.send("read", path=str(tmp_path / "none"), offset=0, max=1)
    agent.send("follow", id=5, files=[{"path": "/etc/hostname", "offset": 0}], if_ok=True)
    assert not agent.receive()["ok"]
    assert agent.receive() == {"ok": False, "skipped": True, "id": 5}


def test_follow_ends_when_the_client_goes(runner, tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    agent = Agent([runner.binary, "serve"])
    followed = Followed(agent, [(tmp_path / "f", 0)])
    followed.until(lambda f: f.bytes[0])
    assert agent.close() == 0


def test_a_slow_reader_costs_no_memory(agent, tmp_path):
    size = 300 << 20
    with open(tmp_path / "big", "wb") as file:
        for _ in range(300):
            file.write(os.urandom(1 << 20))
    agent.send("follow", id=1, files=[{"path": str(tmp_path / "big"), "offset": 0}])
    time.sleep(0.5)

    def resident():
        with open(f"/proc/{agent.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    assert resident() < 10_000
    got = 0
    while got < size:
        told = agent.receive()
        assert told["offset"] == got
        got += len(told.body)
    assert resident() < 10_000


def have(agent, runner, root, base=""):
    return agent.ask("have", home=str(runner.home), root=root, base=base)


def test_objects_are_asked_for_and_taken(agent, runner, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.py").write_text("print('hello')\n")
    (project / "large").write_bytes(os.urandom(3 << 20))
    root = store_tree(tmp_path / "near", project)
    answer = have(agent, runner, root)
    assert (answer["ok"], answer["lacks"], answer.body.hex()) == (False, 1, root)
    # Fetched by a second agent from the near store, whose home is the folder above.
    (tmp_path / "near-home").mkdir()
    (tmp_path / "near").rename(tmp_path / "near-home" / "objects")
    with Agent([runner.binary, "serve"]) as near:
        while not answer["ok"]:
            hashes = [answer.body[i:i + 32].hex() for i in range(0, len(answer.body), 32)]
            near.send("get", home=str(tmp_path / "near-home"), wants=[{"hash": h, "size": 0, "offset": 0} for h in hashes])
            while "op" in (told := near.receive()):
                members = {k: v for k, v in told.items() if k != "op"}
                agent.send(told["op"], told.raw, home=str(runner.home), **members)
            assert told["ok"], told
            answer = have(agent, runner, root)
    assert os.listdir(runner.home / "complete-trees") and (runner.home / "hosted").exists()
    assert have(agent, runner, root, base=root)["ok"]


def test_a_machine_that_gets_objects_is_in_use(tmp_path, runner):
    """The home that `used` lies in is found from where the program is."""
    program = tmp_path / "there" / "bin" / "tenon-runner"
    program.parent.mkdir(parents=True)
    shutil.copy(runner.binary, program)
    home = tmp_path / "there" / "host"
    home.mkdir()
    with Agent([program, "serve"]) as agent:
        assert agent.ask("hello")["ok"]
        assert not (home / "used").exists()
        agent.send("objects", batch(b"good"), home=str(home))
        assert agent.ask("hello")["ok"]
        assert (home / "used").exists()


def test_wrong_objects_are_told_by_the_next_have(agent, runner):
    agent.send("objects", batch(b"good")[:-4] + b"evil", home=str(runner.home))
    agent.send("piece", b"x", home=str(runner.home), hash="0" * 64, offset=7, total=9)
    answer = have(agent, runner, "0" * 64)
    assert not answer["ok"] and answer["error"]["kind"] == "corrupt"
    assert have(agent, runner, hashlib.sha256(b"good").hexdigest())["lacks"] == 1


def test_a_large_object_goes_on_where_it_was_cut(runner):
    data = os.urandom(5 << 20)
    name = hashlib.sha256(data).hexdigest()
    agent = Agent([runner.binary, "serve"])
    for at in (0, 1 << 20):
        agent.send("piece", data[at:at + (1 << 20)], home=str(runner.home), hash=name, offset=at, total=len(data))
    agent.ask("hello")
    agent.process.kill()
    agent.close()
    with Agent([runner.binary, "serve"]) as second:
        answer = have(second, runner, name)
        assert answer["partial"] == {name: 2 << 20}
        second.send("piece", data[2 << 20:], home=str(runner.home), hash=name, offset=2 << 20, total=len(data))
        # It is no tree, which is found out only by who has all of it.
        assert have(second, runner, name)["error"]["kind"] in ("corrupt", "invalid")


def test_get_of_what_is_not_there_is_an_error_at_its_end(agent, runner):
    agent.send("get", home=str(runner.home), wants=[{"hash": "0" * 64, "size": 0, "offset": 0}])
    assert agent.receive()["error"]["kind"] == "not_found"
    assert agent.ask("hello")["ok"]
