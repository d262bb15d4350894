# SPDX-License-Identifier: Apache-2.0
"""The name of mid-2017 for azureml.api.realtime.services."""
from azureml.api.realtime.services import generate_schema  # noqa: F401
