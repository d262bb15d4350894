#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times freeze and unpack of 100,000 files against git status, tar | zstd -1 and cp -a.

Each pair is run in turns, N times, after a warm-up; printed are the medians, the spread (smallest to largest)
and the ratio of the medians, as a markdown table. Needs git, tar, zstd and some gigabytes below --folder.

    cmake -B build/bench -G Ninja -DTENON_BENCH=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo && ninja -C build/bench snapshot_tool
    bench/snapshot_bench.py --tool build/bench/bench/snapshot_tool
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

WORDS = ("import numpy as np def train model data loss epoch return self for in range if else batch "
         "print open read write").split()


def make_tree(root, count, folders):
    """Text files of about 4 KB (log-normal), the same on every machine."""
    for i in range(count):
        rng = random.Random(i)
        size = int(rng.lognormvariate(8.0, 1.0))
        text = " ".join(rng.choices(WORDS, k=size // 6 + 1))[:size] + "\n#%d\n" % i
        folder = os.path.join(root, "d%04d" % (i % folders))
        if i < folders:
            os.makedirs(folder)
        with open(os.path.join(folder, "file%06d.py" % i), "w") as out:
            out.write(text)


def timed(command, prefix, **kwargs):
    start = time.monotonic()
    done = subprocess.run(prefix + command, stdout=subprocess.PIPE, check=True, **kwargs)
    return time.monotonic() - start, done.stdout


class Pair:
    def __init__(self, name, goal):
        self.name, self.goal, self.ours, self.theirs = name, goal, [], []

    def row(self):
        ours, theirs = statistics.median(self.ours), statistics.median(self.theirs)
        ratio = ours / theirs
        return "| %s | %d | %.3f s (%.3f–%.3f) | %.3f s (%.3f–%.3f) | %.2f | %s | %s |" % (
            self.name, len(self.ours), ours, min(self.ours), max(self.ours), theirs, min(self.theirs),
            max(self.theirs), ratio, self.goal, "yes" if ratio <= self.goal else "NO")


class Bench:
    def __init__(self, options, base, shape, folders):
        self.options, self.base, self.shape = options, base, shape
        self.tool = os.path.abspath(options.tool)
        self.prefix = options.prefix.split()
        self.tree = os.path.join(base, shape)
        self.store = os.path.join(base, shape + ".store")
        self.cache = os.path.join(base, shape + ".cache")
        make_tree(self.tree, options.files, folders)
        git = ["git", "-C", self.tree, "-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run(git + ["init", "-q"], check=True)
        subprocess.run(git + ["add", "-A"], check=True)
        subprocess.run(git + ["commit", "-q", "-m", "x"], check=True)
        self.git = ["git", "-C", self.tree, "-c", "core.fsmonitor=false", "status"]

    def freeze(self, store, cache):
        seconds, out = timed([self.tool, "freeze", store, self.tree, cache], self.prefix)
        return seconds, json.loads(out)

    def unchanged(self):
        pair = Pair("unchanged, %s: freeze / git status" % self.shape, 1.0)
        time.sleep(2.5)  # the cache trusts no file younger than this
        self.freeze(self.store, self.cache)
        subprocess.run(self.git, stdout=subprocess.DEVNULL, check=True)
        for i in range(self.options.n + 1):
            ours, said = self.freeze(self.store, self.cache)
            theirs, _ = timed(self.git, self.prefix)
            if i == 0:
                continue
            if said["hashed"] or said["files"] != self.options.files:
                sys.exit("not unchanged: %s" % said)
            pair.ours.append(ours)
            pair.theirs.append(theirs)
        return pair

    def first(self):
        pair = Pair("first, %s: freeze / tar \\| zstd -1" % self.shape, 1.2)
        pipe = "tar c --exclude=.git -C '%s' . | zstd -1 -q > '%s'"
        for i in range(self.options.heavy + 1):
            store = os.path.join(self.base, "first%d" % i)
            ours, _ = self.freeze(store, store + ".cache")
            packed = os.path.join(self.base, "first.tar.zst")
            theirs, _ = timed(["sh", "-c", pipe % (self.tree, packed)], self.prefix)
            shutil.rmtree(store)
            os.remove(packed)
            if i:
                pair.ours.append(ours)
                pair.theirs.append(theirs)
        return pair

    def unpack(self):
        # Nothing is removed between the runs: ext4 is slow to make files right after many were removed.
        pair = Pair("unpack, %s: unpack / cp -a" % self.shape, 1.0)
        _, said = self.freeze(self.store, self.cache)
        plain = os.path.join(self.base, self.shape + ".plain")
        subprocess.run([self.tool, "unpack", self.store, said["root"], plain], check=True,
                       stdout=subprocess.DEVNULL)
        for i in range(self.options.heavy):
            target = os.path.join(self.base, "%s.out%d" % (self.shape, i))
            os.sync()
            theirs, _ = timed(["cp", "-a", plain, target + ".cp"], self.prefix)
            os.sync()
            ours, _ = timed([self.tool, "unpack", self.store, said["root"], target], self.prefix)
            pair.ours.append(ours)
            pair.theirs.append(theirs)
        return pair


def small_project(options, base):
    tree = os.path.join(base, "small")
    os.makedirs(tree)
    with open(os.path.join(tree, "train.py"), "w") as out:
        out.write("print('hello')\n")
    times = []
    for i in range(options.n * 2 + 1):
        with open(os.path.join(tree, "train.py"), "a") as out:
            out.write("# %d\n" % i)
        _, out = timed([options.tool, "freeze", base + "/small.store", tree, base + "/small.cache"],
                       options.prefix.split())
        times.append(json.loads(out)["us"] / 1000)
    times = times[1:]
    return "one changed file, alone in its project: %.2f ms (%.2f–%.2f) within the program, N %d" % (
        statistics.median(times), min(times), max(times), len(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program snapshot_tool")
    parser.add_argument("--folder", default=None, help="where to work (default: a temporary folder)")
    parser.add_argument("--files", type=int, default=100000)
    parser.add_argument("-n", type=int, default=9, help="repetitions of what takes a tenth of a second")
    parser.add_argument("--heavy", type=int, default=3, help="repetitions of what takes seconds")
    parser.add_argument("--prefix", default="", help="put in front of both commands, such as 'chrt -r 1'")
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="tenon-snapshot-bench-", dir=options.folder)
    try:
        rows = []
        for shape, folders in (("1,000 folders", 1000), ("one folder", 1)):
            bench = Bench(options, base, shape, folders)
            rows.append(bench.first())
            bench.freeze(bench.store, bench.cache)
            rows.append(bench.unchanged())
            rows.append(bench.unpack())
        print("| %d files | N | Tenon | other | ratio | goal | met |" % options.files)
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for pair in rows:
            print(pair.row())
        print()
        print(small_project(options, base))
        return 0 if all(statistics.median(p.ours) <= p.goal * statistics.median(p.theirs) for p in rows) else 1
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
