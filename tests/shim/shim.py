# SPDX-License-Identifier: Apache-2.0
"""What the shim tests share: the Pythons of this machine, a reader of metric files, a way to run scripts."""
import collections
import glob
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "python"
HEADER = struct.Struct("<8sIIIIQQQQQ")
RECORD = struct.Struct("<BBHIdqQ")

Point = collections.namedtuple("Point", "family series time step value cut")


def _version(python):
    try:
        out = subprocess.run([python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.executable)"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60).stdout.decode()
        number, executable = out.split(None, 1)
        return tuple(map(int, number.split("."))), os.path.realpath(executable.strip())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def pythons():
    """{"3.6.15": path} of every Python from 3.6 on: on PATH and pyenv's, each once."""
    candidates = [sys.executable]
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in ["python3"] + ["python3.%d" % minor for minor in range(6, 30)]:
            candidates.append(os.path.join(folder, name))
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    candidates += sorted(glob.glob(os.path.join(root, "versions", "*", "bin", "python")))
    found, seen = {}, set()
    for candidate in candidates:
        if not os.access(candidate, os.X_OK):
            continue
        known = _version(candidate)
        if known is None or known[0] < (3, 6) or known[1] in seen:
            continue
        seen.add(known[1])
        name = ".".join(map(str, known[0]))
        while name in found:
            name += "+"
        found[name] = candidate
    return found


PYTHONS = pythons()


class Run:
    """One folder of metric files and the scripts that write there."""

    def __init__(self, python, folder):
        self.python = python
        self.folder = folder
        self.metrics = folder / "metrics"
        self.killed = False  # a process that logs was
        self.outputs = folder / "outputs"
        self._points = None
        self.metrics.mkdir()
        self.outputs.mkdir()
        self.environment = dict(os.environ, TENON_METRICS_DIR=str(self.metrics),
                                TENON_OUTPUTS_DIR=str(self.outputs), TENON_RUN_ID="proj_1",
                                PYTHONPATH=str(SHIM), PYTHONDONTWRITEBYTECODE="1",
                                PYTHONIOENCODING="utf-8")

    def popen(self, script, *args, **options):
        path = self.folder / "script.py"
        path.write_text(script, encoding="utf-8")
        return subprocess.Popen([self.python, str(path)] + list(args), env=self.environment, **options)

    def script(self, script, *args, code=0):
        """Runs to the end; the output must be what the script itself prints, nothing more."""
        process = self.popen(script, *args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate(timeout=240)
        assert process.returncode == code, (process.returncode, out, err)
        assert err == b"", err
        return out.decode()

    def points(self):
        """To be called when nothing writes any more: the files are read once."""
        if self._points is None:
            self._points = self._read_points()
        return self._points

    def _read_points(self):
        return [point for chunk in self.chunks() for point in chunk.points]

    def values(self, series):
        return [point.value for point in self.points() if point.series == series]

    def chunks(self):
        files = []
        for path in self.metrics.glob("*.tm"):
            family, number = path.name[:-3].split(".")
            files.append((family, int(number), path))
        return [Chunk(family, number, path, self.killed) for family, number, path in sorted(files)]


LONGEST_TORN = 16  # payload of what the killed scripts log


class Chunk:
    """A metric file read by the format page alone."""

    def __init__(self, family, number, path, killed=False):
        self.family, self.number, self.path = family, number, path
        data = path.read_bytes()
        (magic, version, self.pid, n, zero, size, self.namespace, self.start, self.want,
         self.synced) = HEADER.unpack_from(data)
        assert (magic, version, n, zero, size) == (b"TENONTM\n", 1, number, 0, len(data))
        assert family.startswith("%d-" % self.pid)
        self.points, self.names, self.dropped, self.last = [], {}, 0, 0
        pos = HEADER.size
        while self.last not in (126, 127) and pos + RECORD.size <= len(data) and data[pos]:
            pos = self._record(data, pos)
        self.end = pos
        # A process that was killed may have been writing one: its tag comes last.
        torn = RECORD.size + LONGEST_TORN if killed else 0
        assert not any(data[pos + torn:]), "something behind the last record"

    def _record(self, data, pos):
        tag, flags, zero, series, time, step, raw = RECORD.unpack_from(data, pos)
        assert zero == 0 and flags in (0, 1)
        self.last = tag
        pos += RECORD.size
        length = raw if tag in (4, 6) else raw * 8 if tag == 5 else 0
        payload = data[pos:pos + length]
        assert len(payload) == length
        if tag == 6:
            assert self.names.setdefault(series, payload.decode()) == payload.decode()
        elif tag == 7:
            self.dropped += raw
        elif tag in (1, 2, 3, 4, 5):
            value = {1: lambda: struct.unpack("<d", struct.pack("<Q", raw))[0],
                     2: lambda: struct.unpack("<q", struct.pack("<Q", raw))[0],
                     3: lambda: {0: False, 1: True}[raw],
                     4: payload.decode,
                     5: lambda: list(struct.unpack("<%dd" % raw, payload))}[tag]()
            self.points.append(Point(self.family, self.names[series], time, step, value, flags == 1))
        else:
            assert tag in (126, 127), tag
        return pos + (length + 7 & -8)


class Reader(threading.Thread):
    """Stands in for the runner: answers those who wait, once it is started."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_folder = run
        os.mkfifo(str(run.metrics / "wake"))
        self.fd = os.open(str(run.metrics / "wake"), os.O_RDWR)
        self.woken = 0

    def run(self):
        while os.read(self.fd, 4096)[-1:] != b"q":
            self.woken += 1
            for path in self.run_folder.metrics.glob("*.tm"):
                with open(str(path), "r+b", buffering=0) as chunk:
                    chunk.seek(48)
                    want = chunk.read(8)
                    chunk.seek(56)
                    chunk.write(want)

    def stop(self):
        os.write(self.fd, b"q")
        self.join()
        os.close(self.fd)
