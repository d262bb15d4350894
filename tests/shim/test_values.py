# SPDX-License-Identifier: Apache-2.0
"""What is logged is what is stored."""
import ast
import sys
import time

import pytest
from shim.shim import SHIM

PLAIN = """
# -*- coding: utf-8 -*-
import tenon
from decimal import Decimal
from fractions import Fraction

class Array:  # as numpy's
    ndim = 1
    def __init__(self, values): self.values = values
    def tolist(self): return self.values
class Scalar:
    def __init__(self, value): self.value = value
    def item(self): return self.value
class Tensor:
    def numpy(self): return Array([1.5, 2])
class Float64(float): pass
class Endless:
    def tolist(self): return self
    def __str__(self): return 'endless'
class Broken:
    def __str__(self): raise ValueError('no')
    def tolist(self): raise RuntimeError('no')
class Text(str): pass

for value in [0.1, float('inf'), 3, -2**63, 2**63, 10**400, True, False, 'gr\\u00f6\\u00dfe', '', b'ab\\xff', None,
              [1, 2.5, True], (1, 2), [], [1, 'a'], [[1, 2], [3, 4]], {'b': 1}, Decimal('0.5'), Fraction(1, 4),
              Array([1, 2, 3]), Array([[1], [2]]), Array(0.25), Scalar(7), Scalar('x'), Tensor(), Float64(0.75),
              [Scalar(1), Float64(2)], Endless(), Broken(), complex(1, 2), Text('sub'), '\\ud800']:
    tenon.log('v', value)
"""

EXPECTED = [0.1, float("inf"), 3, -2**63, float(2**63), str(10**400), True, False, "größe", "", "ab\ufffd", "None",
            [1.0, 2.5, 1.0], [1.0, 2.0], [], '[1, "a"]', "[[1, 2], [3, 4]]", '{"b": 1}', 0.5, 0.25,
            [1.0, 2.0, 3.0], "[[1], [2]]", 0.25, 7, "x", [1.5, 2.0], 0.75,
            [1.0, 2.0], "endless", "<Broken>", "(1+2j)", "sub", "?"]


def test_every_kind_of_value_is_kept(run):
    run.script(PLAIN)
    values = run.values("v")
    assert [(type(v), v) for v in values] == [(type(v), v) for v in EXPECTED]
    assert [p.step for p in run.points()] == list(range(len(EXPECTED)))


def test_nan_is_kept(run):
    run.script("import tenon; tenon.log('v', float('nan')); tenon.log('v', [float('nan')])")
    first, second = run.values("v")
    assert first != first and second[0] != second[0]


NUMPY = """
import numpy as np
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
for value in [np.float64(0.5), np.float32(0.25), np.int64(7), np.bool_(True), np.array([1, 2, 3]), np.array(4.0),
              np.array([True, False]), np.str_('s'), np.zeros((2, 2)), np.zeros(200000), [np.float32(1), np.int8(2)]]:
    logger.log('v', value)
logger.log('by step', 1.0)
import tenon
tenon.log('by step', 2.0, step=np.int64(9))
"""


PANDAS = """
import numpy as np, pandas as pd
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
for value in [pd.Series([1, 2]), pd.Series([0.5, None]), pd.Series([1, None], dtype='Int64'), pd.Timestamp('2020-01-02'),
              pd.NA, pd.NaT, pd.Series(pd.to_datetime(['2020-01-01', '2020-01-02'])), pd.Series(['a', 'b']),
              pd.Series([True, False]), pd.Index([1, 2]), np.datetime64('2020-01-01T00:00', 'ns'), pd.Timedelta('1 day'),
              np.longdouble(1.5), [np.float32(0.5), 0.25], {'loss': [np.float32(0.5), 1.0], 'n': np.int64(3)}]:
    logger.log('v', value)
"""


@pytest.mark.planned_skip("pandas cannot be installed here")
def test_pandas_values_are_kept(pandas_run):
    run = pandas_run
    run.script(PANDAS)
    values = run.values("v")
    assert values[0] == [1.0, 2.0]
    for with_gap in values[1:3]:
        assert with_gap[0] in (0.5, 1.0) and with_gap[1] != with_gap[1]
    assert values[3:] == ["2020-01-02 00:00:00", "<NA>", "NaT", '["2020-01-01 00:00:00", "2020-01-02 00:00:00"]',
                          '["a", "b"]', [1.0, 0.0], [1.0, 2.0], "2020-01-01T00:00:00.000000000", "1 days 00:00:00",
                          1.5, [0.5, 0.25], '{"loss": [0.5, 1.0], "n": 3}']


@pytest.mark.planned_skip("numpy cannot be installed here")
def test_numpy_values_are_kept(pandas_run):
    run = pandas_run
    run.script(NUMPY)
    values = run.values("v")
    assert values[:9] == [0.5, 0.25, 7, True, [1.0, 2.0, 3.0], 4.0, [1.0, 0.0], "s", "[[0.0, 0.0], [0.0, 0.0]]"]
    assert values[9] == [0.0] * 131072 and values[10] == [1.0, 2.0]
    assert [p.cut for p in run.points()] == [False] * 9 + [True] + [False] * 3
    assert [p.step for p in run.points() if p.series == "by step"] == [0, 9]


def test_names_and_steps_of_any_kind(run):
    run.script("""
import tenon
tenon.log('a', 1.0); tenon.log('a', 2.0, step=10); tenon.log('a', 3.0); tenon.log('a', 4.0, 2.9); tenon.log('a', 5)
tenon.log('a', 6.0, step='x'); tenon.log('a', 7.0, step=2**70); tenon.log('a', 8.0, step=-5)
tenon.log(5, 1.0); tenon.log(None, 1.0); tenon.log([], 1.0); tenon.log('', 1.0); tenon.log('two\\nlines\\x00', 1.0)
tenon.log('n' * 5000, 1.0); tenon.log('\\u00e9' * 3000, 1.0)
""")
    points = run.points()
    assert [p.step for p in points if p.series == "a"] == [0, 10, 11, 2, 3, 4, 5, -5]
    assert [p.series for p in points[8:]] == ["5", "None", "[]", "metric", "two lines ", "n" * 1024, "é" * 512]


def test_time_is_when_it_was_logged(run):
    before = time.time()
    run.script("import tenon, time; tenon.log('a', 1.0); time.sleep(0.05); tenon.log('a', 'text')")
    first, second = [p.time for p in run.points()]
    assert before - 0.01 <= first < second <= time.time() + 0.01
    assert second - first >= 0.049


def test_long_values_are_cut_and_say_so(run):
    run.script("""
import tenon
tenon.log('t', 'x' * (1 << 20)); tenon.log('t', '\\u00e9' * (1 << 20)); tenon.log('t', [1] * 131072)
tenon.log('t', range(3)); tenon.log('t', [2.0] * 131073); tenon.log('t', 0.5)
""")
    exact, cut, whole, text, shortened, last = run.points()
    assert exact.value == "x" * (1 << 20) and not exact.cut
    assert cut.cut and cut.value.endswith("… [cut, 2097152 bytes]") and len(cut.value.encode()) <= 1 << 20
    assert whole.value == [1.0] * 131072 and not whole.cut
    assert text.value == "range(0, 3)"
    assert shortened.value == [2.0] * 131072 and shortened.cut
    assert last.value == 0.5


def test_chunks_roll_over_without_loss(run):
    run.script("""
import tenon
for i in range(80000):
    tenon.log('a', float(i))
    if i % 1000 == 0: tenon.log('b', i)
    if i == 70000: tenon.log('c', 'late')
""")
    chunks = run.chunks()
    assert [c.number for c in chunks] == list(range(len(chunks))) and len(chunks) >= 4
    assert [c.path.stat().st_size for c in chunks] == [65536] + [1 << 20] * (len(chunks) - 1)
    assert [c.last for c in chunks] == [127] * (len(chunks) - 1) + [126]
    assert all(c.path.stat().st_blocks * 512 >= c.path.stat().st_size for c in chunks), "not allocated"
    assert run.values("a") == [float(i) for i in range(80000)]
    assert [p.step for p in run.points() if p.series == "a"] == list(range(80000))
    assert run.values("b") == list(range(0, 80000, 1000))
    assert run.values("c") == ["late"]


def test_many_series(run):
    run.script("""
import tenon
for k in range(3):
    for i in range(5000): tenon.log('series %d' % i, float(k))
""")
    points = run.points()
    assert len(points) == 15000
    assert {p.series for p in points} == {"series %d" % i for i in range(5000)}
    assert all(p.step == p.value for p in points)


def test_syntax_is_python_3_5():
    if sys.version_info < (3, 8):
        pytest.skip("this Python cannot check for 3.5")
    sources = list(SHIM.rglob("*.py"))
    assert len(sources) >= 4
    for path in sources:
        text = path.read_text(encoding="utf-8")
        ast.parse(text, str(path), feature_version=(3, 5))
        # feature_version lets f-strings and annotated variables pass.
        for node in ast.walk(ast.parse(text)):
            assert not isinstance(node, (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr)), (path, node.lineno)
