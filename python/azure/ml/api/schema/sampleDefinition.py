# SPDX-License-Identifier: Apache-2.0
"""The name of mid-2017 for azureml.api.schema.sampleDefinition."""
from azureml.api.schema.sampleDefinition import SampleDefinition  # noqa: F401
