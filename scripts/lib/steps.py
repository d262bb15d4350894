# SPDX-License-Identifier: Apache-2.0
"""Runs steps that depend on each other, several at a time, each with a log of its own.

A step is a function that returns Counts. It starts when the steps it needs have passed and enough
of the machine's slots are free; a step whose need failed is counted as failed and not run.
"""

import os
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    remarks: list = field(default_factory=list)

    def __iadd__(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.remarks += other.remarks
        return self

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass
class Step:
    name: str
    work: object              # function(Log) -> Counts
    needs: tuple = ()
    slots: int = 1
    after: tuple = ()         # must have ended, well or not


class Log:
    """Where one step writes; also runs its commands."""

    def __init__(self, path):
        self.path = path
        path.write_bytes(b"")

    def write(self, text):
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(text + "\n")

    def run(self, command, limit, env=None, cwd=None):
        """The exit code; 124 when it was ended for taking longer than `limit` seconds."""
        command = [str(c) for c in command]
        self.write("+ " + " ".join(command))
        with open(self.path, "ab") as f:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=f, stderr=f,
                                       cwd=cwd, env={**os.environ, **(env or {})},
                                       start_new_session=True)
            try:
                return process.wait(limit)
            except BaseException as problem:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if not isinstance(problem, subprocess.TimeoutExpired):
                    raise
        self.write(f"ended after {limit} s, which is too long")
        return 124

    def tail(self, lines=60):
        text = self.path.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])


def count_reports(folder, strict_skips):
    """Adds up the JUnit files that GoogleTest and pytest leave. A skip whose words do not begin
    with "planned:" is a failure when `strict_skips` holds."""
    counts = Counts()
    for report in sorted(folder.glob("**/*.xml")):
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            skip = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                counts.failed += 1
                counts.remarks.append("failed: " + name)
            elif skip is not None or case.get("result") in ("skipped", "suppressed"):
                words = (skip.get("message") if skip is not None else "") or ""
                words = words.strip() or (skip.text if skip is not None else "") or ""
                planned = "planned: " in words
                if strict_skips and not planned:
                    counts.failed += 1
                    counts.remarks.append(f"failed: {name}: skipped without a plan: {words}")
                else:
                    counts.skipped += 1
                    counts.remarks.append(f"skipped: {name}: {words}")
            elif case.get("status") != "notrun":
                counts.passed += 1
    return counts


class Scheduler:
    def __init__(self, steps, slots, log_folder, say=print):
        self.steps = steps
        self.free = slots
        self.slots = slots
        self.log_folder = log_folder
        self.say = say
        self.done = {}
        self.running = set()
        self.changed = threading.Condition()

    def run(self):
        """Runs all steps; returns {name: Counts}."""
        waiting = list(self.steps)
        with self.changed:
            while waiting or self.running:
                step = self._next(waiting)
                if step is None:
                    self.changed.wait(1)
                    continue
                waiting.remove(step)
                broken = [n for n in step.needs if self.done[n].failed]
                if broken:
                    self._finish(step, Counts(failed=1, remarks=[
                        f"failed: {step.name}: not run because {', '.join(broken)} failed"]), 0)
                    continue
                self.running.add(step.name)
                self.free -= min(step.slots, self.slots)
                threading.Thread(target=self._work, args=(step,), daemon=True).start()
        return self.done

    def _next(self, waiting):
        for step in waiting:
            if all(n in self.done for n in (*step.needs, *step.after)):
                if min(step.slots, self.slots) <= self.free:
                    return step
        return None

    def _work(self, step):
        started = time.monotonic()
        log = Log(self.log_folder / f"{step.name}.log")
        try:
            counts = step.work(log)
        except Exception as problem:  # a broken step must not look like a passed one
            log.write(f"{type(problem).__name__}: {problem}")
            counts = Counts(failed=1, remarks=[f"failed: {step.name}: {problem}"])
        if counts.failed:
            counts.remarks.append(f"log: {log.path}\n{log.tail()}")
        with self.changed:
            self.running.discard(step.name)
            self.free += min(step.slots, self.slots)
            self._finish(step, counts, time.monotonic() - started)
            self.changed.notify()

    def _finish(self, step, counts, seconds):
        self.done[step.name] = counts
        self.say(f"{'FAILED' if counts.failed else 'ok':6} {step.name:24} {seconds:7.1f} s   {counts}")
        for remark in counts.remarks:
            self.say("       " + remark)
