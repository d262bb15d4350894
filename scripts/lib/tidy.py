# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources of a build by clang: `tidy.py ROOT BUILD`.

What passed once is not looked at again until it changes: the source, a header it includes, the
compiler's options, .clang-tidy or clang-tidy itself. BUILD/tidy has one empty file for each pass.
"""

import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = re.compile(r"/src/.*(?<!_test)(?<!_fuzz)\.cc$")


@functools.lru_cache(maxsize=None)
def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def includes(entry):
    """Every file that the compiler reads for this one."""
    words = shlex.split(entry["command"])
    words = words[1:] if Path(words[0]).name == "ccache" else words
    words[words.index("-o"):words.index("-o") + 2] = []
    made = subprocess.run([w for w in words if w != "-c"] + ["-M"], cwd=entry["directory"],
                          capture_output=True, text=True, check=True).stdout
    names = made.replace("\\\n", " ").split(":", 1)[1].split()
    return sorted({os.path.join(entry["directory"], n) for n in names})


class Tidy:
    def __init__(self, root, build):
        self.build = build
        self.passed = build / "tidy"
        self.passed.mkdir(exist_ok=True)
        version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True)
        self.setting = version.stdout + digest(root / ".clang-tidy")

    def look_at(self, entry):
        """(file, how it ended, what clang-tidy says)"""
        try:
            parts = [self.setting, entry["command"], *map(digest, includes(entry))]
        except subprocess.CalledProcessError as problem:
            return entry["file"], "failed", problem.stderr
        mark = self.passed / hashlib.sha256("\0".join(parts).encode()).hexdigest()
        if mark.exists():
            return entry["file"], "unchanged", ""
        ran = subprocess.run(["clang-tidy", "-quiet", "-p", self.build, entry["file"]],
                             capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            mark.touch()
        return entry["file"], "failed" if ran.returncode else "passed", ran.stdout + ran.stderr


def main(root, build):
    entries = [e for e in json.loads((build / "compile_commands.json").read_text())
               if SOURCE.search(e["file"])]
    tidy = Tidy(root, build)
    ends = {"unchanged": 0, "passed": 0, "failed": 0}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, end, words in pool.map(tidy.look_at, entries):
            ends[end] += 1
            if end == "failed":
                print(f"{file}:\n{words}", flush=True)
    print(", ".join(f"{count} {end}" for end, count in ends.items()))
    return 1 if ends["failed"] or not entries else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
