# SPDX-License-Identifier: Apache-2.0
"""A registry on 127.0.0.1 that has one image, refuses another and knows no more. Engines speak plain HTTP to that address."""

import gzip
import hashlib
import http.server
import json
import threading


def _digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Registry:
    """`layers`: tar files of the image `good:1`, as bytes. `refused:1` needs a password nobody has; the rest is unknown."""

    def __init__(self, layers):
        packed = [gzip.compress(layer, 1, mtime=0) for layer in layers]
        config = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Env": ["PATH=/bin"]},
                             "rootfs": {"type": "layers", "diff_ids": [_digest(layer) for layer in layers]},
                             "history": [{"created_by": "tests"} for _ in layers]}).encode()
        kind = "application/vnd.docker.distribution.manifest.v2+json"
        self._manifest_kind = kind
        self._manifest = json.dumps({
            "schemaVersion": 2, "mediaType": kind,
            "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(config),
                       "digest": _digest(config)},
            "layers": [{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", "size": len(p),
                        "digest": _digest(p)} for p in packed]}).encode()
        self._blobs = {_digest(data): data for data in [config, *packed]}
        self._server = None

    def __enter__(self):
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                status, kind, data = registry._answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                if "/manifests/" in self.path and status == 200:
                    self.send_header("Docker-Content-Digest", _digest(data))
                if status == 401:
                    self.send_header("WWW-Authenticate", 'Basic realm="tests"')
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def name(self, image):
        return f"127.0.0.1:{self._server.server_address[1]}/{image}"

    def _answer(self, path):
        if path.rstrip("/") == "/v2":
            return 200, "application/json", b"{}"
        if path.startswith("/v2/refused/"):
            return 401, "application/json", _errors("UNAUTHORIZED", "authentication required")
        if path.startswith("/v2/good/manifests/") and (path.endswith("/1") or path.endswith(_digest(self._manifest))):
            return 200, self._manifest_kind, self._manifest
        blob = self._blobs.get(path.rsplit("/", 1)[1])
        if path.startswith("/v2/good/blobs/") and blob is not None:
            return 200, "application/octet-stream", blob
        return 404, "application/json", _errors("MANIFEST_UNKNOWN", "manifest unknown")


def _errors(code, message):
    return json.dumps({"errors": [{"code": code, "message": message}]}).encode()
