# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network on handwritten digits, with TensorFlow 1.15 or 2."""
import argparse
import os
import sys
import time

import numpy as np
import tensorflow as tf

from azureml.logging import get_azureml_logger

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data", "digits.csv.gz")
if not os.path.exists(DATA):  # the repository keeps what several samples need in one of them
    sys.exit("The data is not here. For a complete project: tenon project sample get mnist-tensorflow FOLDER")
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


def make_model(learning_rate):
    pictures = tf.keras.Input(shape=(8, 8, 1))
    values = tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu")(pictures)
    values = tf.keras.layers.MaxPooling2D()(values)
    values = tf.keras.layers.Flatten()(values)
    values = tf.keras.layers.Dense(64, activation="relu")(values)
    model = tf.keras.Model(pictures, tf.keras.layers.Dense(CLASSES, activation="softmax")(values))
    model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    return model


class LogEpochs(tf.keras.callbacks.Callback):
    def __init__(self, logger):
        super(LogEpochs, self).__init__()
        self.logger = logger

    def on_epoch_end(self, epoch, logs=None):
        accuracy = logs.get("val_accuracy", logs.get("val_acc"))  # TensorFlow 1 says acc
        self.logger.log("loss", logs["loss"])
        self.logger.log("accuracy", accuracy)
        print("epoch %2d  loss %.4f  accuracy %.4f" % (epoch + 1, logs["loss"], accuracy))


def main():
    args = parse_arguments()
    logger = get_azureml_logger()
    gpus = tf.config.experimental.list_physical_devices("GPU")
    print("TensorFlow %s, %d GPU" % (tf.__version__, len(gpus)))
    logger.log("framework", "TensorFlow " + tf.__version__)
    np.random.seed(args.seed)
    tf.compat.v1.set_random_seed(args.seed)
    (pictures, digits), (held_out, answers) = load()
    pictures, held_out = pictures[..., np.newaxis], held_out[..., np.newaxis]

    start = time.time()
    model = make_model(args.learning_rate)
    history = model.fit(pictures, digits, batch_size=args.batch_size, epochs=args.epochs, verbose=0,
                        validation_data=(held_out, answers), callbacks=[LogEpochs(logger)])
    print("%.1f s" % (time.time() - start))

    os.makedirs("outputs", exist_ok=True)
    model.save("outputs/model.h5")
    logger.log("loss curve", history.history["loss"])
    report(logger, np.argmax(model.predict(held_out, verbose=0), axis=1), answers)


if __name__ == "__main__":
    main()
