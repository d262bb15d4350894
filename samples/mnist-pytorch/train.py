# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network on handwritten digits, with PyTorch."""
import argparse
import os
import sys
import time

import numpy as np
import torch
from torch import nn

from azureml.logging import get_azureml_logger

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data", "digits.csv.gz")
if not os.path.exists(DATA):  # the repository keeps what several samples need in one of them
    sys.exit("The data is not here. For a complete project: tenon project sample get mnist-pytorch FOLDER")
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


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(16 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, CLASSES))


def train_epoch(model, optimizer, pictures, digits, batch_size):
    """One pass in random order; returns the mean loss."""
    model.train()
    total = 0.0
    for batch in torch.randperm(len(pictures)).split(batch_size):
        batch = batch.to(pictures.device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(pictures[batch]), digits[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(pictures)


def predict(model, pictures):
    model.eval()
    with torch.no_grad():
        return model(pictures).argmax(1)


def main():
    args = parse_arguments()
    logger = get_azureml_logger()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("PyTorch %s on %s" % (torch.__version__, device))
    logger.log("framework", "PyTorch " + torch.__version__)
    torch.manual_seed(args.seed)
    (pictures, digits), (held_out, answers) = [
        (torch.from_numpy(p).unsqueeze(1).to(device), torch.from_numpy(d).to(device)) for p, d in load()]

    start = time.time()
    model = make_model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate)
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(model, optimizer, pictures, digits, args.batch_size)
        accuracy = (predict(model, held_out) == answers).float().mean()
        logger.log("loss", loss)
        logger.log("accuracy", accuracy)  # a tensor will do
        print("epoch %2d  loss %.4f  accuracy %.4f" % (epoch, loss, accuracy))
    print("%.1f s" % (time.time() - start))

    os.makedirs("outputs", exist_ok=True)
    torch.save(model.state_dict(), "outputs/model.pt")
    report(logger, predict(model, held_out).cpu().numpy(), answers.cpu().numpy())


if __name__ == "__main__":
    main()
