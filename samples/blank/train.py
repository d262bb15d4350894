# A script to begin with: it logs a metric and leaves a model in outputs/.
#
#   tenon submit -c local train.py 0.1
import json
import os
import sys

from azureml.logging import get_azureml_logger

logger = get_azureml_logger()

rate = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
logger.log("Rate", rate)

# Descends to the minimum of (x - 3)^2.
x = 0.0
for step in range(20):
    x -= rate * 2 * (x - 3)
    logger.log("Loss", (x - 3) ** 2)
print("x is %.4f after 20 steps at rate %s" % (x, rate))

os.makedirs("outputs", exist_ok=True)
with open(os.path.join("outputs", "model.json"), "w") as f:
    json.dump({"x": x}, f)
