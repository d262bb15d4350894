# SPDX-License-Identifier: Apache-2.0
"""Reads and writes segments, and writes object stores, from their format pages alone (docs/formats), so that the
programs' own reading and writing is checked against something else."""

import ctypes
import hashlib
import json
import os
import struct
import time
import uuid

TYPES = {1: "submitted", 2: "state", 3: "step", 4: "output", 5: "metrics", 6: "artifacts",
         7: "notice", 8: "end", 9: "gap", 10: "runner", 11: "annotation", 12: "script"}


def _make_table():
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _make_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


class Record:
    def __init__(self, number, time_us, kind, payload):
        self.number = number
        self.time_us = time_us
        self.type = TYPES.get(kind, kind)
        self.payload = payload

    @property
    def json(self):
        return json.loads(self.payload)

    def __repr__(self):
        return f"{self.number} {self.type} {self.payload[:300]!r}"


class Journal:
    """The whole records of a segment. Bytes at the end that make none are ignored (a torn tail);
    anything wrong before that fails. `check` computes the sums of small records."""

    def __init__(self, path, check=True):
        with open(path, "rb") as f:
            data = f.read()
        assert data[:8] == b"TENONJ1\n", data[:64]
        self.run_key = str(uuid.UUID(bytes=data[8:24]))
        self.records = []
        at = 64
        while at + 28 <= len(data):
            crc, length, number, time_us, kind = struct.unpack_from("<IIQqB", data, at)
            end = at + 28 + length
            if end > len(data):
                break
            assert data[at + 25:at + 28] == b"\0\0\0", f"no record at {at}"
            if check and length < 4096:
                assert crc32c(data[at + 4:end]) == crc, f"damaged record at {at}"
            if self.records:
                assert number > self.records[-1].number
            self.records.append(Record(number, time_us, kind, data[at + 28:end]))
            at = end

    def of(self, kind):
        return [r for r in self.records if r.type == kind]

    def stream(self, number):
        return b"".join(r.payload[1:] for r in self.of("output") if r.payload[0] == number)

    @property
    def stdout(self):
        return self.stream(1)

    @property
    def stderr(self):
        return self.stream(2)

    @property
    def states(self):
        return [r.json["state"] for r in self.of("state")]

    @property
    def notices(self):
        return [r.json for r in self.of("notice")]

    @property
    def end(self):
        ends = self.of("end")
        assert len(ends) <= 1, ends
        return ends[0].json if ends else None

    def metrics(self):
        """[(series, step, value)] in the order of the journal."""
        points = []
        for record in self.of("metrics"):
            points += decode_metrics(record.payload)
        return points


def hide(path, kind):
    """Makes the records of that type ones that no program knows, so that they say nothing."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at = 64
    while at + 28 <= len(data):
        _, length, _, _, number = struct.unpack_from("<IIQqB", data, at)
        end = at + 28 + length
        if TYPES.get(number) == kind:
            data[at + 24] = 250
            struct.pack_into("<I", data, at, crc32c(bytes(data[at + 4:end])))
        at = end
    with open(path, "r+b") as f:
        f.write(data)


class _Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        piece = self.data[self.at:self.at + count]
        assert len(piece) == count
        self.at += count
        return piece

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def text(self):
        return self.take(self.varint()).decode("utf-8", "replace")


def unzstd(frame):
    """One zstd frame with its size inside. The system's library: dpkg itself needs it."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    size = zstd.ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame)))
    assert size < 1 << 30, "no zstd frame"
    out = ctypes.create_string_buffer(size)
    got = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)))
    assert got == size, "damaged zstd frame"
    return out.raw


def zstd(data):
    """One zstd frame with its size inside."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    room = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(room)
    size = library.ZSTD_compress(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), 3)
    assert size <= room, "zstd failed"
    return out.raw[:size]


def segment_header(run_key, segment, time_us=1_500_000_000_000_000):
    body = uuid.UUID(run_key).bytes + hashlib.sha256(segment.encode()).digest()[:8]
    body += struct.pack("<qB3x8s8x", time_us, 1, bytes(8))
    return b"TENONJ1\n" + body + struct.pack("<I", crc32c(body))


def record_bytes(number, kind, payload, time_us=1_500_000_000_000_000):
    """`kind`: a name of TYPES or a number; `payload`: bytes, or what becomes JSON."""
    if not isinstance(payload, bytes):
        payload = json.dumps(payload).encode()
    if not isinstance(kind, int):
        kind = next(k for k, name in TYPES.items() if name == kind)
    rest = struct.pack("<IQqB3x", len(payload), number, time_us, kind) + payload
    return struct.pack("<I", crc32c(rest)) + rest


def append_records(path, records):
    """Adds (kind, payload) to the end of a segment that nobody writes."""
    last = Journal(path).records[-1]
    with open(path, "ab") as f:
        for i, (kind, payload) in enumerate(records):
            f.write(record_bytes(last.number + 1 + i, kind, payload, last.time_us))


def decode_metrics(payload):
    data = _Bytes(unzstd(payload[1:]) if payload[0] == 1 else payload[1:])
    points = []
    for _ in range(data.varint()):
        series, _source, _position = data.text(), data.text(), data.varint()
        count, kind = data.varint(), data.byte()
        steps, step = [], 0
        for _ in range(count):
            step += data.zigzag()
            steps.append(step)
        for _ in range(count):
            data.zigzag()
        if kind == 0:
            planes = [data.take(count) for _ in range(8)]
            values = [struct.unpack("<d", bytes(p[i] for p in planes))[0] for i in range(count)]
        elif kind == 1:
            values, value = [], 0
            for _ in range(count):
                value += data.zigzag()
                values.append(value)
        elif kind == 2:
            values = [bool(b) for b in data.take(count)]
        elif kind == 3:
            values = [data.text() for _ in range(count)]
        else:
            raise AssertionError(f"kind {kind} of metrics is not for this decoder")
        points += list(zip([series] * count, steps, values))
    return points


def _varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def store_tree(store, folder):
    """Freezes a folder (few files per folder) into one pack; the root's hash in hex."""
    objects = {}

    def put(data):
        digest = hashlib.sha256(data).digest()
        objects[digest] = data
        return digest

    def node(path):
        items = []
        for name in sorted(os.listdir(os.fsencode(path))):
            full = os.path.join(os.fsencode(path), name)
            mode = os.lstat(full).st_mode
            head = _varint(len(name)) + name
            if os.path.isdir(full):
                items.append(head + b"\3" + _varint(mode & 0o777) + node(full))
            else:
                with open(full, "rb") as f:
                    data = f.read()
                items.append(head + b"\1" + _varint(mode & 0o777) + _varint(len(data)) + put(data))
        assert len(items) < 50
        return put(b"TN\1\0" + _varint(len(items)) + b"".join(items))

    root = node(folder)
    write_pack(store, objects)
    return root.hex()


def write_pack(store, objects):
    """Puts {digest: bytes} into a new pack of an object store."""
    entries, body = [], b"TENPACK\1"
    for digest, data in objects.items():
        size = len(data)  # a block of its own, not compressed
        entries.append(digest + struct.pack("<QIIII", len(body), size, size, 0, size))
        body += data
    entries.sort()
    buckets, done = b"", 0
    for first in range(256):
        mine = [e for e in entries if e[0] == first]
        done += len(mine)
        buckets += struct.pack("<II", done, crc32c(b"".join(mine)))
    tail = struct.pack("<QI", len(body), len(entries))
    data = (body + b"".join(entries) + buckets + tail + struct.pack("<I", crc32c(buckets + tail))
            + b"TENPIDX\1")
    packs = os.path.join(store, "packs")
    os.makedirs(packs, exist_ok=True)
    with open(os.path.join(packs, uuid.uuid4().hex + ".pack"), "wb") as f:
        f.write(data)


def append_record(path, kind, payload):
    """Adds a record behind the last one, as the segment's writer would."""
    number = Journal(path, check=False).records[-1].number + 1
    with open(path, "ab") as f:
        body = struct.pack("<IQqB", len(payload), number, time.time_ns() // 1000, kind) + b"\0\0\0" + payload
        f.write(struct.pack("<I", crc32c(body)) + body)
