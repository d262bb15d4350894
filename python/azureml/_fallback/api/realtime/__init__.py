# SPDX-License-Identifier: Apache-2.0
"""Descriptions of scoring functions."""
