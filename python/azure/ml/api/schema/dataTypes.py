# SPDX-License-Identifier: Apache-2.0
"""The name of mid-2017 for azureml.api.schema.dataTypes."""
from azureml.api.schema.dataTypes import DataTypes  # noqa: F401
