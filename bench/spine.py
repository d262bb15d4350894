#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The numbers of a local run, each against a peer or the physical limit in the same run.

    scripts/build && cmake --preset bench && ninja -C build/bench
    python3 bench/spine.py [--quick] [NAME...]

Prints a markdown table with N, median and spread (smallest to largest). Works in a temporary folder.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
from measure import alternate, ms, ratio, row, s

ROOT = Path(__file__).resolve().parents[1]
TENON = ROOT / "build/release/tenon"
PYTHON = os.path.realpath(sys.executable)


class Bench:
    def __init__(self, folder, quick):
        self.folder = Path(folder)
        self.quick = quick
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb",
                    "TENON_HOME": str(self.folder / "home")}

    def project(self, name, script):
        folder = self.folder / name
        (folder / "aml_config").mkdir(parents=True)
        (folder / "main.py").write_text(script)
        (folder / "aml_config/local.compute").write_text(f"type: local\npythonLocation: {PYTHON}\n")
        (folder / "aml_config/local.runconfig").write_text("Target: local\nFramework: Python\n")
        return folder


def command_times(command, cwd=None, env=None, stdout=subprocess.DEVNULL, code=0):
    """Wall seconds and user+system seconds of a command and what it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=env, stdout=stdout, stderr=subprocess.DEVNULL,
                          shell=isinstance(command, str))
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == code, (command, done.returncode)
    return wall, (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def version(b):
    n = 20 if b.quick else 100
    ours, peer = alternate(n, lambda: command_times([TENON, "--version"], env=b.env),
                           lambda: command_times([PYTHON, "-c", "pass"], env=b.env))
    wall, python = [w for w, _ in ours], [w for w, _ in peer]
    cpu, python_cpu = [c for _, c in ours], [c for _, c in peer]
    row("`tenon --version` against `python3 -c pass`, wall", n, ms(wall), ms(python),
        ratio(wall, python), "under 3 ms CPU")
    row("  the same, user + system", n, ms(cpu), ms(python_cpu),
        ratio(cpu, python_cpu), "under 3 ms")


def history(b):
    fill = ROOT / "build/bench/bench/history_fill"
    for runs in (1000,) if b.quick else (1000, 100000):
        home = b.folder / f"history-{runs}"
        subprocess.run([fill, home, "fill", str(runs)], check=True, stdout=subprocess.DEVNULL)
        env = dict(b.env, TENON_HOME=str(home))
        n = 20
        options = ["--all-projects", "-n", "1000"]
        for form in ("table", "json"):
            command = [TENON, "history", "list", "-o", form, *options]
            ours, peer = alternate(n, lambda: command_times(command, env=env),
                                   lambda: command_times([PYTHON, "-c", "pass"], env=env))
            cpu, python = [c for _, c in ours], [c for _, c in peer]
            row(f"`history list -o {form}`, 1,000 of {runs:,} runs, user + system, against "
                "`python3 -c pass`", n, ms(cpu), ms(python),
                ratio(cpu, python), "under 10 ms")


def catching_up(b):
    """What it costs to find out that the index is behind, and to mend that."""
    fill = ROOT / "build/bench/bench/history_fill"
    for runs in (1000,) if b.quick else (1000, 10000):
        home = b.folder / f"folders-{runs}"
        subprocess.run([fill, home, "folders", str(runs)], check=True, stdout=subprocess.DEVNULL)
        env = dict(b.env, TENON_HOME=str(home))
        subprocess.run([TENON, "history", "rebuild"], env=env, check=True, stdout=subprocess.DEVNULL)
        command = [TENON, "history", "list", "-n", "1", "--all-projects"]
        changes = {
            "nothing new": lambda: {},
            "`runs/` has changed": lambda: os.utime(home / "runs") or {},
            "the machine was restarted": lambda: {"TENON_TEST_BOOT_ID": str(time.monotonic_ns())},
        }
        for what, change in changes.items():
            n = 10
            times = [command_times(command, env={**env, **change()}) for _ in range(n)]
            row(f"`history list -n 1` of {runs:,} runs, {what}; wall, and user + system", n, ms([w for w, _ in times]), "",
                ms([c for _, c in times]), "")
            # Back to this boot.
            subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)


def submit(b):
    folder = b.project("empty", "")
    n = 20 if b.quick else 60
    ours, peer = alternate(n, lambda: command_times([TENON, "submit", "main.py"], cwd=folder, env=b.env)[0],
                           lambda: command_times([PYTHON, "main.py"], cwd=folder, env=b.env)[0])
    more = (statistics.median(ours) - statistics.median(peer)) * 1000
    row("submit of an empty script against `python3` of it", n, ms(ours), ms(peer),
        f"{more:+.1f} ms", "at most 15 ms more")


LINES = """
import sys
line = "x" * 99 + "\\n"
for _ in range({count}): sys.stdout.write(line)
"""
BLOCKS = """
import sys
block = (b"x" * 99 + b"\\n") * 10000
for _ in range({count}): sys.stdout.buffer.write(block)
"""


def log(b):
    n = 1 if b.quick else 3
    total = 100_000_000 if b.quick else 1_000_000_000
    for name, script, per in (("lines", LINES, 100), ("1 MB blocks", BLOCKS, 1_000_000)):
        folder = b.project(f"log-{per}", script.format(count=total // per))
        out = b.folder / "out"

        def ours():
            with open(out, "wb") as f:
                wall = command_times([TENON, "submit", "main.py"], cwd=folder, env=b.env, stdout=f)[0]
            assert out.stat().st_size == total
            shutil.rmtree(b.folder / "home/runs", ignore_errors=True)
            return wall

        def peer():
            wall = command_times(f"PYTHONUNBUFFERED=1 {PYTHON} main.py | cat > {out}", cwd=folder, env=b.env)[0]
            assert out.stat().st_size == total
            return wall

        mine, theirs = alternate(n, ours, peer)
        row(f"log of {total / 1e9:g} GB in {name}, submit > file against `python3` piped to `cat`", n,
            s(mine), s(theirs), ratio(mine, theirs), "≤ 1.2")


def memory(b):
    total = 100_000_000 if b.quick else 1_000_000_000
    folder = b.project("memory", BLOCKS.format(count=total // 1_000_000))
    done = subprocess.Popen([TENON, "submit", "main.py"], cwd=folder, env=b.env,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while done.poll() is None:
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and b"tenon-runner" in Path(f"/proc/{entry}/cmdline").read_bytes():
                    if str(b.folder) in os.readlink(f"/proc/{entry}/cwd"):
                        text = Path(f"/proc/{entry}/status").read_text()
                        peak = max(peak, int(text.split("VmHWM:")[1].split()[0]))
            except (OSError, IndexError):
                pass
        time.sleep(0.01)
    assert done.returncode == 0 and peak > 0
    row(f"runner's peak memory while {total / 1e9:g} GB pass", 1, f"{peak / 1024:.1f} MB", "", "", "under 10 MB")


METRICS = """
import sys, time
from azureml.logging import get_azureml_logger
log = get_azureml_logger().log
n = int(sys.argv[1])
start = time.perf_counter()
for i in range(n): log("loss", i * 0.5)
print(n / (time.perf_counter() - start))
"""


def metrics(b):
    count = 200_000 if b.quick else 2_000_000
    n = 3
    folder = b.project("metrics", METRICS)
    rates = []
    for _ in range(n):
        done = subprocess.run([TENON, "submit", "main.py", str(count)], cwd=folder, env=b.env, check=True,
                              capture_output=True, text=True)
        rates.append(float(done.stdout))
        csv = subprocess.run([TENON, "metrics", "last", "loss", "--csv"], cwd=folder, env=b.env, check=True,
                             capture_output=True, text=True).stdout
        assert csv.count("\n") == count + 1, (csv.count("\n"), count)
    row(f"points per second from one Python process, {count:,} logged, none lost", n,
        f"{statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})", "", "", "500,000")


def many(b):
    folder = b.project("many", "import time\nprint('x')\n")
    runs = 50

    def together(command):
        start = time.perf_counter()
        started = [subprocess.Popen(command, cwd=folder, env=b.env, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for _ in range(runs)]
        assert all(p.wait() == 0 for p in started)
        return time.perf_counter() - start

    n = 3
    ours, peer = alternate(n, lambda: together([TENON, "submit", "main.py"]),
                           lambda: together([PYTHON, "main.py"]))
    more = (statistics.median(ours) - statistics.median(peer)) / runs * 1000
    row(f"{runs} submits at once against {runs} `python3` at once", n, s(ours), s(peer),
        f"{more:+.1f} ms a run", "")


ALL = {f.__name__: f for f in (version, history, catching_up, submit, log, memory, metrics, many)}


def main():
    options = measure.options(__doc__, ALL)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        bench = Bench(folder, options.quick)
        measure.run(ALL, options.name, bench)


if __name__ == "__main__":
    main()
