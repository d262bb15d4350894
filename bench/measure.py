# SPDX-License-Identifier: Apache-2.0
"""What the benches share: jobs in turns, medians with their spread, and the table at the end."""

import argparse
import statistics
import sys
import time

ROWS = []


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alternate(n, *jobs):
    """Runs the jobs in turns, so that a slow moment of the machine hits all of them."""
    results = [[] for _ in jobs]
    for job in jobs:
        job()
    for _ in range(n):
        for job, result in zip(jobs, results):
            result.append(job())
    return results


def spread(values, unit, digits=2):
    values = sorted(values)
    median = statistics.median(values)
    return f"{median:.{digits}f} {unit} ({values[0]:.{digits}f} to {values[-1]:.{digits}f})"


def ms(values):
    return spread((v * 1000 for v in values), "ms")


def s(values):
    return spread(values, "s")


def ratio(ours, peer):
    return f"{statistics.median(ours) / statistics.median(peer):.2f}"


def row(what, n, ours, peer, how, goal):
    ROWS.append((what, n, ours, peer, how, goal))
    print("  ".join(str(c) for c in ROWS[-1]), file=sys.stderr, flush=True)


def options(doc, benches):
    """The command line all benches take: --quick and the names of some."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller, to see that it works")
    parser.add_argument("name", nargs="*", choices=[*benches, []], help="only these")
    return parser.parse_args()


def run(benches, names, bench):
    for name in names or benches:
        benches[name](bench)
    print("| what | N | Tenon | peer | ratio or difference | goal |\n| --- | --- | --- | --- | --- | --- |")
    for cells in ROWS:
        print("| " + " | ".join(str(c) for c in cells) + " |")
