#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two builds of `tenon` in turns, in one run: whether a change has made something slower.

    python3 bench/against.py OTHER_TENON [--quick] [NAME...]

OTHER_TENON is the program to compare with, of another version or commit; ours is build/release/tenon. Both have a home
of their own. The column "ratio" is our median by the other's. What goes over SSH takes root and openssh-server; without
them those rows are left out. Works in a temporary folder.
"""

import argparse
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
from measure import alternate, ms, ratio, row, timed  # noqa: E402
from spine import BLOCKS, LINES, METRICS, command_times  # noqa: E402
from spine import Bench as Local  # noqa: E402
from ssh import first_output, make_many  # noqa: E402
from e2e import harness  # noqa: E402
from hosts.ssh_runs import SshRuns  # noqa: E402
from hosts.sshd import Sshd, Unusable  # noqa: E402


class Side(Local):
    """One of the two programs, with its own folders."""

    def __init__(self, tenon, folder, quick):
        folder.mkdir()
        super().__init__(folder, quick)
        self.tenon = str(tenon)

    def __call__(self, *words, cwd=None, stdout=subprocess.DEVNULL, env=None):
        """Wall seconds, and user and system seconds of it and its children."""
        return command_times([self.tenon, *words], cwd=cwd, env=env or self.env, stdout=stdout)


class Both:
    def __init__(self, sides, quick):
        self.sides = sides
        self.n = 10 if quick else 40
        self.quick = quick

    def row(self, what, job, part=0, n=None):
        """`job(side)` returns a function that is timed, which returns what Side() does."""
        n = n or self.n
        ours, other = alternate(n, *(job(side) for side in self.sides))
        mine, theirs = ([times[part] for times in taken] for taken in (ours, other))
        row(what, n, ms(mine), ms(theirs), ratio(mine, theirs), "≤ 1.03")


def version(b):
    b.row("`tenon --version`, user + system", lambda side: lambda: side("--version"), part=1)


def listing(b):
    fill = ROOT / "build/bench/bench/history_fill"
    for side in b.sides:
        subprocess.run([fill, side.env["TENON_HOME"], "folders", "1000"], check=True, stdout=subprocess.DEVNULL)
        side("history", "rebuild")
    for form in ("table", "json"):
        b.row(f"`history list -o {form}` of 1,000 runs, user + system",
              lambda side, form=form: lambda: side("history", "list", "-o", form, "--all-projects", "-n", "1000"), part=1)


def submit(b):
    folders = {side: side.project("empty", "") for side in b.sides}
    b.row("submit of an empty script", lambda side: lambda: side("submit", "main.py", cwd=folders[side]))


def unchanged(b):
    def job(side):
        folder = side.project("many", "")
        make_many(folder, 2_000 if b.quick else 20_000)
        return lambda: side("submit", "main.py", cwd=folder)
    b.row("submit of an unchanged project of 20,000 files", job)


def log(b):
    total = 20_000_000 if b.quick else 200_000_000
    for name, script, per in (("lines", LINES, 100), ("1 MB blocks", BLOCKS, 1_000_000)):
        def job(side, script=script, per=per):
            folder = side.project(f"log-{per}", script.format(count=total // per))
            out = side.folder / "out"

            def once():
                with open(out, "wb") as file:
                    times = side("submit", "main.py", cwd=folder, stdout=file)
                assert out.stat().st_size == total
                shutil.rmtree(side.folder / "home/runs", ignore_errors=True)
                return times
            return once
        b.row(f"log of {total / 1e6:.0f} MB in {name}", job, n=10 if b.quick else 30)


def metrics(b):
    count = 50_000 if b.quick else 500_000

    def job(side):
        folder = side.project("metrics", METRICS)
        return lambda: side("submit", "main.py", str(count), cwd=folder)
    b.row(f"submit of a script that logs {count:,} points", job, n=10 if b.quick else 30)


def far(b):
    """On another machine: an sshd of our own on loopback, an account for each program."""
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(Sshd(LogLevel="ERROR"))
        except Unusable as why:
            print(f"left out: {why}", file=sys.stderr)
            return
        runs = {}
        for side in b.sides:
            tenon = harness.Tenon(Path(side.tenon), side.folder / "far-home", side.folder)
            stack.callback(tenon.cleanup)
            runs[side] = SshRuns(server, server.user(), tenon, side.folder)

        def job_of(script, name, files=0):
            def job(side):
                folder = runs[side].attached(script, name=name)
                make_many(folder, files)
                words = [side.tenon, "submit", "-c", "far", "main.py"]
                env = runs[side].tenon.env()
                return lambda: (first_output(words, folder, env),)
            return job
        b.row("warm submit over SSH, to the first output", job_of("print('x')\n", "warm"))
        b.row("the same of 20,000 unchanged files", job_of("print('x')\n", "far-many", 2_000 if b.quick else 20_000),
              n=10 if b.quick else 30)

        size = 20_000_000 if b.quick else 200_000_000

        def printing(side):
            folder = runs[side].attached(LINES.format(count=size // 100), name="far-log")
            words = [side.tenon, "submit", "-c", "far", "main.py"]
            env = runs[side].tenon.env()
            return lambda: (timed(lambda: subprocess.run(words, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL,
                                                         stderr=subprocess.DEVNULL)),)
        b.row(f"log of {size / 1e6:.0f} MB over SSH while it is printed", printing, n=10 if b.quick else 30)


ALL = {f.__name__: f for f in (version, listing, submit, unchanged, log, metrics, far)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, metavar="OTHER_TENON")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller, to see that it works")
    parser.add_argument("name", nargs="*", choices=[*ALL, []], help="only these")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        programs = {"ours": ROOT / "build/release/tenon", "other": options.other.resolve()}
        sides = [Side(program, Path(folder) / name, options.quick) for name, program in programs.items()]
        measure.run(ALL, options.name, Both(sides, options.quick))


if __name__ == "__main__":
    main()
