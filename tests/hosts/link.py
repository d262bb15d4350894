# SPDX-License-Identifier: Apache-2.0
"""Links that misbehave, between a client and a server on this machine.

    with link.Proxy(server.port) as proxy:          # a TCP proxy on 127.0.0.1
        proxy.delay = 0.05                          # seconds, each way
        proxy.cut()                                 # every connection ends now, as with a reset
        proxy.silent = True                         # takes everything, passes nothing on
        proxy.turns, proxy.sent, proxy.received     # counted

    with link.Cable() as cable:                     # a network of its own, joined by a cable that can be pulled
        sshd.Sshd(prefix=cable.prefix, address=cable.far_address)
        cable.pull(); cable.plug_in()
"""

import contextlib
import os
import random
import select
import socket
import struct
import subprocess
import threading
import time

PIECE = 1 << 16


class _Pair:
    """One connection: the client's socket, the server's, and what is on its way in each direction."""

    def __init__(self, client, server):
        self.ends = (client, server)
        self.waiting = ([], [])  # (moment, bytes) on the way to ends[0], to ends[1]
        self.open = [True, True]  # whether ends[i] may still send
        self.last = None  # who spoke last

    def close(self):
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()


class Proxy:
    """`port`: where it leads; may be changed for the connections to come."""

    def __init__(self, port, address="127.0.0.1"):
        self.target = (address, port)
        self.delay = 0.0
        self.silent = False
        self.refuse = False  # new connections are ended at once
        self.cut_after = None  # bytes towards the server, of each connection, after which it is cut
        self.turns = 0  # how often the server began to speak after the client had
        self.sent = 0  # bytes towards the server
        self.received = 0
        self.connections = 0
        self.cuts = 0
        self.on_connection = None  # called with the number of the connection, from 1, before it is made
        self._pairs = []
        self._lock = threading.Lock()
        self._wake = os.pipe()
        self._stop = False
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop = True
        os.write(self._wake[1], b"x")
        self._thread.join(10)
        self._listener.close()
        for pair in self._pairs:
            pair.close()
        for end in self._wake:
            os.close(end)

    def reset_counts(self):
        with self._lock:
            self.turns = self.sent = self.received = self.connections = 0
            for pair in self._pairs:
                pair.last = None

    def cut(self):
        """Ends every connection with a reset; returns how many there were."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
            self.cuts += bool(pairs)
            for pair in pairs:
                pair.close()
        os.write(self._wake[1], b"x")
        return len(pairs)

    def cut_at_random(self, times, seconds=(0.0, 0.2), after=100_000, seed=1):
        """A thread that cuts that often: each time once `after` bytes more have come from the server and a random pause has
        passed; every tenth one hits the next connection while it is still logging in. Join it."""
        chance = random.Random(seed)

        def work():
            for number in range(times):
                connections, received = self.connections, self.received
                early = number % 10 == 9
                while self.connections == connections if early else self.received < received + after:
                    time.sleep(0.005)
                    if self._stop:
                        return
                time.sleep(chance.uniform(*seconds))
                self.cut()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

    def _work(self):
        while not self._stop:
            with self._lock:
                pairs = list(self._pairs)
            readable = [self._listener, self._wake[0]]
            readable += [p.ends[i] for p in pairs for i in (0, 1) if p.open[i] and self._has_room(p, 1 - i)]
            now = time.monotonic()
            due = [p.waiting[i][0][0] for p in pairs for i in (0, 1) if p.waiting[i]]
            ready = [p.ends[i] for p in pairs for i in (0, 1) if p.waiting[i] and p.waiting[i][0][0] <= now]
            later = [moment - now for moment in due if moment > now]
            try:
                can_read, can_write, _ = select.select(readable, ready, [], min(later, default=1.0))
            except (OSError, ValueError):  # cut in between
                continue
            if self._wake[0] in can_read:
                os.read(self._wake[0], 1000)
            if self._listener in can_read:
                self._accept()
            with self._lock:
                for pair in [p for p in pairs if p in self._pairs]:
                    self._serve(pair, can_read, can_write)

    def _has_room(self, pair, to):
        return sum(len(data) for _, data in pair.waiting[to]) < 64 * PIECE

    def _accept(self):
        client, _ = self._listener.accept()
        self.connections += 1
        if self.on_connection:
            self.on_connection(self.connections)
        try:
            if self.refuse:
                raise OSError
            server = socket.create_connection(self.target, 5)
        except OSError:
            _Pair(client, client).close()
            return
        for end in (client, server):
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._pairs.append(_Pair(client, server))

    def _serve(self, pair, can_read, can_write):
        try:
            for i in (0, 1):
                if pair.ends[i] in can_read:
                    self._read(pair, i)
                if pair.ends[i] in can_write or (self.delay == 0 and pair.waiting[i]):
                    self._write(pair, i)
        except BlockingIOError:
            return
        except OSError:
            self._drop(pair)
            return
        if pair.open == [False, False] and not any(pair.waiting):
            self._drop(pair)

    def _drop(self, pair):
        pair.close()
        if pair in self._pairs:
            self._pairs.remove(pair)

    def _read(self, pair, i):
        data = pair.ends[i].recv(PIECE)
        if self.silent:
            if not data:
                pair.open[i] = False
            return
        if not data:
            pair.open[i] = False
            pair.waiting[1 - i].append((time.monotonic() + self.delay, b""))
            return
        if i == 0:
            self.sent += len(data)
            if self.cut_after is not None:
                self._count_down(pair, len(data))
        else:
            self.received += len(data)
            self.turns += pair.last == 0
        pair.last = i
        pair.waiting[1 - i].append((time.monotonic() + self.delay, data))

    def _count_down(self, pair, size):
        pair.passed = getattr(pair, "passed", 0) + size
        if pair.passed >= self.cut_after:
            self.cuts += 1
            raise OSError("cut")

    def _write(self, pair, to):
        now = time.monotonic()
        while pair.waiting[to] and pair.waiting[to][0][0] <= now:
            moment, data = pair.waiting[to][0]
            if not data:
                pair.ends[to].shutdown(socket.SHUT_WR)
            else:
                sent = pair.ends[to].send(data)
                if sent < len(data):
                    pair.waiting[to][0] = (moment, data[sent:])
                    return
            pair.waiting[to].pop(0)


class Recorder:
    """A server that is no sshd: takes what comes, says what it is told to say, remembers every byte."""

    def __init__(self, greeting=b"SSH-2.0-OpenSSH_9.2\r\n"):
        self.bytes = b""
        self._greeting = greeting
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _work(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client:
                    client.settimeout(5)
                    client.sendall(self._greeting)
                    with contextlib.suppress(OSError):
                        while piece := client.recv(PIECE):
                            self.bytes += piece


class Cable:
    """A network namespace with one cable to this machine's. Needs root. Names hold our pid, so that each test cleans up its own."""

    _count = 0

    def __init__(self):
        Cable._count += 1
        number = os.getpid() % 200 + 20
        self.name = f"tenon-n{os.getpid()}-{Cable._count}"
        self.near = f"tn{os.getpid() % 100000}n{Cable._count}"
        self.far = f"tn{os.getpid() % 100000}f{Cable._count}"
        self.near_address = f"10.199.{number}.{4 * Cable._count + 1}"
        self.far_address = f"10.199.{number}.{4 * Cable._count + 2}"
        self.prefix = ["ip", "netns", "exec", self.name]

    def __enter__(self):
        try:
            self._ip("netns", "add", self.name)
            self._ip("link", "add", self.near, "type", "veth", "peer", "name", self.far, "netns", self.name)
            self._ip("addr", "add", f"{self.near_address}/30", "dev", self.near)
            self._ip("link", "set", self.near, "up")
            for words in (("addr", "add", f"{self.far_address}/30", "dev", self.far), ("link", "set", self.far, "up"),
                          ("link", "set", "lo", "up")):
                self._ip("-n", self.name, *words)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "link", "del", self.near], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True, check=False)

    def pull(self):
        """Packets vanish; nobody is told."""
        self._ip("-n", self.name, "link", "set", self.far, "down")

    def plug_in(self):
        self._ip("-n", self.name, "link", "set", self.far, "up")

    @staticmethod
    def _ip(*words):
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
