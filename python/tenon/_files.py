# SPDX-License-Identifier: Apache-2.0
"""The writing side of docs/formats/metric-files.md.

A point is stored straight into a file mapped into memory: the kernel has it when log() returns, so
neither kill -9 nor os._exit can take it back, and no system call is made for it. Nothing here raises
into the script (its own KeyboardInterrupt and SystemExit pass through), and nothing waits but wait().
"""
import atexit
import errno
import fcntl
import itertools
import mmap
import os
import struct
import threading
import time as _time

from tenon import _values

FIRST_CHUNK = 64 * 1024
LATER_CHUNK = 1024 * 1024
MAX_NAME = 1024
MAX_PENDING = 10000
MAX_PENDING_BYTES = 16 * 1024 * 1024
RETRY_SECONDS = 1.0
WAIT_SECONDS = 10.0

HEADER_SIZE = 64
HEAD = 32
_HEADER = struct.Struct("<8sIIIIQQQQQ")
_FLOAT = struct.Struct("<BBHIdqd")
_INT = struct.Struct("<BBHIdqq")
_LENGTH = struct.Struct("<BBHIdqQ")
_U64 = struct.Struct("<Q")
_SLOT = struct.Struct("<QQ")
_WANT = 48
_SYNCED = 56

NUMBER, WHOLE, BOOLEAN, TEXT, LIST, NAME, DROPPED = 1, 2, 3, 4, 5, 6, 7
END_OF_FAMILY, END_OF_CHUNK = 126, 127

_TELLS_OF_FORKS = hasattr(os, "register_at_fork")  # Python 3.7


def _start_ticks():
    try:
        with open("/proc/self/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[19])
    except Exception:
        return 0


def _pid_namespace():
    try:
        return int(os.readlink("/proc/self/ns/pid").partition("[")[2].rstrip("]"))
    except Exception:
        return 0


def _name_bytes(name):
    text = name if type(name) is str else str(name)
    text = "".join([c if c >= " " and c != "\x7f" else " " for c in text]) or "metric"
    data = text.encode("utf-8", "replace")
    return data if len(data) <= MAX_NAME else data[:MAX_NAME].decode("utf-8", "ignore").encode("utf-8")


def _reserve(fd, size):
    """Makes the file `size` long with every block allocated, or raises OSError."""
    try:
        os.posix_fallocate(fd, 0, size)
        return
    except AttributeError:
        pass
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
    offset = 0
    while offset < size:
        offset += os.pwrite(fd, bytes(min(size - offset, 65536)), offset)


def _map(fd, size):
    try:
        return mmap.mmap(fd, size, trackfd=False)  # 3.13: one descriptor less in the script
    except TypeError:
        return mmap.mmap(fd, size)


def _remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


class _Missing:
    """Tells the reader how many points of this writer have no place in any file: one slot of the file
    `lost`, which the reader has made with all its space. What it says survives our death."""

    _lock = threading.RLock()

    def __init__(self, folder):
        self._path = os.path.join(folder, "lost")
        self._slot = None
        self._told = 0

    def tell(self, count):
        """False: nobody can be told."""
        if count == self._told:
            return True
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                if self._slot is None:
                    with self._lock:
                        self._slot = self._take(fd)
                if self._slot is not None:
                    os.pwrite(fd, _U64.pack(count), self._slot + _U64.size)
                    self._told = count
            finally:
                os.close(fd)
        except Exception:
            pass
        return count == self._told

    def _take(self, fd):
        """The place of a slot that was nobody's. A lock that another process holds is not waited for."""
        slots = os.fstat(fd).st_size // _SLOT.size
        first = _U64.unpack(os.urandom(8))[0] % max(slots, 1)
        for n in range(slots):
            place = (first + n) % slots * _SLOT.size
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, _SLOT.size, place)
            except OSError:
                continue
            try:
                if not any(os.pread(fd, _SLOT.size, place)):
                    os.pwrite(fd, _SLOT.pack(os.getpid(), 0), place)
                    return place
            finally:
                fcntl.lockf(fd, fcntl.LOCK_UN, _SLOT.size, place)
        return None


class _Chunk:
    """The chunk in use, and the one function that must be fast.

    The state lies in closure variables: in Python 3.6 to 3.10 that makes log() half as fast again as
    attributes do. `acquire` and `release` instead of "with", which takes three times as long; the price
    is recover(), because an exception (Ctrl-C) can strike between any two calls.
    """

    def __init__(self, writer):
        mapping, pos, limit, known = None, 0, -1, {}
        lock, busy, pid = None, False, 0
        acquire = release = None
        getpid, now, put = os.getpid, _time.time, _FLOAT.pack_into
        checks_pid = not _TELLS_OF_FORKS

        def log(name, value, step=None):
            """Logs one point. Never raises. Returns an object whose wait() says when it is on disk."""
            nonlocal pos, busy
            inside = False
            try:
                if checks_pid and getpid() != pid:
                    writer.after_fork()
                if type(value) is not float:
                    tag, plain, flags = _values.convert(value)
                    return locked_write(tag, name, plain, step, flags)
                acquire()
                if busy:
                    release()
                    return writer.nested(NUMBER, name, value, step, 0)
                inside = busy = True
                end = pos + 32
                if end <= limit and name in known:
                    entry = known[name]
                    if step is None:
                        step = entry[1]
                    put(mapping, pos, 0, 0, 0, entry[0], now(), step, value)
                    entry[1] = step + 1
                    mapping[pos] = 1
                    pos = end
                else:
                    writer.write(NUMBER, name, value, step, 0)
                busy = False
                release()
            except Exception:
                recover(inside)
                return log_oddity(name, value, step)
            except BaseException:
                recover(inside)
                raise
            return writer

        def log_oddity(name, value, step):
            """A name that is not text, a step that is not a whole number."""
            try:
                tag, value, flags = _values.convert(value)
                return locked_write(tag, _values.as_text(name), value, _values.as_step(step), flags)
            except Exception:
                return writer

        def locked_write(tag, name, value, step, flags):
            nonlocal busy
            inside = False
            try:
                acquire()
                if busy:
                    release()
                    return writer.nested(tag, name, value, step, flags)
                inside = busy = True
                writer.write(tag, name, value, step, flags)
                busy = False
                release()
            except BaseException:
                recover(inside)
                raise
            return writer

        def recover(inside):
            """Lets go of the lock if this call holds it. A record that was committed stays, another
            never was. `inside` may not have been set yet."""
            nonlocal busy, pos
            if not lock._is_owned() or (busy and not inside):
                return
            if busy and mapping is not None and pos <= limit and mapping[pos]:
                record = _LENGTH.unpack_from(mapping, pos)
                pos += HEAD + _values.padded_size(record[0], record[6])
                known.clear()  # the name may not have been noted; naming it twice is harmless
            busy = False
            release()

        def locked(action):
            """action() with the lock, or None when this thread is in the middle of a record."""
            nonlocal busy
            inside = False
            try:
                acquire()
                if busy:
                    release()
                    return None
                inside = busy = True
                return action()
            finally:
                recover(inside)

        def use(new_mapping, new_pos, new_limit):
            nonlocal mapping, pos, limit, known
            limit = -1  # an exception from here on finds no chunk, not half of one
            known = {}
            mapping = new_mapping
            pos = new_pos
            limit = new_limit

        def move(new_pos):
            nonlocal pos
            pos = new_pos

        def reset():
            """A new process: the lock may be held by a thread that is not here."""
            nonlocal lock, acquire, release, busy, pid
            lock = threading.RLock()
            acquire, release = lock.acquire, lock.release
            busy, pid = False, getpid()
            use(None, 0, -1)

        reset()
        self.log, self.locked_write, self.locked = log, locked_write, locked
        self.use, self.move, self.reset = use, move, reset
        self.state = lambda: (mapping, pos, limit, known)
        self.pid = lambda: pid


class Writer:
    """One family of chunks. log() returns the writer itself, for its wait().

    log, locked_write, wait and close take the lock; the others are called with it.
    """

    def __init__(self, folder, series=None, numbers=None):
        self._folder = folder
        self._series = {} if series is None else series  # name -> [number, next step]
        self._numbers = itertools.count() if numbers is None else numbers
        self._chunk = _Chunk(self)
        self.log = self._chunk.log
        self._start_afresh()
        if _TELLS_OF_FORKS:
            os.register_at_fork(after_in_child=self.after_fork)

    def _start_afresh(self):
        self._spare = None
        self._closes_at_exit = False
        self._family = None
        self._next_chunk = 0
        self._pending = []  # points that found no space, as _store() takes them
        self._pending_bytes = 0
        self._dropped = 0  # points that are gone for good
        self._said_dropped = 0  # of them, in tag 7 records
        self._missing = _Missing(self._folder)
        self._retry_at = 0.0

    def after_fork(self):
        """In the child: the parent's files, its lock and what it could not write are the parent's."""
        self._series.clear()
        self._start_afresh()
        self._chunk.reset()

    def nested(self, tag, name, value, step, flags):
        """A signal handler or finaliser logs while its own thread is in the middle of a record."""
        if self._spare is None:
            self._spare = Writer(self._folder, self._series, self._numbers)
        self._spare._chunk.locked_write(tag, name, value, step, flags)
        return self

    def write(self, tag, name, value, step, flags):
        time = _time.time()
        if type(name) is not str:
            name = _values.as_text(name)
        entry = self._series.get(name)
        if entry is None:
            entry = self._series[name] = [next(self._numbers), 0]
        if step is not None:
            step = _values.as_step(step)
        if step is None:
            step = entry[1]
        entry[1] = step + 1
        payload = b""
        if tag == TEXT:
            payload, value = value, len(value)
        elif tag == LIST:
            payload, value = struct.pack("<%dd" % len(value), *value), len(value)
        point = (tag, flags, name, time, step, value, payload)
        if (self._pending and not self._drain()) or not self._store(point):
            self._keep(point)

    def _keep(self, point):
        size = len(point[6])
        if len(self._pending) < MAX_PENDING and self._pending_bytes + size <= MAX_PENDING_BYTES:
            self._pending.append(point)
            self._pending_bytes += size
            self._close_at_exit()
        else:
            self._dropped += 1
        self._tell_missing()

    def _tell_missing(self):
        return self._missing.tell(len(self._pending) + self._dropped - self._said_dropped)

    def _drain(self):
        """Stores what was kept, oldest first. False while there is no space."""
        stored = 0
        for point in self._pending:
            if not self._store(point):
                break
            stored += 1
            self._pending_bytes -= len(point[6])
        del self._pending[:stored]
        told = self._tell_missing()
        if self._pending:
            return False
        if not told and self._fits(HEAD):
            self._put(_LENGTH, DROPPED, 0, 0, _time.time(), 0, self._dropped - self._said_dropped, b"")
            self._said_dropped = self._dropped
        return True

    def _store(self, point):
        tag, flags, name, time, step, value, payload = point
        text = _name_bytes(name)
        if not self._fits(2 * HEAD + len(text) + len(payload) + 14):
            return False
        number = self._series[name][0]
        known = self._chunk.state()[3]
        if name not in known:
            self._put(_LENGTH, NAME, 0, number, 0.0, 0, len(text), text)
            known[name] = self._series[name]
        packer = _FLOAT if tag == NUMBER else _INT if tag == WHOLE else _LENGTH
        self._put(packer, tag, flags, number, time, step, value, payload)
        return True

    def _put(self, packer, tag, flags, series, time, step, value, payload):
        mapping, pos, unused, unused = self._chunk.state()
        if payload:
            mapping[pos + HEAD:pos + HEAD + len(payload)] = payload
        packer.pack_into(mapping, pos, 0, flags, 0, series, time, step, value)
        mapping[pos] = tag  # the commit
        self._chunk.move(pos + HEAD + (len(payload) + 7 & -8))

    def _fits(self, need):
        """Whether `need` bytes can be put now; goes to the next chunk if they must."""
        unused, pos, limit, unused = self._chunk.state()
        if pos + need <= limit:
            return True
        if _time.monotonic() < self._retry_at:
            return False
        try:
            self._next(need)
            return True
        except Exception:
            self._retry_at = _time.monotonic() + RETRY_SECONDS
            return False

    def _next(self, need):
        if self._family is None:
            self._family = "%d-%s" % (self._chunk.pid(), "".join(["%02x" % b for b in os.urandom(4)]))
        size = LATER_CHUNK if self._next_chunk else FIRST_CHUNK
        size = max(size, HEADER_SIZE + need + HEAD + 4095 & -4096)
        old, pos, unused, unused = self._chunk.state()
        self._use_new_chunk(size)
        if old is not None:
            _LENGTH.pack_into(old, pos, END_OF_CHUNK, 0, 0, 0, 0.0, 0, 0)
        self._close_at_exit()

    def _use_new_chunk(self, size):
        number = self._next_chunk
        path = os.path.join(self._folder, "%s.%d.tm" % (self._family, number))
        making = path + ".new"
        # Not O_EXCL: an earlier attempt may have been interrupted right here.
        fd = os.open(making, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        mapping = None
        try:
            _reserve(fd, size)
            mapping = _map(fd, size)
            _HEADER.pack_into(mapping, 0, b"TENONTM\n", 1, self._chunk.pid(), number, 0, size,
                              _pid_namespace(), _start_ticks(), 0, 0)
            os.rename(making, path)
            making = path
            self._next_chunk = number + 1
            self._chunk.use(mapping, HEADER_SIZE, size - HEAD)
        except BaseException:
            if making == path:
                self._next_chunk = number + 1  # a reader may have seen it: that number is spent
            if mapping is None or self._chunk.state()[0] is not mapping:
                _remove(making)
            raise
        finally:
            os.close(fd)

    def _close_at_exit(self):
        if not self._closes_at_exit:
            self._closes_at_exit = True
            atexit.register(self.close)

    def close(self):
        """At a normal exit: nothing more will come. A point logged even later begins a new family."""
        try:
            if os.getpid() == self._chunk.pid():
                self._chunk.locked(self._end_family)
        except Exception:
            pass

    def _end_family(self):
        self._retry_at = 0.0
        self._drain()
        if self._chunk.state()[0] is not None:
            self._put(_LENGTH, END_OF_FAMILY, 0, 0, 0.0, 0, 0, b"")
        self._chunk.use(None, 0, -1)
        self._family = None
        self._next_chunk = 0
        self._closes_at_exit = False

    def wait(self, timeout=None):
        """True once all this process has logged is on disk; False if that could not be had in time.

        timeout: seconds, 10 when not given. Never raises.
        """
        try:
            seconds = WAIT_SECONDS if timeout is None else max(0.0, float(timeout))
            deadline = _time.monotonic() + seconds
            if os.getpid() != self._chunk.pid():
                self.after_fork()
            asked = self._chunk.locked(self._ask)
            if asked is None or (asked[0] is not None and not self._wait_for(asked, deadline)):
                return False
            return self._spare is None or self._spare.wait(deadline - _time.monotonic())
        except Exception:
            return False

    def _ask(self):
        """Stores what is waited for; (mapping, offset), or None when points have no place."""
        self._retry_at = 0.0
        if self._pending and not self._drain() or self._dropped:
            return None
        mapping, pos, unused, unused = self._chunk.state()
        if mapping is not None:
            _U64.pack_into(mapping, _WANT, pos)
        return mapping, pos

    def _wait_for(self, asked, deadline):
        mapping, end = asked
        pause = 0.0002
        while True:
            # Read twice: the eight bytes are stored by another process.
            if min(_U64.unpack_from(mapping, _SYNCED)[0], _U64.unpack_from(mapping, _SYNCED)[0]) >= end:
                return True
            left = deadline - _time.monotonic()
            if left <= 0 or (pause in (0.0002, 0.02) and not self._wake()):
                return _U64.unpack_from(mapping, _SYNCED)[0] >= end
            _time.sleep(min(pause, left))
            pause = min(pause * 2, 0.02)

    def _wake(self):
        """Tells the reader to look. False when there is none."""
        try:
            fd = os.open(os.path.join(self._folder, "wake"),
                         os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            return error.errno not in (errno.ENXIO, errno.ENOENT, errno.ENOTDIR)
        try:
            os.write(fd, b"\0")
        except OSError:
            pass
        finally:
            os.close(fd)
        return True


class Silence:
    """Stands in for a Writer outside Tenon."""

    def log(self, name, value, step=None):
        return self

    def wait(self, timeout=None):
        return False


def open_writer():
    folder = os.environ.get("TENON_METRICS_DIR", "")
    return Writer(folder) if folder and os.path.isdir(folder) else Silence()
