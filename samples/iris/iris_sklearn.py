# SPDX-License-Identifier: Apache-2.0
"""Logistic regression on the iris data, made harder with columns of noise.

    tenon submit iris_sklearn.py [REGULARIZATION RATE]

The larger the rate, the less the noise is believed.
"""
import csv
import os
import pickle
import sys

import matplotlib
matplotlib.use("Agg")  # pictures go to files; a machine without a screen will do
import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, confusion_matrix, precision_recall_curve, roc_curve
from sklearn.model_selection import train_test_split

from azureml.logging import get_azureml_logger

HERE = os.path.dirname(os.path.abspath(__file__))
NOISE_COLUMNS = 40


def load():
    """(numbers, species)"""
    with open(os.path.join(HERE, "data", "iris.csv"), newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return np.array([[float(cell) for cell in row[:4]] for row in rows]), np.array([row[4] for row in rows])


def add_noise(numbers):
    noise = np.random.RandomState(0).randn(len(numbers), NOISE_COLUMNS)
    return np.hstack([numbers, noise])


def draw_confusion(path, counts, names):
    plt.figure(figsize=(6, 5))
    plt.imshow(counts, interpolation="nearest", cmap="Greens")
    plt.colorbar()
    plt.xticks(range(len(names)), names, rotation=20)
    plt.yticks(range(len(names)), names)
    for actual in range(len(names)):
        for predicted in range(len(names)):
            plt.text(predicted, actual, str(counts[actual, predicted]), ha="center", va="center")
    plt.ylabel("is")
    plt.xlabel("was taken for")
    plt.tight_layout()
    plt.savefig(path)
    plt.close()


def draw_roc(path, model, numbers, species):
    plt.figure(figsize=(6, 5))
    scores = model.predict_proba(numbers)
    for i, name in enumerate(model.classes_):
        false_rate, true_rate, _ = roc_curve(species == name, scores[:, i])
        plt.plot(false_rate, true_rate, label="%s, area %.3f" % (name, auc(false_rate, true_rate)))
    plt.plot([0, 1], [0, 1], "--", color="grey")
    plt.xlabel("false positive rate")
    plt.ylabel("true positive rate")
    plt.legend(loc="lower right")
    plt.tight_layout()
    plt.savefig(path)
    plt.close()


def main():
    logger = get_azureml_logger()
    print("Python %s, scikit-learn %s" % (sys.version.split()[0], sklearn.__version__))
    rate = float(sys.argv[1]) if len(sys.argv) > 1 else 0.01
    logger.log("Regularization Rate", rate)

    numbers, species = load()
    numbers = add_noise(numbers)
    x_train, x_test, y_train, y_test = train_test_split(numbers, species, test_size=0.35, random_state=0)
    model = LogisticRegression(C=1 / rate, max_iter=1000).fit(x_train, y_train)

    accuracy = model.score(x_test, y_test)
    print("Regularization rate is %g, accuracy is %.4f" % (rate, accuracy))
    logger.log("Accuracy", accuracy)
    scores = model.predict_proba(x_test)
    precision, recall, thresholds = precision_recall_curve(y_test == "Iris-versicolor", scores[:, 1])
    logger.log("Precision", precision)
    logger.log("Recall", recall)
    logger.log("Thresholds", thresholds)

    os.makedirs("outputs", exist_ok=True)
    with open("outputs/model.pkl", "wb") as opened:
        pickle.dump(model, opened)
    draw_confusion("outputs/cm.png", confusion_matrix(y_test, model.predict(x_test)), list(model.classes_))
    draw_roc("outputs/roc.png", model, x_test, y_test)


if __name__ == "__main__":
    main()
