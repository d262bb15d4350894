# SPDX-License-Identifier: Apache-2.0
"""A client of the runner's `serve` (docs/runner.md): frames over the pipes of a process.

    with Agent([runner, "serve"]) as agent:
        answer = agent.ask("read", path="/etc/hostname", offset=0, max=100)
        answer["ok"], answer.body
"""

import hashlib
import json
import os
import select
import struct
import subprocess
import time

from e2e.journal_py import unzstd

GREETING = b"tenon-agent 1\n"


class Answer(dict):
    """The head of a frame, with its body, which travelled as `raw`."""

    def __init__(self, head, body):
        super().__init__(head)
        self.raw = body
        self.body = unzstd(body) if head.get("zstd") else body


class Gone(Exception):
    """The agent has ended."""


def frame(head, body=b""):
    text = json.dumps(head).encode()
    return struct.pack("<II", len(text), len(body)) + text + body


def batch(*objects):
    """The body of an `objects` frame."""
    return b"".join(hashlib.sha256(o).digest() + struct.pack("<I", len(o)) + o for o in objects)


class Agent:
    def __init__(self, command, env=None, cwd="/", greeting=True):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=env, cwd=cwd, bufsize=0)
        self.buffer = b""
        self.noise = None
        if greeting:
            self.greet()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self, timeout=20):
        """Ends the conversation; the exit code."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.stdout.close()
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stderr.close()

    def greet(self, timeout=20):
        while GREETING not in self.buffer:
            self._read(time.monotonic() + timeout)
        self.noise, self.buffer = self.buffer.split(GREETING, 1)

    def send(self, op, body=b"", **members):
        self.send_bytes(frame({"op": op, **members}, body))

    def send_bytes(self, data):
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view):]

    def receive(self, timeout=20):
        deadline = time.monotonic() + timeout
        while len(self.buffer) < 8:
            self._read(deadline)
        head, body = struct.unpack("<II", self.buffer[:8])
        pieces, have = [self.buffer], len(self.buffer)
        while have < 8 + head + body:
            self.buffer = b""
            self._read(deadline)
            pieces.append(self.buffer)
            have += len(self.buffer)
        whole = b"".join(pieces)
        self.buffer = whole[8 + head + body:]
        return Answer(json.loads(whole[8:8 + head]), whole[8 + head:8 + head + body])

    def ask(self, op, body=b"", timeout=20, **members):
        self.send(op, body, **members)
        return self.receive(timeout)

    def _read(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
            raise TimeoutError("the agent said nothing")
        piece = os.read(self.process.stdout.fileno(), 1 << 20)
        if not piece:
            raise Gone(self.process.stderr.read().decode(errors="replace"))
        self.buffer += piece


class Followed:
    """What `follow` told: the bytes of each file, and the rest in order."""

    def __init__(self, agent, files, lock=None, stream=1):
        self.agent = agent
        self.stream = stream
        self.bytes = [b"" for _ in files]
        self.offsets = [offset for _, offset in files]
        self.events = []
        members = {"lock": str(lock)} if lock else {}
        agent.send("follow", id=stream, files=[{"path": str(p), "offset": o} for p, o in files], **members)

    def step(self, timeout=20):
        """Takes one frame in; what it was about."""
        return self.take(self.agent.receive(timeout))

    def take(self, told):
        assert told.pop("id") == self.stream
        if "file" in told:
            at = told["file"]
            assert told["offset"] == self.offsets[at] + len(self.bytes[at]), "a gap, or bytes twice"
            self.bytes[at] += told.body
            return ("file", at)
        event = next(iter(told.items()))
        if event != ("alive", True):
            self.events.append((*event, [len(b) for b in self.bytes]))
        return event

    def until(self, condition, timeout=20):
        deadline = time.monotonic() + timeout
        while not condition(self):
            self.step(deadline - time.monotonic())

    def end(self):
        """Ends it; the answer of the request after that."""
        self.agent.send("unfollow", id=self.stream)
        self.agent.send("hello")
        while "id" in (told := self.agent.receive()):
            self.take(told)
        return told
