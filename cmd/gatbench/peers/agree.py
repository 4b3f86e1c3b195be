#!/usr/bin/env python3
"""Trains the same thing here and in PyG (or DGL) from several seeds, and says whether accuracies agree.

    agree.py [--models gat,gcn,sage] [--datasets cora,citeseer,…] [--seeds 5] [--ours 20] [--epochs 200] [--rows needed] [--peer pyg]

PEERS, HERE, DATA, THREADS and GATBENCH are taken from the environment, as in a plan. A row has the mean
and the standard deviation of the test accuracy at the best validation epoch and after the last, in per
cent, for both sides; ours are quick, so there are more of them. They agree if the means differ by less than
three standard errors of the difference, from the spread of all runs about their own side's mean, or by less
than a point. The exit status is 1 if any does not. The sides start from different random numbers, so
nothing but the distribution can agree; of the same weights the tests of the layers compare losses and
gradients. Before the training has settled, other first weights alone put the sides apart: give it epochs
enough.
"""

import argparse
import os
import statistics
import sys

from compare import execute, fill, say

POINT = 1.0  # per cent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="gat,gcn,sage")
    parser.add_argument("--datasets", default="cora,citeseer,pubmed,photo,cs")
    parser.add_argument("--seeds", type=int, default=5, help="how many of the peer's, from 0")
    parser.add_argument("--ours", type=int, default=20, help="how many of ours, from 0")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--rows", default="needed", choices=["needed", "all"], help="which ours compute in a step")
    parser.add_argument("--peer", default="pyg", choices=["pyg", "dgl"])
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one training")
    args = parser.parse_args()
    if min(args.seeds, args.ours) < 2:
        parser.error(f"--seeds {args.seeds} --ours {args.ours}: one is no distribution; want at least 2")

    apart = 0
    print("dataset", "model", "epochs", "accuracy", f"edgewise, {args.ours} seeds", f"{args.peer}, {args.seeds}",
          "difference", "verdict", sep="\t")
    for dataset in args.datasets.split(","):
        for model in args.models.split(","):
            ours = results(args, args.ours, lambda seed: ours_of(args, dataset, model, seed))
            theirs = results(args, args.seeds, lambda seed: theirs_of(args, dataset, model, seed))
            for name in ("best_val_test_acc", "last_test_acc"):
                a, b = ([100 * r["extra"].get(name, 0.0) for r in rs] for rs in (ours, theirs))
                difference, agrees = judge(a, b)
                apart += not agrees
                print(dataset, model, args.epochs, name, shown(a), shown(b), f"{difference:+.1f}",
                      "agree" if agrees else "APART", sep="\t", flush=True)
    return 1 if apart else 0


def ours_of(args, dataset, model, seed):
    name = f"train/{dataset}" + ("" if model == "gat" else f"/{model}")
    return ["$GATBENCH", "bench", "--json", "--threads", "$THREADS", "--data", "$DATA",
            "--epochs", str(args.epochs), "--seed", str(seed), "--rows", args.rows, name]


def theirs_of(args, dataset, model, seed):
    form = ["--format", "csr"] if args.peer == "pyg" and model != "gat" else []  # the same function, sooner
    return [f"$PEERS/{args.peer}/bin/python", "-W", "ignore", "$HERE/peers.py", "--threads", "$THREADS",
            "--keep-memory", "citation", "--peer", args.peer, "--model", model, "--dataset", dataset, "--data", "$DATA",
            "--epochs", str(args.epochs), "--seed", str(seed), *form]


def results(args, seeds, argv_of):
    """The line of each seed."""
    lines = []
    for seed in range(seeds):
        argv = [fill(word, "agree.py") for word in argv_of(seed)]
        line = execute(argv, args.timeout)
        if "error" in line:
            raise SystemExit(f"{' '.join(argv)}: {line['error']}")
        say(f"{line['peer']} {line['op']} {line['params']['dataset']} seed {seed}: {line['extra'].get('last_test_acc')}")
        lines.append(line)
    return lines


def judge(a, b):
    """The difference of the means, and whether it is within the noise."""
    difference = statistics.mean(a) - statistics.mean(b)
    squares = (len(a) - 1) * statistics.variance(a) + (len(b) - 1) * statistics.variance(b)
    error = (squares / (len(a) + len(b) - 2) * (1 / len(a) + 1 / len(b))) ** 0.5
    return difference, abs(difference) < max(POINT, 3 * error)


def shown(values):
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"


if __name__ == "__main__":
    sys.exit(main())
