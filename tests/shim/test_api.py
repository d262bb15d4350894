# SPDX-License-Identifier: Apache-2.0
"""The imports of Workbench scripts work, do what can be done, and say what can't."""
import csv
import json

import pytest

IMPORTS = """
from azureml.logging import get_azureml_logger
from azureml_sdk import data_collector
from azureml_sdk.data_collector import current_run
from azureml.api.schema.dataTypes import DataTypes
from azureml.api.schema.sampleDefinition import SampleDefinition
from azureml.api.realtime.services import generate_schema
from azureml.assets import get_local_path
from azureml.datacollector import ModelDataCollector
from azureml.dataprep import package, datasource
from azureml.dataprep.package import run, submit, run_on_data
from azureml.dataprep.datasource import load_datasource
"""


@pytest.mark.parametrize("older_first", [True, False])
def test_every_import_of_the_reference_works(run, older_first):
    older = """
from azure.ml.api.schema.dataTypes import DataTypes as Older
from azure.ml.api.schema.sampleDefinition import SampleDefinition
from azure.ml.api.realtime.services import generate_schema
"""
    run.script((older + IMPORTS if older_first else IMPORTS + older)
               + "\nassert Older is DataTypes and DataTypes.PANDAS == 3\n")


def test_nothing_is_said_or_written_outside_tenon(run):
    for name in ("TENON_METRICS_DIR", "TENON_OUTPUTS_DIR", "TENON_RUN_ID"):
        del run.environment[name]
    before = sorted(run.folder.rglob("*"))
    assert run.script(IMPORTS + """
current_run().log('a', 1.0)
ModelDataCollector('model', identifier='x').collect([1, 2])
""") == ""
    assert sorted(run.folder.rglob("*")) == sorted(before + [run.folder / "script.py"])


def test_current_run_is_the_logger(run):
    run.script("from azureml_sdk import data_collector\ndata_collector.current_run().log('accuracy', 0.5)")
    assert run.values("accuracy") == [0.5]


def test_schema_of_plain_values(run):
    run.script("""
from azureml.api.schema.dataTypes import DataTypes
from azureml.api.schema.sampleDefinition import SampleDefinition
from azureml.api.realtime.services import generate_schema
def run(one, two): pass
inputs = {'one': SampleDefinition(DataTypes.STANDARD, {'age': 3, 'name': 'x', 'scores': [0.5], 'ok': True}),
          'two': SampleDefinition(DataTypes.STANDARD, [1, 2])}
schema = generate_schema(run_func=run, inputs=inputs, outputs={'y': SampleDefinition(DataTypes.STANDARD, 0.5)},
                         filepath=%r)
assert set(schema) == {'input', 'output'}
for wrong in (lambda: SampleDefinition(7, 1), lambda: generate_schema(run, {'one': inputs['one']}),
              lambda: generate_schema(run, {'one': 1, 'two': 2}), lambda: generate_schema(run),
              lambda: generate_schema(run, [1])):
    try: wrong()
    except ValueError as error: print(error)
    else: raise AssertionError('accepted')
try: SampleDefinition(DataTypes.PANDAS, 'text')
except TypeError as error: print(error)
""" % str(run.folder / "new" / "schema.json"))
    schema = json.loads((run.folder / "new" / "schema.json").read_text())
    one = schema["input"]["one"]
    assert one["type"] == 0 and json.loads(one["internal"])["kind"] == "standard"
    properties = one["swagger"]["properties"]
    assert properties["age"]["type"] == "integer" and properties["ok"] == {"type": "boolean"}
    assert properties["scores"] == {"type": "array", "items": {"type": "number", "format": "double"}}
    assert one["swagger"]["example"] == {"age": 3, "name": "x", "scores": [0.5], "ok": True}
    assert schema["output"]["y"]["swagger"]["type"] == "number"


# As pandas, numpy and Spark have them, so that every Python can be asked.
FAKES = """
class Dtype:
    fields = None
    def __init__(self, kind, itemsize, name): self.kind, self.itemsize, self.name = kind, itemsize, name
    def __str__(self): return self.name
class Plain(list):
    def tolist(self): return list(self)
class Column(Plain): pass
class Rows:
    def __init__(self, columns): self.columns = columns
    def __getitem__(self, key):
        if isinstance(key, tuple): return Column(self.columns[key[1]])
        return Frame(self.columns, key)
class Frame:
    columns = ['width', 'kind']
    def __init__(self, values, cut=slice(None)):
        self.values = [v[cut] for v in values]
        self.iloc = Rows(self.values)
        self.dtypes = Plain([Dtype('f', 8, 'float64'), Dtype('O', 8, 'object')])
        self.shape = (len(self.values[0]), 2)
    def itertuples(self, index=True, name='Pandas'): return zip(*self.values)
class Array(list):
    dtype, shape = Dtype('i', 4, 'int32'), (4, 2)
    def tolist(self): return list(self)
    def __getitem__(self, key): return Array(list.__getitem__(self, key))
class Schema:
    def jsonValue(self):
        return {'type': 'struct', 'fields': [{'name': 'a', 'type': 'long'}, {'name': 'b', 'type': {'type': 'array',
                'elementType': 'double'}}, {'name': 'c', 'type': 'decimal(10,0)'}]}
class Spark:
    schema = Schema()
    def take(self, n): return [(1, [0.5], None)] * n
frame = Frame([[0.5, float('nan'), 2.5, 3.5], ['a', 'b', 'c', 'd']])
array = Array([[1, 2], [3, 4], [5, 6], [7, 8]])
"""


def test_schema_of_tables_and_arrays(run):
    out = run.script(FAKES + """
import json
from azureml.api.schema.dataTypes import DataTypes
from azureml.api.schema.sampleDefinition import SampleDefinition
for kind, data in ((DataTypes.PANDAS, frame), (DataTypes.NUMPY, array), (DataTypes.SPARK, Spark())):
    print(json.dumps(SampleDefinition(kind, data).serialize()))
""")
    pandas, numpy, spark = map(json.loads, out.splitlines())
    assert json.loads(pandas["internal"]) == {"kind": "pandas", "columns": ["width", "kind"], "shape": [4, 2],
                                             "dtypes": ["float64", "object"]}
    assert pandas["swagger"]["items"]["properties"] == {"width": {"type": "number", "format": "double"},
                                                        "kind": {"type": "string"}}
    assert pandas["swagger"]["example"] == [{"width": 0.5, "kind": "a"}, {"width": None, "kind": "b"},
                                            {"width": 2.5, "kind": "c"}]
    assert numpy["swagger"]["items"]["items"] == {"type": "integer", "format": "int32"}
    assert numpy["swagger"]["example"] == [[1, 2], [3, 4], [5, 6]]
    properties = spark["swagger"]["items"]["properties"]
    assert properties["b"]["items"]["type"] == properties["c"]["type"] == "number"
    assert len(spark["swagger"]["example"]) == 3


def test_collected_rows_are_outputs_of_the_run(run):
    run.script(FAKES + """
from azureml.datacollector import ModelDataCollector
inputs = ModelDataCollector('model.pkl', identifier='inputs')
inputs.collect(frame); inputs.collect(frame, user_correlation_id='id,1')
ModelDataCollector('../../model', '..', feature_names=['a', 'b']).collect([1, 'x\\ny'])
ModelDataCollector('model.pkl', 'array').collect(array)
""")
    def rows(*parts):
        with open(str(run.outputs.joinpath("modeldata", *parts, "data.csv")), newline="") as opened:
            return list(csv.reader(opened))
    table = rows("model.pkl", "inputs")
    assert table[0] == ["$Timestamp", "$CorrelationId", "$RequestId", "width", "kind"] and len(table) == 9
    assert table[1][3:] == ["0.5", "a"] and table[8][1] == "id,1"
    assert rows(".._.._model", "_..")[1][3:] == ["1", "x\ny"]
    assert [r[3:] for r in rows("model.pkl", "array")] == [["1", "2"], ["3", "4"], ["5", "6"], ["7", "8"]]
    assert len([p for p in run.folder.rglob("data.csv")]) == 3


def test_collector_that_cannot_write_does_not_stop_scoring(newest_run):
    run = newest_run
    (run.outputs / "modeldata").write_text("in the way")
    process = run.popen("""
from azureml.datacollector import ModelDataCollector
ModelDataCollector('m').collect([1]); ModelDataCollector('m').collect(object()); print('on')
""", stdout=-1, stderr=-1)
    out, err = process.communicate(timeout=60)
    assert out == b"on\n" and err.count(b"azureml.datacollector: ") == 2 and process.returncode == 0


LINK = '{"assetSource":"azureml","name":"AdultCensusModel","version":"2"}'


@pytest.mark.parametrize("contents", ["AdultCensusModel", "other"])
def test_contents_are_found_beside_the_link(run, contents):
    folder = run.folder / "down"
    folder.mkdir()
    (folder / contents).mkdir()
    (folder / (contents + ".link")).write_text(LINK)
    (folder / "unrelated").write_text("")
    assert run.script("from azureml.assets import get_local_path\nprint(get_local_path(%r))"
                      % str(folder / (contents + ".link"))) == str(folder / contents) + "\n"


@pytest.mark.parametrize("text,kind,words", [
    (LINK, "FileNotFoundError", "tenon asset download -l a/x.link -d a"), ("not json", "ValueError", "no link file"),
    ("[1]", "ValueError", "no link file"), (None, "FileNotFoundError", "history promote"),
    ('{"name": "../script.py"}', "FileNotFoundError", "asset download")])
def test_link_without_contents_says_what_to_do(newest_run, text, kind, words):
    run = newest_run
    (run.folder / "a").mkdir()
    if text is not None:
        (run.folder / "a" / "x.link").write_text(text)
    out = run.script("""
import os; os.chdir(%r)
from azureml.assets import get_local_path
try: get_local_path('a/x.link')
except Exception as error: print(type(error).__name__, error)
""" % str(run.folder))
    assert out.startswith(kind) and words in out


@pytest.mark.parametrize("call", [
    "from azureml.dataprep.package import run; run('iris.dprep', dataflow_idx=0, spark=False)",
    "from azureml.dataprep import package; package.run('iris.dprep')",
    "from azureml.dataprep import package; package.submit('iris.dprep', 0, None, None)",
    "from azureml.dataprep import package; package.run_on_data({'a': 1}, 'iris.dprep', dataflow_idx=0)",
    "from azureml.dataprep import datasource; datasource.load_datasource('iris.dprep')"])
def test_data_preparation_says_what_to_read_instead(newest_run, call):
    run = newest_run
    (run.folder / "iris.dprep").write_text('{"sources": [{"path": "C:\\\\data\\\\iris.csv"}], "steps": [1, null]}')
    out = run.script("import os; os.chdir(%r)\ntry:\n    %s\nexcept NotImplementedError as error: print(error)"
                     % (str(run.folder), call))
    assert "iris.dprep" in out and "pandas.read_csv('iris.csv')" in out


@pytest.mark.planned_skip("pandas cannot be installed here")
def test_data_source_of_one_text_file_is_read(pandas_run):
    run = pandas_run
    (run.folder / "iris.dsource").write_text('\ufeff{"path": "C:\\\\data\\\\iris.csv"}', encoding="utf-8")
    (run.folder / "iris.csv").write_text("a,b\n1,x\n2,y\n")
    process = run.popen("""
import os, sys; os.chdir(%r)
from azureml.dataprep.datasource import load_datasource
print(load_datasource('iris.dsource').to_csv(index=False))
""" % str(run.folder), stdout=-1, stderr=-1)
    out, err = process.communicate(timeout=120)
    assert out.split() == [b"a,b", b"1,x", b"2,y"] and b"are not applied" in err


@pytest.mark.planned_skip("pandas cannot be installed here")
def test_real_tables_and_arrays_are_described_and_collected(pandas_run):
    run = pandas_run
    out = run.script("""
import json, numpy, pandas
from azureml.api.schema.dataTypes import DataTypes
from azureml.api.schema.sampleDefinition import SampleDefinition
from azureml.datacollector import ModelDataCollector
frame = pandas.DataFrame({'n': [1, 2], 'x': [0.5, None], 'kind': ['a', 'b'], 'at': pandas.to_datetime(['2020-01-01'] * 2)})
print(json.dumps(SampleDefinition(DataTypes.PANDAS, frame).serialize()))
print(json.dumps(SampleDefinition(DataTypes.NUMPY, numpy.zeros((4, 2), 'float32')).serialize()))
ModelDataCollector('m').collect(frame)
ModelDataCollector('m', 'row').collect(numpy.array([1.5, 2]))
""")
    pandas, numpy = map(json.loads, out.splitlines())
    properties = pandas["swagger"]["items"]["properties"]
    assert [properties[name]["type"] for name in ("n", "x", "kind", "at")] == ["integer", "number", "string", "string"]
    assert pandas["swagger"]["example"][1]["x"] is None
    assert numpy["swagger"]["items"]["items"] == {"type": "number", "format": "float"}
    rows = (run.outputs / "modeldata/m/default/data.csv").read_text().splitlines()
    assert rows[0].endswith(",n,x,kind,at") and rows[1].endswith(",1,0.5,a,2020-01-01 00:00:00")
    assert (run.outputs / "modeldata/m/row/data.csv").read_text().strip().endswith(",1.5,2.0")


def test_notebook_magic_uploads(newest_run):
    run = newest_run
    (run.folder / "note.txt").write_text("text")
    out = run.script("""
import os; os.chdir(%r)
import tenon
known = {}
class Notebook:
    def register_magic_function(self, function, kind, name): known[name] = function
tenon.load_ipython_extension(Notebook())
for line in ('history on', 'history show', 'upload note.txt', 'nonsense'): known['azureml'](line)
""" % str(run.folder))
    assert "proj_1" in out and "upload FILE" in out
    assert (run.outputs / "note.txt").read_text() == "text"
