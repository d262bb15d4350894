# SPDX-License-Identifier: Apache-2.0
"""The only class of azureml.datacollector."""
import csv
import datetime
import io
import os
import sys

import tenon

_STANDARD = ["$Timestamp", "$CorrelationId", "$RequestId"]
_NO_REQUEST = "00000000-0000-0000-0000-000000000000"


class ModelDataCollector(object):
    """Appends to outputs/modeldata/<model>/<identifier>/data.csv of the run. Never raises, waits or talks,
    except for a line on standard error where it can't write."""

    def __init__(self, model_name, identifier="default", feature_names=None, *unused, **also_unused):
        self._names = [str(name) for name in feature_names] if feature_names is not None else None
        outputs = tenon.outputs_dir()
        self._path = outputs and os.path.join(outputs, "modeldata", _safe(model_name), _safe(identifier), "data.csv")

    def collect(self, input_data, user_correlation_id=""):
        """input_data: a list (one row), numpy array, pandas or Spark DataFrame."""
        if not self._path:
            return
        try:
            names, rows = _table(input_data)
            front = [_now(), str(user_correlation_id), _NO_REQUEST]
            self._append(names or self._names, [front + row for row in rows])
        except Exception as error:
            try:
                sys.stderr.write("azureml.datacollector: %s: %s\n" % (self._path, error))
            except Exception:
                pass

    def _append(self, names, rows):
        import fcntl
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        with open(self._path, "ab") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX)  # several processes may serve one model
            text = io.StringIO()
            writer = csv.writer(text)
            if names and os.fstat(opened.fileno()).st_size == 0:
                writer.writerow(_STANDARD + names)
            writer.writerows(rows)
            opened.write(text.getvalue().encode("utf-8", "replace"))


def _now():
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None).isoformat()


def _safe(name):
    text = "".join([c if c.isalnum() or c in "-_." else "_" for c in str(name)])
    return text if text.strip(".") else "_" + text


def _table(data):
    """(column names or None, rows)"""
    if callable(getattr(data, "toPandas", None)):
        data = data.toPandas()
    if hasattr(data, "columns") and callable(getattr(data, "itertuples", None)):
        return [str(name) for name in data.columns], [list(row) for row in data.itertuples(index=False, name=None)]
    if callable(getattr(data, "tolist", None)):
        data = data.tolist()
        if data and isinstance(data[0], list):
            return None, data
    if isinstance(data, (list, tuple)):
        return None, [list(data)]
    raise TypeError("only lists, numpy arrays, pandas and Spark DataFrames can be collected, not "
                    + type(data).__name__)
