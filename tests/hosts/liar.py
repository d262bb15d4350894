# SPDX-License-Identifier: Apache-2.0
"""A machine that lies: in place of the runner on a host, a program that passes everything on to the real one, but answers `get`
(docs/formats/frames.md) as it likes. `lie_with(far, "unasked")` puts it there, `tell_the_truth(far)` takes it away again."""

from pathlib import Path

LIAR = r'''#!/usr/bin/env python3
import ctypes, hashlib, json, os, struct, subprocess, sys, threading

here = os.path.dirname(os.path.abspath(__file__))
real = os.path.join(here, "the-real-one")
how = open(os.path.join(here, "how")).read()
if sys.argv[1:2] != ["serve"]:
    os.execv(real, [real] + sys.argv[1:])

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_compress.restype = zstd.ZSTD_compressBound.restype = ctypes.c_size_t


def compressed(data):
    room = zstd.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(room)
    size = zstd.ZSTD_compress(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), 1)
    return out.raw[:size]


def read(count):
    data = b""
    while len(data) < count:
        piece = sys.stdin.buffer.raw.read(count - len(data))
        if not piece:
            return None
        data += piece
    return data


lock = threading.Lock()


def say(head, body=b""):
    text = json.dumps(head).encode()
    data = struct.pack("<II", len(text), len(body)) + text + body
    with lock:
        while data:
            data = data[os.write(1, data):]


def batch(*objects):
    return b"".join(digest + struct.pack("<I", len(data)) + data for digest, data in objects)


def lie(wants):
    nobody = hashlib.sha256(b"nobody asked for this").hexdigest()
    zeros = compressed(bytes(60 << 20))
    first = wants[0]
    size = first["size"]
    if how == "unasked-large":
        for number in range(5):  # never finished, so nobody looks at its hash: 300 MB out of some 10 KB
            say({"op": "piece", "hash": nobody, "offset": number * (60 << 20), "total": 1 << 40, "zstd": True}, zeros)
    elif how == "unasked-small":
        say({"op": "objects"}, batch((hashlib.sha256(b"x").digest(), b"x")))
    elif how == "expands":
        say({"op": "piece", "hash": first["hash"], "offset": 0, "total": 61 << 20, "zstd": True}, zeros)
    elif how == "expands-within":
        say({"op": "piece", "hash": first["hash"], "offset": 0, "total": size, "zstd": True}, zeros)
    elif how == "other-bytes":
        say({"op": "objects"}, batch((bytes.fromhex(first["hash"]), bytes(size))))
    elif how == "endless":
        while True:
            say({"op": "objects"})
    elif how == "endless-beats":
        while True:
            say({"op": "alive"})
    say({"ok": True})


agent = subprocess.Popen([real, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def back():
    while True:
        piece = agent.stdout.raw.read(1 << 16) if hasattr(agent.stdout, "raw") else agent.stdout.read1(1 << 16)
        if not piece:
            os._exit(agent.wait())
        with lock:
            while piece:
                piece = piece[os.write(1, piece):]


threading.Thread(target=back, daemon=True).start()
try:
    while True:
        lengths = read(8)
        if lengths is None:
            break
        head, body = struct.unpack("<II", lengths)
        rest = read(head + body)
        if rest is None:
            break
        request = json.loads(rest[:head])
        if request.get("op") == "get":
            lie(request["wants"])
            continue
        agent.stdin.write(lengths + rest)
        agent.stdin.flush()
except BrokenPipeError:
    pass
agent.stdin.close()
os._exit(agent.wait())
'''


def lie_with(far, how):
    """From the next connection on."""
    [runner] = [p for p in far.far_files("bin/tenon-runner-*") if p.is_file()]
    folder = runner.parent
    real = folder / "the-real-one"
    if not real.exists():
        runner.rename(real)
    (folder / "how").write_text(how)
    runner.write_text(LIAR)
    runner.chmod(0o755)
    far.server.drop()  # the agents of the kept connection are the old ones
    return runner


def tell_the_truth(far):
    [real] = far.far_files("bin/the-real-one")
    [runner] = [p for p in Path(real.parent).glob("tenon-runner-*")]
    real.rename(runner)
    far.server.drop()
