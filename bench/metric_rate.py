#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Points per second one Python process can log, and whether all of them are in the files.

    bench/metric_rate.py [--points N] [--rounds N] [--python PYTHON]... [--json]

Each round is a fresh process that logs N floats to one series. Beside it, for scale, one os.write per
point. Nobody reads the files meanwhile; the chunks are counted afterwards. On a busy machine the rate per
second of CPU says more.
"""
import argparse
import glob
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LOG = """
import sys, time
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
n = int(sys.argv[1])
logger.log("loss", 0.5)
start, cpu = time.perf_counter(), time.process_time()
for i in range(n - 1):
    logger.log("loss", 0.5)
print((n - 1) / (time.perf_counter() - start), (n - 1) / (time.process_time() - cpu))
"""

WRITE = """
import os, struct, sys, threading, time
n = int(sys.argv[1])
fd = os.open(os.path.join(os.environ["TENON_METRICS_DIR"], "points"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
pack = struct.Struct("<BBHIdqd").pack
lock = threading.Lock()
series = {"loss": [0, 0]}
def log(name, value, step=None):
    try:
        with lock:
            entry = series[name]
            if step is None:
                step = entry[1]
            os.write(fd, pack(1, 0, 0, entry[0], time.time(), step, value))
            entry[1] = step + 1
    except Exception:
        pass
start, cpu = time.perf_counter(), time.process_time()
for i in range(n):
    log("loss", 0.5)
print(n / (time.perf_counter() - start), n / (time.process_time() - cpu))
"""


def count_points(folder):
    points = 0
    for path in glob.glob(os.path.join(folder, "*.tm")):
        with open(path, "rb") as chunk:
            data = chunk.read()
        pos = 64
        while data[pos]:
            points += data[pos] == 1
            pos += 32 + (struct.unpack_from("<Q", data, pos + 24)[0] + 7 & -8 if data[pos] == 6 else 0)
            if data[pos - 32] in (126, 127):
                break
    return points


def one_round(python, program, points):
    folder = tempfile.mkdtemp(prefix="tenon-bench-")
    try:
        environment = dict(os.environ, TENON_METRICS_DIR=folder, PYTHONPATH=os.path.join(ROOT, "python"),
                           PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run([python, "-c", program, str(points)], env=environment, check=True,
                              stdout=subprocess.PIPE)
        if program is LOG and count_points(folder) != points:
            sys.exit("metric_rate: logged %d points, found %d" % (points, count_points(folder)))
        return tuple(map(float, done.stdout.split()))
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=500000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", action="append")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = []
    for python in args.python or [sys.executable]:
        for what, program in (("log", LOG), ("one write per point", WRITE)):
            rounds = [one_round(python, program, args.points) for _ in range(args.rounds)]
            rates = [wall for wall, _ in rounds]
            rows.append({"python": python, "what": what, "n": args.rounds, "points": args.points,
                         "median": statistics.median(rates), "min": min(rates), "max": max(rates),
                         "median_per_cpu_second": statistics.median(cpu for _, cpu in rounds)})
    if args.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print("%-45s %-20s %9.0f points/s (%.0f to %.0f, %d rounds of %d), %.0f per second of CPU" % (
            row["python"], row["what"], row["median"], row["min"], row["max"], row["n"], row["points"],
            row["median_per_cpu_second"]))


if __name__ == "__main__":
    main()
