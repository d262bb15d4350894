# SPDX-License-Identifier: Apache-2.0
"""`tenon forward` into a container whose server listens on its localhost alone, as TensorBoard, notebooks and debuggers do."""

import concurrent.futures
import hashlib
import signal
import urllib.error
import urllib.request

from e2e.harness import wait_until
from hosts.sshd import free_port

PORT = 6006

SERVER = f"""
import hashlib, http.server, time
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words): pass
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"inside" * 500_000)
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(hashlib.sha256(body).hexdigest().encode())
print("begin", flush=True)
while True:
    try:
        open("listen").close()
        break
    except OSError: time.sleep(0.02)
http.server.ThreadingHTTPServer(("127.0.0.1", {PORT}), Answer).serve_forever()
"""


def ask(port, body=None):
    """None: nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", body, timeout=60) as answer:
            return answer.read()
    except (OSError, urllib.error.URLError):
        return None


def check(runs, folder):
    """The folder's main.py is SERVER; ends its run."""
    watcher = runs.start(folder)
    watcher.wait_for("begin", timeout=120)
    here = free_port()
    forward = runs.tenon.start("forward", "last", f"{PORT}:{here}", cwd=folder)
    forward.wait_for(f"http://127.0.0.1:{here}/", timeout=60)
    assert ask(here) is None
    wait_until(lambda: "nothing listens" in forward.err, what="the word about nobody listening")
    runs.tenon.run("exec", "last", "--", "touch", "listen", cwd=folder).ok()
    whole = b"inside" * 500_000
    assert wait_until(lambda: ask(here), what="the server inside") == whole
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        assert set(pool.map(lambda _: ask(here), range(12))) == {whole}
    body = bytes(range(256)) * 20_000
    assert ask(here, body) == hashlib.sha256(body).hexdigest().encode()
    forward.send(signal.SIGINT)
    assert forward.wait().code == 0
    assert ask(here) is None
    # The end of the run is the end of a forward that notices it.
    last = runs.tenon.start("forward", "last", f"{PORT}:{here}", cwd=folder)
    last.wait_for(f"http://127.0.0.1:{here}/", timeout=60)
    runs.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    assert watcher.wait().code == 143
    ask(here)
    done = last.wait()
    assert done.code == 3 and "not there any more" in done.err, repr(done)
