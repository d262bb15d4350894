# SPDX-License-Identifier: Apache-2.0
"""What comes out of a journal or a tree has limits. Whatever it says, no command that reads takes more than 256 MiB over
what the plain program does (RLIMIT_AS), and none is aborted."""

import hashlib
import json
import os
import shutil
import uuid

import pytest

from e2e import harness
from e2e.journal_py import Journal, _varint, record_bytes, segment_header, write_pack, zstd

MIB = 1 << 20
ALLOWED = 256 * MIB
ABORTED = {128 + n for n in (4, 6, 7, 8, 9, 11)}


def limited(size):
    return ["prlimit", f"--as={size}", "--"]


class Machine:
    """A home with a good run of which copies are made that say other things."""

    def __init__(self, tenon, folder):
        self.tenon = tenon
        self.project = harness.make_project(
            folder / "alpha", "import tenon\ntenon.log('loss', 0.5)\nprint('said')\n"
                              "open('outputs/model', 'w').write('x')\n", files={"outputs/.keep": ""})
        tenon.run("submit", "-c", "local", "main.py", cwd=self.project).ok()
        row = tenon.json("runs", "--json", cwd=self.project)[0]
        self.good = row["run_id"]
        self.plain = self.smallest_space()

    def smallest_space(self):
        """The address space in which the plain program can list a run."""
        least, most = 8, 256
        while most - least > 2:
            middle = (least + most) // 2
            done = self.tenon.run("runs", "--all-projects", prefix=limited(middle * MIB))
            least, most = (least, middle) if done.code == 0 else (middle, most)
        return most * MIB

    def copy_run(self, change_submitted=None, near=(), host=(), host_end=True):
        """A copy of the good run under an id of its own. `change_submitted(spec)` changes what was asked for; `near` and
        `host` are (kind, payload) that its segments say besides, before the end."""
        run_id, key = f"alpha_{1600000000000 + uuid.uuid4().int % 10**11}", str(uuid.uuid4())
        runs = self.tenon.home / "runs"
        folder = runs / run_id
        folder.mkdir()
        source = runs / self.good
        near_file = next(source.glob("near-*.tj"))
        for name, more in ((near_file.name, near), ("host.tj", host)):
            records = [(r.type, r.payload) for r in Journal(source / name).records]
            if name == "host.tj":
                end = records.pop()
                records += list(more) + ([end] if host_end else [])
            else:
                records += list(more)
            out = segment_header(key, name[:-3])
            for number, (kind, payload) in enumerate(records, 1):
                if kind == "submitted":
                    said = json.loads(payload)
                    said["spec"].update(id=run_id, key=key, number=77)
                    if change_submitted:
                        change_submitted(said["spec"])
                    payload = json.dumps(said).encode()
                    payload = zstd(payload) if len(payload) > 256 << 10 else payload
                out += record_bytes(number, kind, payload)
            (folder / name).write_bytes(out)
        spec = json.loads((source / "spec.json").read_text())
        spec["spec"].update(id=run_id, key=key)
        (folder / "spec.json").write_text(json.dumps(spec))
        return run_id

    def run(self, *words, **options):
        """A command under the limit: it may fail, but it is not aborted, and memory is not what it lacks."""
        done = self.tenon.run(*words, prefix=limited(self.plain + ALLOWED), timeout=240, **options)
        assert done.code not in ABORTED, repr(done)
        assert "not enough memory" not in done.err and "bad_alloc" not in done.err, repr(done)
        assert "out of memory" not in done.err, repr(done)
        return done

    def forget(self):
        for name in ("history.db", "history.db-wal", "history.db-shm"):
            (self.tenon.home / name).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    tenon = harness.Tenon(harness.release_binary(), folder / "home", folder)
    yield Machine(tenon, folder)
    tenon.cleanup()


@pytest.fixture
def machine(prepared, tenon):
    assert not prepared.tenon.processes_left()
    shutil.copytree(prepared.tenon.home, tenon.home, symlinks=True)
    made = object.__new__(Machine)
    made.__dict__.update(prepared.__dict__)
    made.tenon = tenon
    return made


def squeezed(value):
    return zstd(value if isinstance(value, bytes) else json.dumps(value).encode())


def metrics_body(blocks):
    """(name, kind, points, values in bytes) each, all steps and times 0."""
    parts = [_varint(len(blocks))]
    for name, kind, count, values in blocks:
        name = name.encode()
        parts += [_varint(len(name)), name, b"\0\0", _varint(count), bytes([kind]), bytes(2 * count), values]
    return b"\1" + zstd(b"".join(parts))


def nothing_but_empty_files():
    # 64 MiB of empty entries a record: 24 KB of journal that took 4 GB.
    text = b'{"files":[' + b"{}," * (21 * MIB) + b"{}]}"
    return [("artifacts", squeezed(text))] * 4


def half_a_million_outputs():
    return [("artifacts", squeezed({"files": [{"path": f"outputs/{i}/{k}", "size": 1, "hash": "0" * 64, "mode": 420}
                                              for k in range(10_000)]})) for i in range(50)]


def outputs_with_long_names():
    return [("artifacts", squeezed({"files": [{"path": "outputs/" + "n" * 4000, "size": 1, "hash": "0" * 64, "mode": 420}
                                              for _ in range(1000)]}))] * 100


def long_texts():
    text = squeezed({"text": "t" * (15 * MIB), "hint": "h"})
    step = squeezed({"name": "s" * (15 * MIB), "duration_us": 1})
    state = squeezed({"state": "Finalizing", "reason": "r" * (15 * MIB)})
    gap = squeezed({"stdout_bytes": 1, "reason": "r" * (15 * MIB)})
    return [("notice", text)] * 50 + [("step", step)] * 50 + [("state", state), ("gap", gap)]


def a_flood_of_small_records():
    return [("notice", {"text": "n"}), ("step", {"name": "s"})] * 20_000


def many_values():
    wide = squeezed(b'{"x":[' + b"0," * (7 * MIB) + b"0]}")
    deep = b'{"x":' + b"[" * 1000 + b"]" * 1000 + b"}"
    argv = squeezed({"process": {"pid": 1, "start_ticks": 1, "boot_id": ""}, "argv": ["a"] * 150_000})
    packages = squeezed({"key": "k", "packages": [{"name": "n", "version": "1", "source": "s"}] * 45_000})
    return [("notice", wide), ("notice", deep), ("script", argv), (14, packages)] + [(14, packages)] * 20


def points_beyond_counting():
    return [("metrics", metrics_body([("p", 2, 10 * MIB, bytes(10 * MIB))])),
            ("metrics", metrics_body([("q", 2, 900_000, bytes(900_000))]))] * 3


def series_without_end():
    return [("metrics", metrics_body([(f"series {i} {k}", 2, 1, b"\1") for k in range(50_000)])) for i in range(4)]


def long_values():
    text = _varint(MIB) + b"v" * MIB
    numbers = _varint(131_072) + bytes(8 * 131_072)
    return [("metrics", metrics_body([(f"text {i}", 3, 1, text)])) for i in range(60)] + \
           [("metrics", metrics_body([(f"list {i}", 4, 1, numbers)])) for i in range(60)]


def blocks_without_points():
    return [("metrics", metrics_body([("", 0, 0, b"")] * 500_000))]


def names_that_grow_when_shown():
    """No UTF-8: each byte takes five in JSON."""
    blocks = []
    for i in range(400):
        name = b"\xff" * 60_000 + str(i).encode()
        blocks.append(_varint(len(name)) + name + b"\0\0" + _varint(1) + b"\2" + bytes(2) + b"\1")
    return [("metrics", b"\1" + zstd(_varint(200) + b"".join(blocks[at:at + 200]))) for at in (0, 200)]


def a_notice_of_line_breaks():
    return [("notice", squeezed({"text": "x" + "\n" * (6 * MIB), "hint": "\n" * MIB}))]


def titles_as_long_as_books():
    return [("metrics", metrics_body([(letter * (4 * MIB), 2, 1, b"\1")])) for letter in "abcd"]


def a_curve_for_each_of_many_series():
    return [("metrics", metrics_body([(f"s {i} {k}", 2, 300, b"\1" * 300) for k in range(3400)])) for i in range(8)]


ATTACKS = [nothing_but_empty_files, half_a_million_outputs, outputs_with_long_names, long_texts, a_flood_of_small_records,
           many_values, points_beyond_counting, series_without_end, long_values, blocks_without_points,
           names_that_grow_when_shown, a_notice_of_line_breaks, titles_as_long_as_books, a_curve_for_each_of_many_series]


def read_in_every_way(machine, run_id):
    """All commands that read, the bad run and the others; the others as ever."""
    listed = {r["run_id"]: r for r in machine.run("runs", "--all-projects", "--json").ok().json()}
    assert listed[machine.good]["status"] == "Completed"
    assert run_id in listed
    for words in (["runs", "--all-projects"], ["history", "list", "-o", "table"], ["ps"], ["du"],
                  ["history", "rebuild"], ["runs", "--all-projects", "--query", "[].run_id"]):
        machine.run(*words, cwd=machine.project)
    for words in (["show"], ["show", "--json"], ["status"], ["logs"], ["logs", "--json"], ["logs", "--raw", "both"],
                  ["history", "info"], ["history", "info", "-a", "control_log"]):
        where = [words[0], words[1], "--run", run_id, *words[2:]] if words[0] == "history" else [words[0], run_id, *words[1:]]
        machine.run(*where)
    for words in (["--csv"], ["--json"], [], ["--chart"]):
        machine.run("metrics", run_id, *words)
    machine.run("metrics", run_id, "--json", "--query", "length(@)")
    machine.run("compare", run_id, machine.good)
    machine.run("compare", run_id, machine.good, "--json")
    machine.run("history", "download", "--run", run_id, "-d", machine.tenon.scratch / "down")
    machine.run("gc")
    assert machine.run("logs", machine.good).ok().out == "said\n"
    machine.run("runs", "delete", run_id).ok()
    machine.run("history", "rebuild").ok()
    return listed


@pytest.mark.seconds(900)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.__name__)
def test_memory_of_reading_is_limited_whatever_a_journal_says(machine, attack):
    run_id = machine.copy_run(host=attack())
    machine.forget()
    assert read_in_every_way(machine, run_id)[run_id]["status"] == "Completed"


def test_a_run_that_says_too_much_has_its_end_and_says_what_is_left_out(machine):
    run_id = machine.copy_run(host=half_a_million_outputs())
    machine.forget()
    page = machine.run("show", run_id).ok().out
    assert "Completed" in page and "are left out" in page


def test_annotations_without_end(machine):
    tags = squeezed({"set_tags": [[f"tag {i}", "v" * 1000] for i in range(10_000)]})
    note = squeezed({"note": "n" * (15 * MIB)})
    run_id = machine.copy_run(near=[("annotation", tags)] * 20 + [("annotation", note)] * 5)
    machine.forget()
    read_in_every_way(machine, run_id)


def test_a_submit_with_everything_too_large(machine):
    def change(spec):
        spec["arguments"] = ["a" * 100] * 60_000
        spec["parameters"] = [[f"p{i}", "v"] for i in range(30_000)]

    run_id = machine.copy_run(change_submitted=change)
    machine.forget()
    read_in_every_way(machine, run_id)


def test_arguments_that_grow_when_quoted(machine):
    run_id = machine.copy_run(change_submitted=lambda spec: spec.update(arguments=["'" * (15 * MIB)]))
    machine.forget()
    listed = {r["run_id"]: r for r in machine.run("runs", "--all-projects", "--json").ok().json()}
    assert listed[machine.good]["status"] == "Completed" and run_id in listed
    for words in (["runs", "--all-projects"], ["show", run_id], ["show", run_id, "--json"], ["compare", run_id, machine.good]):
        machine.run(*words)


def test_one_long_name_is_not_paid_for_by_every_row(machine):
    """Names and titles are lined up with blanks: a long one among many short ones."""
    parameters = [["p" * MIB, "v"]] + [[f"p{i}", "v"] for i in range(3000)]
    long = machine.copy_run(change_submitted=lambda spec: spec.update(parameters=parameters))
    for _ in range(40):
        machine.copy_run()
    titles = machine.copy_run(host=titles_as_long_as_books())
    machine.forget()
    for words in (["show", long], ["compare", long, machine.good], ["runs", "--all-projects"], ["history", "list", "-o", "table"],
                  ["show", titles], ["metrics", titles]):
        machine.run(*words, cwd=machine.project).ok()


def test_a_note_of_line_breaks(machine):
    run_id = machine.copy_run(near=[("annotation", squeezed({"note": "x" + "\n" * (6 * MIB)}))])
    machine.forget()
    read_in_every_way(machine, run_id)


def test_many_runs_of_which_each_says_as_much_as_it_may(machine):
    """Of each little is held, of all of them too."""
    for i in range(20):
        machine.copy_run(change_submitted=lambda spec: spec.update(arguments=["a" * (12 * MIB)]))
        machine.copy_run(host=[("metrics", metrics_body([(f"series {i} {k}", 2, 1, b"\1") for k in range(40_000)]))])
    machine.forget()
    for words in (["runs"], ["runs", "--json"], ["history", "list", "-o", "table"], ["history", "list", "-o", "tsv"], ["ps"]):
        machine.run(*words, cwd=machine.project).ok()
    whole = machine.run("runs", "--json", "--query", "[].run_id", cwd=machine.project)
    assert whole.code == 2 and "tenon runs -n N" in whole.err, repr(whole)
    few = machine.run("runs", "--json", "--query", "[].run_id", "-n", "2", cwd=machine.project).ok()
    assert len(few.json()) == 2


def test_a_list_of_many_runs_with_many_outputs_is_printed_whole(machine):
    """Memory for one run is given back before the next: it must not double with each."""
    files = [{"path": f"outputs/checkpoints/{'x' * 60}/{i}", "size": 1, "hash": "0" * 64, "mode": 420} for i in range(400)]
    for _ in range(60):
        machine.copy_run(host=[("artifacts", {"files": files})])
    machine.forget()
    assert len(machine.tenon.json("runs", "--all-projects", "--json")) == 61


def test_a_table_of_a_query_with_many_columns(machine):
    run_id = machine.copy_run(host=[("metrics", metrics_body([(f"s {i} {k}", 2, 1, b"\1") for k in range(30_000)])) for i in range(2)])
    for _ in range(60):
        machine.copy_run()
    machine.forget()
    told = machine.run("runs", "--all-projects", "-o", "table", "--query", "[]").ok()
    assert "leaves columns out" in told.err and run_id in told.out


def test_a_cache_of_gigabytes_that_is_none_is_not_read(machine):
    """A power cut, or a disk that was too small, may leave zeros of any length."""
    for cache in (machine.tenon.home / "stat-cache").iterdir():
        os.truncate(cache, 3 << 30)
    machine.run("snapshot", cwd=machine.project).ok()


def test_damage_between_any_two_records(machine):
    run_id = machine.copy_run()
    host = machine.tenon.home / "runs" / run_id / "host.tj"
    number = Journal(host).records[-1].number
    with open(host, "ab") as f:
        f.write(b"".join(b"?" + record_bytes(number + 1 + i, 200, b"") for i in range(100_000)))
    machine.forget()
    read_in_every_way(machine, run_id)


def test_bytes_that_look_like_large_records_everywhere(machine):
    """Looking for the next true record ends in time."""
    run_id = machine.copy_run()
    host = machine.tenon.home / "runs" / run_id / "host.tj"
    false_header = b"\0\0\0\0" + (4 * MIB - 1).to_bytes(4, "little") + (1 << 30).to_bytes(8, "little") + bytes(12)
    with open(host, "ab") as f:
        f.write(b"?" + false_header * (8 * MIB // 28))
    machine.forget()
    read_in_every_way(machine, run_id)


@pytest.mark.seconds(900)
def test_output_that_is_larger_than_memory_is_never_held(machine):
    """400 MiB, one line without an end."""
    folder = harness.make_project(machine.tenon.scratch / "loud",
                                  "import sys\nfor _ in range(400):\n    sys.stdout.write('x' * (1 << 20))\n")
    machine.tenon.start("submit", "-c", "local", "main.py", cwd=folder).wait(300)
    run_id = machine.tenon.json("runs", "--json", cwd=folder)[0]["run_id"]
    for words in ([], ["--timestamps"], ["--raw", "stdout"]):
        told = machine.tenon.start("logs", run_id, *words, prefix=limited(machine.plain + ALLOWED))
        assert told.process.wait(300) == 0, told.err
        assert os.path.getsize(told._out_path) >= 400 * MIB
        os.truncate(told._out_path, 0)
    for words in (["show"], ["history", "rebuild"], ["gc"]):
        machine.run(*words, cwd=folder).ok()


def repeated_tree(levels):
    """{digest: node}, root: each folder has two folders, which are one and the same."""
    objects = {}

    def put(data):
        digest = hashlib.sha256(data).digest()
        objects[digest] = data
        return digest

    node = put(b"TN\1\0" + _varint(1) + b"\1f" + b"\1" + _varint(0o644) + _varint(1) + put(b"x"))
    for _ in range(levels):
        node = put(b"TN\1\0" + _varint(2) + b"".join(_varint(1) + name + b"\3" + _varint(0o755) + node for name in (b"a", b"b")))
    return objects, node.hex()


@pytest.mark.seconds(900)
def test_a_tree_that_repeats_itself_does_not_grow(machine, tmp_path):
    """Some hundred bytes that stand for 32 million files and folders."""
    objects, root = repeated_tree(24)
    write_pack(machine.tenon.home / "objects", objects)
    run_id = machine.copy_run(change_submitted=lambda spec: spec.update(kept_tree=root, tree=root))
    machine.forget()
    target = tmp_path / "restored"
    done = machine.run("restore", run_id, target)
    assert done.code == 1 and "stands for more than 10000000" in done.err, repr(done)
    assert not target.exists() or not any(target.iterdir())
    again = machine.run("rerun", run_id, cwd=machine.project)
    assert again.code not in (0, None) and "10000000" in again.err + again.out, repr(again)
    done = machine.run("experiment", "diagnostics", "--run", run_id, cwd=tmp_path)
    machine.run("compare", run_id, machine.good).ok()
    assert machine.run("compare", run_id, machine.good, "--json").ok().json()["files"]["more"]
    machine.run("gc").ok()
    machine.run("du").ok()


def test_no_exception_leaves_the_program_as_an_abort(machine):
    """Where there is room to start but not to work, it says so."""
    run_id = machine.copy_run(host=half_a_million_outputs())
    machine.forget()
    said = False
    for size in range(machine.plain + 4 * MIB, machine.plain + ALLOWED, 12 * MIB):
        done = machine.tenon.run("show", run_id, "--json", prefix=limited(size))
        assert done.code not in ABORTED, repr(done)
        said = said or "memory" in done.err
    assert said, "some of these were too small to work in"
    assert done.code == 0, repr(done)
