# SPDX-License-Identifier: Apache-2.0
"""The Docker Engine API over a Unix socket, as far as the tests need it: no docker program, nothing of Tenon."""

import http.client
import json
import socket
import struct
import urllib.parse


class ApiError(Exception):
    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status


class _Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("engine", timeout=timeout)
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Api:
    """One connection per call. An answer of 400 and above is an ApiError."""

    def __init__(self, path, timeout=120):
        self.path = str(path)
        self.timeout = timeout

    def call(self, method, url, body=None, query=None):
        """The answer's bytes. `body`: a JSON value, bytes, or an open file."""
        if query:
            url += "?" + urllib.parse.urlencode(query, doseq=True)
        headers = {}
        if body is not None and not isinstance(body, bytes) and not hasattr(body, "read"):
            body = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        elif body is not None:
            headers["Content-Type"] = "application/x-tar"
        connection = _Connection(self.path, self.timeout)
        try:
            connection.request(method, url, body=body, headers=headers, encode_chunked=False)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if answer.status >= 400:
            try:
                message = json.loads(data)["message"]
            except (ValueError, KeyError, TypeError):
                message = data.decode("utf-8", "replace")
            raise ApiError(answer.status, message)
        return data

    def json(self, method, url, body=None, query=None):
        return json.loads(self.call(method, url, body, query) or b"null")

    def find(self, url):
        """The JSON, or None when the engine answers 404."""
        try:
            return self.json("GET", url)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def ping(self):
        try:
            return self.call("GET", "/_ping") == b"OK"
        except (OSError, http.client.HTTPException, ApiError):
            return False

    # Images

    def load_root(self, tar_path, name, changes=()):
        """Makes an image from a tar of a root folder. `changes`: Dockerfile lines (ENV, USER, CMD)."""
        repository, tag = name.rsplit(":", 1)
        query = {"fromSrc": "-", "repo": repository, "tag": tag, "changes": list(changes)}
        with open(tar_path, "rb") as tar:
            answer = self.call("POST", "/images/create", tar, query)
        for line in answer.decode().splitlines():
            told = json.loads(line)
            if "error" in told:
                raise ApiError(500, told["error"])
        # Podman forgets the tag.
        self.call("POST", f"/images/{told['status']}/tag", query={"repo": repository, "tag": tag})
        return told["status"]

    def image(self, name):
        return self.find(f"/images/{name}/json")

    def images(self, label=None):
        query = {"filters": json.dumps({"label": [label]})} if label else None
        return self.json("GET", "/images/json", query=query)

    def remove_image(self, name):
        self.call("DELETE", f"/images/{name}", query={"force": "1"})

    def derive(self, base, name, changes=(), command=None):
        """An image made from another one: settings changed and, with a command, files too."""
        made = self.json("POST", "/containers/create", {"Image": base, "Cmd": command or ["x"]})["Id"]
        try:
            if command:
                self.call("POST", f"/containers/{made}/start")
                code = self.json("POST", f"/containers/{made}/wait")["StatusCode"]
                assert code == 0, self.logs(made)
            repository, tag = name.rsplit(":", 1)
            self.call("POST", "/commit", {}, {"container": made, "repo": repository, "tag": tag,
                                              "changes": list(changes)})
        finally:
            self.remove(made)
        return self.image(name)["Id"]

    # Containers

    def containers(self, label=None):
        """All of them, ended ones too."""
        query = {"all": "1"}
        if label:
            query["filters"] = json.dumps({"label": [label]})
        return self.json("GET", "/containers/json", query=query)

    def inspect(self, container):
        return self.find(f"/containers/{container}/json")

    def run(self, image, command, host=None, **config):
        """(exit code, output) of a container that is removed afterwards."""
        body = {"Image": image, "Cmd": command, "HostConfig": host or {}, **config}
        made = self.json("POST", "/containers/create", body)["Id"]
        try:
            self.call("POST", f"/containers/{made}/start")
            code = self.json("POST", f"/containers/{made}/wait")["StatusCode"]
            return code, self.logs(made)
        finally:
            self.remove(made)

    def logs(self, container):
        data = self.call("GET", f"/containers/{container}/logs", query={"stdout": 1, "stderr": 1})
        text, at = b"", 0
        while at + 8 <= len(data):
            size = struct.unpack_from(">I", data, at + 4)[0]
            text += data[at + 8:at + 8 + size]
            at += 8 + size
        return text.decode("utf-8", "replace")

    def remove(self, container):
        try:
            self.call("DELETE", f"/containers/{container}", query={"force": 1, "v": 1})
        except ApiError as error:
            if error.status not in (404, 409):
                raise

    def volumes(self):
        return self.json("GET", "/volumes")["Volumes"] or []

    def networks(self):
        """Those that somebody made."""
        return [n for n in self.json("GET", "/networks") if n["Name"] not in ("bridge", "host", "none", "podman")]
