# SPDX-License-Identifier: Apache-2.0
"""Threads, forks, kills, signals: every point whose log() returned is in the files, once."""
import collections
import os
import signal
import subprocess

import pytest


def test_eight_threads(run):
    run.script("""
import tenon, threading
def work(k):
    for i in range(5000):
        tenon.log('own %d' % k, float(i))
        tenon.log('shared', float(k))
        if i % 100 == 0: tenon.log('text', 'x' * k)
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for t in threads: t.start()
for t in threads: t.join()
""")
    for k in range(8):
        assert run.values("own %d" % k) == [float(i) for i in range(5000)]
    shared = [p for p in run.points() if p.series == "shared"]
    assert collections.Counter(p.value for p in shared) == {float(k): 5000 for k in range(8)}
    assert sorted(p.step for p in shared) == list(range(40000))
    assert len(run.values("text")) == 400
    assert len({p.family for p in run.points()}) == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_eight_processes(run, method):
    run.script("""
import multiprocessing, sys, tenon
def work(k):
    for i in range(2000): tenon.log('own %d' % k, float(i))
if __name__ == '__main__':
    tenon.log('parent', 1.0)
    context = multiprocessing.get_context(sys.argv[1])
    workers = [context.Process(target=work, args=(k,)) for k in range(8)]
    for w in workers: w.start()
    for w in workers: w.join()
    tenon.log('parent', 2.0)
""", method)
    for k in range(8):
        assert run.values("own %d" % k) == [float(i) for i in range(2000)]
    assert run.values("parent") == [1.0, 2.0]
    assert len({p.family for p in run.points()}) == 9


def test_subprocess_with_closed_descriptors(run):
    run.script("""
import subprocess, sys, tenon
tenon.log('parent', 1.0)
subprocess.check_call([sys.executable, '-c', 'import tenon; tenon.log("child", 2.0)'], close_fds=True)
""")
    assert run.values("parent") == [1.0] and run.values("child") == [2.0]


def test_fork_while_a_thread_is_logging(run):
    run.script("""
import os, tenon, threading, warnings
warnings.simplefilter("ignore")  # 3.12 warns of forks beside threads
stop = []
def work():
    i = 0
    while not stop:
        tenon.log('thread', float(i)); i += 1
t = threading.Thread(target=work); t.start()
for n in range(20):
    pid = os.fork()
    if pid == 0:
        for i in range(10): tenon.log('child', float(n))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    tenon.log('parent', float(n))
stop.append(1); t.join()
tenon.log('end', 1.0)
""")
    assert collections.Counter(run.values("child")) == {float(n): 10 for n in range(20)}
    assert run.values("parent") == [float(n) for n in range(20)]
    thread = run.values("thread")
    assert thread == [float(i) for i in range(len(thread))] and thread
    children = [p for p in run.points() if p.series == "child"]
    assert sorted(p.step for p in children if p.value == 3.0) == list(range(10))


def test_exit_without_cleaning_up(run):
    run.script("import os, tenon\nfor i in range(3000): tenon.log('a', float(i))\nos._exit(5)", code=5)
    assert run.values("a") == [float(i) for i in range(3000)]
    assert run.chunks()[-1].last == 1


def test_abort_and_uncaught_exception(run):
    run.popen("import os, tenon; tenon.log('a', 1.0); os.abort()", stderr=subprocess.DEVNULL).wait(60)
    run.popen("import tenon; tenon.log('b', 1.0); raise SystemExit(3)").wait(60)
    assert run.values("a") == [1.0] and run.values("b") == [1.0]


def test_kill_9_right_after_log(run):
    process = run.popen("""
import os, tenon
i = 0
while True:
    tenon.log('a', float(i)); tenon.log('text', 'n%d' % i)
    os.write(1, b'.')
    i += 1
""", stdout=subprocess.PIPE)
    acknowledged = 0
    while acknowledged < 20000:
        acknowledged += len(os.read(process.stdout.fileno(), 4096))
    process.send_signal(signal.SIGKILL)
    acknowledged += len(process.stdout.read())
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    run.killed = True
    values, texts = run.values("a"), run.values("text")
    assert len(values) >= acknowledged and len(texts) >= acknowledged
    assert values == [float(i) for i in range(len(values))]
    assert texts == ["n%d" % i for i in range(len(texts))]


def test_signal_handler_that_logs(run):
    run.script("""
import itertools, signal, tenon
numbers = itertools.count()
def tick(*unused):  # may itself be interrupted by the next
    tenon.log('tick', float(next(numbers))); tenon.log('main', -1.0)
signal.signal(signal.SIGVTALRM, tick)
signal.setitimer(signal.ITIMER_VIRTUAL, 0.001, 0.001)
for i in range(100000): tenon.log('main', float(i))
for i in range(300): tenon.log('list', [i] * 50)
signal.setitimer(signal.ITIMER_VIRTUAL, 0)
tenon.log('ticks', next(numbers))
""")
    ticks = run.values("ticks")[0]
    assert ticks > 0
    assert sorted(run.values("tick")) == [float(i) for i in range(ticks)]
    main = run.values("main")
    assert [v for v in main if v >= 0] == [float(i) for i in range(100000)]
    assert main.count(-1.0) == ticks
    assert [v[0] for v in run.values("list")] == [float(i) for i in range(300)]


def test_exception_out_of_a_signal_handler(run):
    """As Ctrl-C: it strikes between any two steps of log(); nothing acknowledged is lost, nothing hangs."""
    out = run.script("""
import signal, sys, tenon, threading
class Boom(BaseException): pass
armed = [0]; booms = [0]
def tick(*unused):
    if armed[0]:
        armed[0] = 0; booms[0] += 1
        raise Boom()
signal.signal(signal.SIGVTALRM, tick)
def work():
    for i in range(20000): tenon.log('thread', float(i))
t = threading.Thread(target=work); t.start()
N = 150000
acknowledged = bytearray(N)
i = 0
def loop():
    global i
    while i < N:
        if i % 50: tenon.log('v', float(i))
        else: tenon.log('v', [i, i])
        acknowledged[i] = 1
        i += 1
signal.setitimer(signal.ITIMER_VIRTUAL, 0.001, 0.001)
while i < N:
    try:
        armed[0] = 1
        loop()
        armed[0] = 0
    except Boom:
        i += 1
signal.setitimer(signal.ITIMER_VIRTUAL, 0)
t.join()
tenon.log('end', 1.0)
print(booms[0], ''.join(map(str, acknowledged)))
""")
    booms, acknowledged = out.split()
    assert int(booms) > 0
    found = collections.Counter(v[0] if isinstance(v, list) else v for v in run.values("v"))
    assert set(found.values()) == {1}
    missing = [i for i, yes in enumerate(acknowledged) if yes == "1" and float(i) not in found]
    assert missing == []
    assert run.values("thread") == [float(i) for i in range(20000)]
    assert run.values("end") == [1.0]


def test_logging_during_interpreter_exit(run):
    run.script("""
import atexit, tenon
atexit.register(lambda: tenon.log('late', 1.0))   # runs after the shim's own
tenon.log('a', 1.0)
class Last:
    def __del__(self): tenon.log('last', 2.0)
keep = Last()
""")
    assert run.values("a") == [1.0] and run.values("late") == [1.0]
