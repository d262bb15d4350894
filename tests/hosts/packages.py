# SPDX-License-Identifier: Apache-2.0
"""Packages and an index of the tests' own: small wheels, served over HTTP, with or without a password, and everything that
was asked for on record."""

import base64
import contextlib
import hashlib
import http.server
import io
import threading
import zipfile


def wheel(name, version, code="", requires=()):
    """(file name, bytes) of a wheel with one module of the package's name."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    files = {
        f"{module}.py": f'__version__ = "{version}"\n{code}',
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
                            + "".join(f"Requires-Dist: {r}\n" for r in requires),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(text.encode())}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), text)
    return f"{module}-{version}-py3-none-any.whl", data.getvalue()


class Index:
    """A simple index (PEP 503) on all addresses of this machine.

    `password`: asked for with the user name "tenon". `hold`: an Event that downloads of wheels wait for (not questions
    about them). Also answers as an HTTP proxy: a request for a whole address is answered by its path."""

    def __init__(self, password=None, hold=None):
        self.requests = []  # (method, path, authorization header or None)
        self.headers = []
        self._files = {}
        self._password = password
        self._hold = hold
        self._server = None

    def add(self, name, version, **options):
        file_name, data = wheel(name, version, **options)
        self._files.setdefault(name.lower().replace("_", "-"), {})[file_name] = data
        return self

    def __enter__(self):
        self._server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        if self._hold is not None:
            self._hold.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self):
        return self._server.server_address[1]

    def url(self, host="127.0.0.1", password=None):
        credentials = f"tenon:{password}@" if password else ""
        return f"http://{credentials}{host}:{self.port}/simple/"

    def downloads(self):
        """Names of the wheels that were fetched whole."""
        return [path.rsplit("/", 1)[1] for method, path, _ in self.requests if method == "GET" and path.endswith(".whl")]

    def _handler(index):  # pylint: disable=no-self-argument
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                path = self.path
                if path.startswith("http://"):
                    path = "/" + path.split("/", 3)[3]
                index.requests.append((self.command, path, self.headers.get("Authorization")))
                index.headers.append(dict(self.headers))
                with contextlib.suppress(ConnectionError):
                    if index._hold is not None and self.command == "GET" and path.endswith(".whl"):
                        index._hold.wait(600)
                    self.answer(*index._answer(path, self.headers.get("Authorization")))

            def answer(self, status, kind, data):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                if kind == "application/octet-stream":
                    self.send_header("Cache-Control", "max-age=365000000, immutable, public")  # as PyPI says of files
                if status == 401:
                    self.send_header("WWW-Authenticate", 'Basic realm="packages"')
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

        return Handler

    def _answer(self, path, authorization):
        if self._password is not None:
            wanted = "Basic " + base64.b64encode(f"tenon:{self._password}".encode()).decode()
            if authorization != wanted:
                return 401, "text/plain", b"no"
        parts = path.split("?")[0].strip("/").split("/")
        if len(parts) == 2 and parts[0] == "simple" and parts[1] in self._files:
            links = "".join(f'<a href="/files/{parts[1]}/{f}">{f}</a>\n' for f in self._files[parts[1]])
            return 200, "text/html", f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
        if len(parts) == 3 and parts[0] == "files" and parts[2] in self._files.get(parts[1], {}):
            return 200, "application/octet-stream", self._files[parts[1]][parts[2]]
        return 404, "text/plain", b"not here"
