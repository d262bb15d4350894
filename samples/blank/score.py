# Loads the model that train.py has left and answers questions with it. Run it by itself to try:
#
#   tenon experiment return -r last && python3 score.py
import json
import os

model = None


def init():
    """Called once, before the first question."""
    global model
    with open(os.path.join("outputs", "model.json")) as f:
        model = json.load(f)


def run(question):
    """One question and its answer, both JSON texts."""
    return json.dumps({"distance": abs(json.loads(question)["x"] - model["x"])})


if __name__ == "__main__":
    init()
    print(run(json.dumps({"x": 2.0})))
