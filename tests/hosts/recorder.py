# SPDX-License-Identifier: Apache-2.0
"""An engine that claims to be another one: stands before a real engine, says what it is told to about versions, runtimes and
devices, writes down every container that is asked for, and takes the GPU, and the
limits that go with it, out before the real engine sees them: it may be allowed neither."""

import contextlib
import json
import re
import socket
import threading

from hosts.api import Api


class Recorder:
    """`api`: the version it claims. `runtimes`, `cdi`: what /info tells besides the real ones. `refuse`: {"nvidia" | "cdi" |
    "runtime" | "limits": words}: start of a container that asks for it is refused with these words."""

    def __init__(self, path, real, api="1.41", name=None, version=None, runtimes=(), cdi=(), refuse=None):
        self.path = str(path)
        self.created = []  # bodies of POST /containers/create, as they came
        self.versions = set()  # API versions that were spoken
        self.pulled = []
        self._real = str(real)
        self._claims = {"api": api, "name": name, "version": version, "runtimes": runtimes, "cdi": cdi}
        self._refuse = refuse or {}
        self._refused = {}  # container id -> words
        self._listener = None

    @property
    def variables(self):
        return {"DOCKER_HOST": f"unix://{self.path}"}

    def __enter__(self):
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError, ValueError):
            data = b""
            while b"\r\n\r\n" not in data:
                piece = client.recv(65536)
                if not piece:
                    return
                data += piece
            head, body = data.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            method, url, _ = lines[0].split(" ", 2)
            headers = [line for line in lines[1:] if not line.lower().startswith("connection:")]
            spoken = re.match(r"/v(\d+\.\d+)/", url)
            if spoken:
                self.versions.add(spoken.group(1))
                url = url[spoken.end() - 1:]
            self._answer(client, method, url, headers, body)

    def _answer(self, client, method, url, headers, body):
        path = url.split("?")[0]
        if path == "/version":
            return self._send(client, self._version())
        if path == "/info":
            return self._send(client, self._info())
        if method == "POST" and path == "/images/create":
            self.pulled.append(url)
        if method == "POST" and path == "/containers/create":
            return self._create(client, url, headers, body)
        started = re.fullmatch(r"/containers/([0-9a-f]+|[^/]+)/start", path)
        if method == "POST" and started and started.group(1) in self._refused:
            return self._send(client, {"message": self._refused[started.group(1)]}, 500)
        return self._pass_on(client, method, url, headers, body)

    def _version(self):
        told = Api(self._real).json("GET", "/version")
        told["ApiVersion"] = self._claims["api"]
        told["MinAPIVersion"] = "1.24"
        if self._claims["version"]:
            told["Version"] = self._claims["version"]
        for part in told.get("Components", []):
            if part["Name"] == "Engine":
                part["Details"]["ApiVersion"] = self._claims["api"]
                part["Version"] = told["Version"]
                part["Name"] = self._claims["name"] or part["Name"]
        return told

    def _info(self):
        told = Api(self._real).json("GET", "/info")
        for runtime in self._claims["runtimes"]:
            told["Runtimes"][runtime] = {"path": runtime}
        if self._claims["cdi"]:
            told["DiscoveredDevices"] = [{"Source": "cdi", "ID": name} for name in self._claims["cdi"]]
            told["CDISpecDirs"] = ["/etc/cdi"]
        return told

    def _create(self, client, url, headers, body):
        length = next(int(h.split(":")[1]) for h in headers if h.lower().startswith("content-length:"))
        while len(body) < length:
            body += client.recv(65536)
        asked = json.loads(body)
        self.created.append(json.loads(body))
        host = asked.get("HostConfig", {})
        kinds = {r["Driver"] for r in host.pop("DeviceRequests", None) or []}
        if host.pop("Runtime", None) == "nvidia":
            kinds.add("runtime")
        if kinds and host.pop("Ulimits", None):
            kinds.add("limits")
        answer = Api(self._real).json("POST", url, asked)
        name = re.search(r"[?&]name=([^&]+)", url)
        for kind in kinds & set(self._refuse):
            self._refused[answer["Id"]] = self._refuse[kind]
            if name:
                self._refused[name.group(1)] = self._refuse[kind]
        for kind in ("nvidia", "cdi", "runtime", "limits"):
            if kind in kinds and kind not in self._refuse and name:
                self._refused.pop(name.group(1), None)
        self._send(client, answer, 201)

    @staticmethod
    def _send(client, value, status=200):
        data = json.dumps(value).encode()
        client.sendall(f"HTTP/1.1 {status} Answer\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
                       "Connection: close\r\n\r\n".encode() + data)

    def _pass_on(self, client, method, url, headers, body):
        upgrade = any(h.lower().startswith("upgrade:") for h in headers)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as real:
            real.connect(self._real)
            head = [f"{method} {url} HTTP/1.1", *headers, "Connection: " + ("Upgrade" if upgrade else "close")]
            real.sendall("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)
            forward = threading.Thread(target=_copy, args=(client, real), daemon=True)
            forward.start()
            _copy(real, client)


def _copy(source, target):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
