# SPDX-License-Identifier: Apache-2.0
"""Submits iris_sklearn.py again and again, with half the regularization rate each time.

    python3 run.py [RUN CONFIGURATION]

Run it by itself, not through "tenon submit": it submits.
"""
import subprocess
import sys

configuration = sys.argv[1] if len(sys.argv) > 1 else "local"
rate = 10.0
while rate > 0.005:
    code = subprocess.call(["tenon", "experiment", "submit", "-c", configuration, "iris_sklearn.py", str(rate)])
    if code != 0:
        sys.exit("the run with rate %g ended with %d" % (rate, code))
    rate /= 2
