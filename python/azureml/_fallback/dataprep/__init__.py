# SPDX-License-Identifier: Apache-2.0
"""Data preparation of Azure ML Workbench, as far as it goes without its engine: it says what to do instead."""
