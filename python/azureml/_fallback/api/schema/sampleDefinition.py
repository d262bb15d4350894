# SPDX-License-Identifier: Apache-2.0
"""A description of data, made from an example of it."""
import json

from azureml.api.schema import _describe
from azureml.api.schema.dataTypes import DataTypes

_DESCRIBE = {
    DataTypes.STANDARD: _describe.standard,
    DataTypes.NUMPY: _describe.numpy,
    DataTypes.SPARK: _describe.spark,
    DataTypes.PANDAS: _describe.pandas,
}


class SampleDefinition(object):
    """Raises ValueError for a type that is not in DataTypes, TypeError for data that is not of that type."""

    def __init__(self, input_type, sample_data):
        describe = _DESCRIBE.get(input_type) if type(input_type) is int else None
        if describe is None:
            raise ValueError("%r is no type of sample data; use DataTypes.STANDARD, NUMPY, PANDAS or SPARK"
                             % (input_type,))
        self.type = input_type
        self.internal, self.swagger = describe(sample_data)

    def serialize(self):
        """The form that stands in schema.json."""
        return {"internal": self.get_schema_string(), "swagger": self.swagger, "type": self.type}

    def get_schema_string(self):
        return json.dumps(self.internal, sort_keys=True)
