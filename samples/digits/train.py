# SPDX-License-Identifier: Apache-2.0
"""Softmax regression on handwritten digits, in plain Python."""
import argparse
import csv
import gzip
import json
import math
import os
import random
import time
from operator import mul

import picture

try:
    from azureml.logging import get_azureml_logger
except ImportError:  # run by hand, without Tenon
    class Silent:
        def log(self, name, value):
            return self

        def wait(self):
            return True

    get_azureml_logger = Silent

HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES = 10


def load():
    """[(pixels from 0 to 1 and a constant 1, digit)]"""
    with gzip.open(os.path.join(HERE, "data", "digits.csv.gz"), "rt") as lines:
        rows = [[int(cell) for cell in row] for row in csv.reader(lines)]
    return [([pixel / 16 for pixel in row[:-1]] + [1.0], row[-1]) for row in rows]


def probabilities(weights, pixels):
    scores = [sum(map(mul, row, pixels)) for row in weights]
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def train_epoch(weights, examples, rate):
    """One pass over the examples, a step after each; returns the mean loss."""
    loss = 0.0
    for pixels, digit in examples:
        guess = probabilities(weights, pixels)
        loss -= math.log(max(guess[digit], 1e-12))
        guess[digit] -= 1.0
        for k, error in enumerate(guess):
            if abs(error) > 1e-4:
                step = rate * error
                weights[k] = [w - step * x for w, x in zip(weights[k], pixels)]
    return loss / len(examples)


def evaluate(weights, examples):
    """(accuracy, counts[actual][predicted])"""
    counts = [[0] * CLASSES for _ in range(CLASSES)]
    for pixels, digit in examples:
        guess = probabilities(weights, pixels)
        counts[digit][guess.index(max(guess))] += 1
    return sum(counts[k][k] for k in range(CLASSES)) / len(examples), counts


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--learning-rate", type=float, default=0.03)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    args = parse_arguments()
    logger = get_azureml_logger()
    examples = load()
    random.Random(0).shuffle(examples)  # the same held-out fifth for every seed
    held_out, examples = examples[:360], examples[360:]
    chance = random.Random(args.seed)
    weights = [[chance.gauss(0, 0.01) for _ in examples[0][0]] for _ in range(CLASSES)]
    print("%d digits to learn from, %d held out" % (len(examples), len(held_out)))

    start = time.time()
    for epoch in range(1, args.epochs + 1):
        chance.shuffle(examples)
        loss = train_epoch(weights, examples, args.learning_rate / (1 + 0.1 * epoch))
        accuracy, counts = evaluate(weights, held_out)
        logger.log("loss", loss)
        logger.log("accuracy", accuracy)
        print("epoch %2d/%d  loss %.4f  accuracy %.4f" % (epoch, args.epochs, loss, accuracy))
    print("%.1f s" % (time.time() - start))

    accuracy, counts = evaluate(weights, held_out)
    logger.log("final accuracy", accuracy).wait()
    logger.log("accuracy per digit", [counts[k][k] / max(1, sum(counts[k])) for k in range(CLASSES)])
    os.makedirs("outputs", exist_ok=True)
    with open("outputs/model.json", "w") as model:
        json.dump({"classes": list(range(CLASSES)), "weights": weights, "accuracy": accuracy}, model)
    picture.confusion_matrix("outputs/confusion.png", counts)


if __name__ == "__main__":
    main()
