#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers of runs on another machine, each against `ssh` or `rsync` doing the same in the same run.

    scripts/build && sudo python3 bench/ssh.py [--quick] [NAME...]

Starts an sshd of its own on 127.0.0.1 with a user of its own, so it takes root and openssh-server. Both sides keep a connection
open. Prints a markdown table with N, median and spread (smallest to largest). Works in temporary folders.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]

import measure  # noqa: E402
from measure import alternate, ms, ratio, row, s, spread, timed  # noqa: E402
from e2e import harness  # noqa: E402
from hosts.link import Proxy  # noqa: E402
from hosts.ssh_runs import SshRuns  # noqa: E402
from hosts.sshd import Sshd, Unusable, make_key  # noqa: E402

TENON = Path(os.environ.get("TENON_BUILD", ROOT / "build/release")) / "tenon"
DELAY = 0.05  # seconds, each way


def first_output(command, cwd, env, then=None):
    """Seconds until the first byte on standard output; `then` is called at that moment, and the end is waited for."""
    start = time.perf_counter()
    with subprocess.Popen([str(c) for c in command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        assert process.stdout.read(1), command
        took = time.perf_counter() - start
        if then:
            then()
        process.stdout.read()
    assert process.returncode == 0, (command, process.returncode)
    return took


class Bench:
    """`link`: for both sides, where what passes is counted or delayed; else they reach the server directly."""

    def __init__(self, server, link, folder, quick):
        self.quick = quick
        self.server = server
        self.link = link
        self.folder = folder
        tenon = harness.Tenon(TENON, folder / "home", folder)
        self.direct = SshRuns(server, server.user(), tenon, folder)
        self.linked = SshRuns(server, self.direct.user, tenon, folder, port=link.port)
        self.user = self.direct.user
        self.key = folder / "key"
        self.user.authorize(make_key(self.key))
        self.user.write("main.py", "print('x')\n")
        self.env = tenon.env()

    def ssh(self, runs, kept=True):
        """A plain `ssh`, over a kept connection of its own."""
        words = self.server.ssh(self.user, self.key)
        words[words.index("-p") + 1] = str(runs.port)
        return [*words[:-1], *(["-o", f"ControlPath={self.folder}/{runs.port}"] if kept else []), words[-1]]

    def connect(self):
        for runs in (self.direct, self.linked):
            words = self.ssh(runs)
            subprocess.run([*words[:-1], "-M", "-N", "-f", "-o", "ControlPersist=600", words[-1]], check=True,
                           stdin=subprocess.DEVNULL)

    def disconnect(self):
        for runs in (self.direct, self.linked):
            words = self.ssh(runs)
            subprocess.run([*words[:-1], "-O", "exit", words[-1]], capture_output=True, check=False)


def submit_words(*options):
    return [str(TENON), "submit", "-c", "far", *options, "main.py"]


def warm_jobs(b, runs, name):
    """The same script by both over a kept connection; on the host it lies in the home too."""
    folder = runs.attached("print('x')\n", name=name)
    return (lambda then=None: first_output(submit_words(), folder, b.env, then),
            lambda then=None: first_output([*b.ssh(runs), "python3 main.py"], folder, b.env, then))


def warm(b):
    n = 10 if b.quick else 40
    ours, peer = alternate(n, *warm_jobs(b, b.direct, "warm"))
    row("warm submit of `print('x')` to its first output against `ssh host python3 main.py`", n, ms(ours), ms(peer),
        ratio(ours, peer), "≤ 1.3")


def distance(b):
    n = 3 if b.quick else 10
    jobs = warm_jobs(b, b.linked, "distance")
    b.link.delay = DELAY
    ours, peer = alternate(n, *jobs)
    row("the same with 50 ms added each way", n, ms(ours), ms(peer), ratio(ours, peer), "")
    counts = []
    for job in jobs:
        b.link.reset_counts()
        job(lambda: counts.append(b.link.turns))
    b.link.delay = 0
    row("turns on the link until the first output, opening the channel included", 1, counts[0], counts[1],
        f"+{counts[0] - counts[1]}", "≤ +2")


def cold(b):
    """The host has nothing of ours and no connection stands; the peer has to connect too."""
    n = 3 if b.quick else 10
    folder = b.direct.attached("print('x')\n", name="cold")

    def forget():
        b.direct.tenon.cleanup()
        for root in b.user.roots():
            shutil.rmtree(root, ignore_errors=True)

    def ours():
        forget()
        return first_output(submit_words(), folder, b.env)

    mine, theirs = alternate(n, ours, lambda: first_output([*b.ssh(b.direct, kept=False), "python3 main.py"], folder, b.env))
    row("cold submit, runner pushed, against `ssh` that connects", n, ms(mine), ms(theirs), ratio(mine, theirs), "")
    folder = b.linked.attached("print('x')\n", name="cold-counted")
    forget()
    b.link.reset_counts()
    first_output(submit_words(), folder, b.env)
    row("bytes sent by it", 1, f"{b.link.sent:,}", "", "", "")


def make_many(folder, files):
    for number in range(files):
        path = folder / f"data/{number % 100:02d}/{number // 100 % 100:02d}/file{number:06d}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {number}\n" * 20)


def change(b):
    """One changed file of 100,000: until the host has it all. rsync writes the folder in place, we unpack apart."""
    files = 2_000 if b.quick else 100_000
    n = 3
    folder = b.linked.attached("print('x')\n", name="many")
    make_many(folder, files)
    b.linked.submit(folder, timeout=900).ok()
    changed = folder / "data/00/00/file000000.txt"
    *shell, where = b.ssh(b.linked)
    rsync = ["rsync", "-a", "-e", " ".join(shell), f"{folder}/", f"{where}:rsynced/"]
    subprocess.run(rsync, check=True)
    sent = {"ours": [], "peer": []}
    count = iter(range(10_000))

    def edited(work, side):
        changed.write_text(f"changed {next(count)}\n" * 20)
        b.link.reset_counts()
        took = timed(work)
        sent[side].append(b.link.sent)
        return took

    def ours():
        subprocess.run(submit_words("-a"), cwd=folder, env=b.env, check=True, capture_output=True)

    def settle():
        harness.wait_until(lambda: not b.direct.runners(), 300, "the end of the run")

    def one():
        took = edited(ours, "ours")
        settle()
        return took

    mine, theirs = alternate(n, one, lambda: edited(lambda: subprocess.run(rsync, check=True), "peer"))
    row(f"one changed file of {files:,}, until the host has every object, against `rsync -a`", n, s(mine), s(theirs),
        ratio(mine, theirs), "< 1")
    size = changed.stat().st_size
    row(f"bytes sent for it; the file has {size}", n, f"{max(sent['ours']):,}", f"{max(sent['peer']):,}", "",
        f"≤ {size + 65536:,}")
    unpacking = []
    b.linked.tenon.run("status", "last", cwd=folder).ok()
    for step in b.direct.details(folder)["steps"]:
        if "unpack" in step["name"]:
            hours, minutes, seconds = step["duration"].split(":")
            unpacking.append(int(hours) * 3600 + int(minutes) * 60 + float(seconds))
    row("unpacking on the host, apart", len(unpacking), s(unpacking) if unpacking else "", "", "", "")


def rate(size, times):
    return spread((size / t / 1e6 for t in times), "MB/s", 0)


def training_lines(size):
    """What a script prints of its epochs: no two lines are the same."""
    random = Random(1)
    lines, length = [], 0
    while length < size:
        step = len(lines)
        lines.append(f"epoch {step // 1000:3d} step {step:7d} loss {random.random():.6f} acc {random.random():.4f} {random.randint(300, 900)} images/s\n".encode())
        length += len(lines[-1])
    return b"".join(lines)


def log(b):
    """What a script prints, while it prints it and afterwards, against `ssh host cat` of the same bytes."""
    piece = training_lines(20_000_000)
    pieces = 5 if b.quick else 25
    n = 2 if b.quick else 9
    size = pieces * len(piece)
    with open(b.user.home / "bytes", "wb") as file:
        for _ in range(pieces):
            file.write(piece)
    folder = b.direct.attached("import os\nos.execvp('cat', ['cat', os.path.expanduser('~/bytes')])\n", name="log")

    def program(*words):
        os.sync()  # what the one before has written is not paid for by the next
        return timed(lambda: subprocess.run(words, cwd=folder, env=b.env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def live():
        return program(*submit_words())

    def later():
        program(*submit_words("-a"))
        harness.wait_until(lambda: not b.direct.runners(), 300, "the end of the run")
        return program(TENON, "logs", "last")

    ours, fetched, peer = alternate(n, live, later, lambda: program(*b.ssh(b.direct), "cat bytes"))
    for what, times in (("log while it is printed", ours), ("the same, fetched by a client that was away", fetched)):
        row(f"{what}: {size / 1e6:.0f} MB against `ssh host cat`", n, rate(size, times), rate(size, peer), ratio(peer, times), "≥ 0.8")


ALL = {f.__name__: f for f in (warm, distance, cold, change, log)}


def main():
    options = measure.options(__doc__, ALL)
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(Sshd(LogLevel="ERROR"))
        except Unusable as why:
            sys.exit(str(why))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp"))))
        link = stack.enter_context(Proxy(server.port))
        bench = Bench(server, link, folder, options.quick)
        bench.connect()
        stack.callback(bench.disconnect)
        stack.callback(bench.direct.tenon.cleanup)
        measure.run(ALL, options.name, bench)


if __name__ == "__main__":
    main()
