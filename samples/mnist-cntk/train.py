# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network on handwritten digits, with CNTK 2.7."""
import argparse
import os
import sys
import time

import numpy as np
import cntk as C

from azureml.logging import get_azureml_logger

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data", "digits.csv.gz")
if not os.path.exists(DATA):  # the repository keeps what several samples need in one of them
    sys.exit("The data is not here. For a complete project: tenon project sample get mnist-cntk FOLDER")
import picture  # noqa: E402

CLASSES = 10


def load():
    """((pictures, digits) to learn from, (pictures, digits) held out); pictures are 8 by 8, from 0 to 1."""
    rows = np.loadtxt(DATA, delimiter=",")
    np.random.RandomState(0).shuffle(rows)  # the same held-out fifth for every seed
    pictures = (rows[:, :-1] / 16).astype(np.float32).reshape(-1, 8, 8)
    digits = rows[:, -1].astype(np.int64)
    return (pictures[360:], digits[360:]), (pictures[:360], digits[:360])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=0.002)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def report(logger, predicted, digits):
    """The last numbers and the picture."""
    counts = [[int(np.sum((digits == i) & (predicted == j))) for j in range(CLASSES)] for i in range(CLASSES)]
    logger.log("final accuracy", np.mean(predicted == digits)).wait()
    logger.log("accuracy per digit", [counts[k][k] / max(1, sum(counts[k])) for k in range(CLASSES)])
    picture.confusion_matrix("outputs/confusion.png", counts)


def make_model(pictures):
    with C.layers.default_options(init=C.glorot_uniform(), activation=C.relu):
        return C.layers.Sequential([
            C.layers.Convolution2D((3, 3), 16, pad=True),
            C.layers.MaxPooling((2, 2), strides=(2, 2)),
            C.layers.Dense(64),
            C.layers.Dense(CLASSES, activation=None)])(pictures)


def main():
    args = parse_arguments()
    logger = get_azureml_logger()
    device = C.use_default_device()
    print("CNTK %s on %s" % (C.__version__, device))
    logger.log("framework", "CNTK " + C.__version__)
    np.random.seed(args.seed)
    C.cntk_py.set_fixed_random_seed(args.seed)
    (pictures, digits), (held_out, answers) = load()
    pictures, held_out = pictures[:, np.newaxis], held_out[:, np.newaxis]
    one_of_ten = np.eye(CLASSES, dtype=np.float32)[digits]

    start = time.time()
    features, label = C.input_variable((1, 8, 8)), C.input_variable(CLASSES)
    model = make_model(features)
    loss = C.cross_entropy_with_softmax(model, label)
    learner = C.adam(model.parameters, lr=args.learning_rate, momentum=0.9, unit_gain=False,
                     minibatch_size=C.learners.IGNORE)  # the rate is for a batch, not for a sample
    trainer = C.Trainer(model, (loss, C.classification_error(model, label)), [learner])
    for epoch in range(1, args.epochs + 1):
        total = 0.0
        order = np.random.permutation(len(pictures))
        for first in range(0, len(order), args.batch_size):
            batch = order[first:first + args.batch_size]
            trainer.train_minibatch({features: pictures[batch], label: one_of_ten[batch]})
            total += trainer.previous_minibatch_loss_average * len(batch)
        accuracy = np.mean(np.argmax(model.eval({features: held_out}), axis=1) == answers)
        logger.log("loss", total / len(order))
        logger.log("accuracy", accuracy)
        print("epoch %2d  loss %.4f  accuracy %.4f" % (epoch, total / len(order), accuracy))
    print("%.1f s" % (time.time() - start))

    os.makedirs("outputs", exist_ok=True)
    model.save("outputs/digits.model")
    report(logger, np.argmax(model.eval({features: held_out}), axis=1), answers)


if __name__ == "__main__":
    main()
