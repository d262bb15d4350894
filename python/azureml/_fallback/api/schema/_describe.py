# SPDX-License-Identifier: Apache-2.0
"""Two descriptions of an example: its own (kind, shape, types) and a Swagger schema with the first records.

Knows numpy, pandas and Spark by what their objects have, and imports none of them.
"""
import datetime
import math

EXAMPLES = 3  # records that go into the schema


def standard(data):
    return {"kind": "standard", "type": type(data).__name__}, dict(_swagger(data), example=_plain(data))


def numpy(data):
    _need(data, "a numpy array", "dtype", "shape", "tolist")
    shape = [int(n) for n in data.shape]
    schema = _of_dtype(data.dtype)
    for _ in shape:
        schema = {"type": "array", "items": schema}
    first = data[:EXAMPLES] if shape else data
    return ({"kind": "numpy", "dtype": str(data.dtype), "shape": shape},
            dict(schema, example=_plain(first.tolist())))


def pandas(data):
    _need(data, "a pandas DataFrame", "columns", "dtypes", "iloc")
    names = [str(name) for name in data.columns]
    first = data.iloc[:EXAMPLES]
    columns = [first.iloc[:, i].tolist() for i in range(len(names))]
    types = [_of_column(dtype, column) for dtype, column in zip(data.dtypes.tolist(), columns)]
    internal = {"kind": "pandas", "columns": names, "dtypes": [str(t) for t in data.dtypes.tolist()],
                "shape": [int(n) for n in data.shape]}
    return internal, _records(names, types, [list(row) for row in zip(*columns)])


def spark(data):
    _need(data, "a Spark DataFrame", "schema", "take")
    fields = data.schema.jsonValue()["fields"]
    names = [field["name"] for field in fields]
    types = [_of_spark(field["type"]) for field in fields]
    rows = [[row[i] for i in range(len(names))] for row in data.take(EXAMPLES)]
    return {"kind": "spark", "schema": data.schema.jsonValue()}, _records(names, types, rows)


def _need(data, what, *members):
    if not all(hasattr(data, member) for member in members):
        raise TypeError("the sample must be %s, not %s" % (what, type(data).__name__))


def _records(names, types, rows):
    return {"type": "array", "items": {"type": "object", "properties": dict(zip(names, types))},
            "example": [dict(zip(names, map(_plain, row))) for row in rows]}


def _swagger(value):
    """The schema of a plain Python value."""
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "integer", "format": "int64"}
    if isinstance(value, float):
        return {"type": "number", "format": "double"}
    if isinstance(value, datetime.datetime):
        return {"type": "string", "format": "date-time"}
    if isinstance(value, datetime.date):
        return {"type": "string", "format": "date"}
    if isinstance(value, (list, tuple)):
        return {"type": "array", "items": _swagger(value[0]) if value else {}}
    if isinstance(value, dict):
        return {"type": "object", "properties": {str(k): _swagger(v) for k, v in value.items()}}
    if isinstance(value, (str, bytes)) or value is None:
        return {"type": "string"}
    if callable(getattr(value, "tolist", None)):
        return _swagger(value.tolist())
    if callable(getattr(value, "item", None)):
        return _swagger(value.item())
    return {"type": "object"}


def _of_dtype(dtype):
    fields = getattr(dtype, "fields", None)
    if fields:
        return {"type": "object", "properties": {name: _of_dtype(fields[name][0]) for name in dtype.names}}
    kind, bits = getattr(dtype, "kind", "O"), 8 * getattr(dtype, "itemsize", 8)
    if kind == "b":
        return {"type": "boolean"}
    if kind in "iu":
        return {"type": "integer", "format": "int64" if bits > 32 else "int32"}
    if kind == "f":
        return {"type": "number", "format": "double" if bits > 32 else "float"}
    if kind == "M":
        return {"type": "string", "format": "date-time"}
    return {"type": "string"} if kind in "SUm" else {"type": "object"}


def _of_column(dtype, values):
    """Text columns are of the type "object": the values say more."""
    if getattr(dtype, "kind", "O") == "O":
        return _swagger(values[0]) if values else {"type": "string"}
    return _of_dtype(dtype)


def _of_spark(kind):
    if isinstance(kind, dict):
        if kind.get("type") == "struct":
            fields = kind.get("fields", [])
            return {"type": "object", "properties": {f["name"]: _of_spark(f["type"]) for f in fields}}
        if kind.get("type") == "array":
            return {"type": "array", "items": _of_spark(kind.get("elementType"))}
        return {"type": "object"}
    return {
        "boolean": {"type": "boolean"},
        "byte": {"type": "integer", "format": "int32"},
        "short": {"type": "integer", "format": "int32"},
        "integer": {"type": "integer", "format": "int32"},
        "long": {"type": "integer", "format": "int64"},
        "float": {"type": "number", "format": "float"},
        "double": {"type": "number", "format": "double"},
        "date": {"type": "string", "format": "date"},
        "timestamp": {"type": "string", "format": "date-time"},
    }.get(kind, {"type": "number"} if str(kind).startswith("decimal") else {"type": "string"})


def _plain(value):
    """What JSON can hold; a number that JSON has no form for becomes null."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    for method in ("asDict", "tolist", "item"):
        if callable(getattr(value, method, None)):
            return _plain(getattr(value, method)())
    return str(value)
