"""How long gatbench train takes to reach an accuracy: how a graph is cut into steps is judged by that, not by the time of an epoch.

    python3 reach.py --gatbench ./gatbench --seeds 0-2 --to 0.89 -- pubmed --splits 60/20/20 --preset deep
    python3 reach.py --gatbench ./gatbench --seeds 0-2 --to 0.89 -- pubmed --splits 60/20/20 --preset deep --batch 1024 --fanout 5,5

What follows -- are the data and the flags of gatbench train. A training ends with the first epoch whose validation accuracy is at least --to. Times are sums of
the epochs' own, evaluations included, without reading the data. A line has the median over the seeds and the slowest; with --whole, trainings
run to their end, and the line has the median and the worst of their test accuracies too.
"""

import argparse, json, statistics, subprocess


def reach(gatbench, flags, seed, to, whole):
    """The seconds and epochs of one training to the accuracy, inf if it is never reached, and its test accuracy if it ran to its end."""
    command = [gatbench, "train", "--json", "--no-baseline", "--seed", str(seed), *flags]
    seconds, reached, test = 0.0, (float("inf"), 0), float("nan")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            e = json.loads(line)
            if e["event"] == "summary":
                test = e["test_accuracy"]
            if e["event"] != "epoch":
                continue
            seconds += e["ms"] / 1000
            if reached[1] == 0 and e["val_accuracy"] >= to:
                reached = seconds, e["epoch"]
                if not whole:
                    run.kill()
                    break
    if run.returncode and not reached[1]:
        raise SystemExit(f"{' '.join(command)}: exit status {run.returncode}")
    return *reached, test


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--gatbench", default="gatbench")
    p.add_argument("--seeds", default="0-2", help="the first and the last, such as 0-4")
    p.add_argument("--to", type=float, required=True, help="validation accuracy, from 0 to 1")
    p.add_argument("--whole", action="store_true", help="run each training to its end")
    p.add_argument("flags", nargs="+")
    a = p.parse_args()
    first, last = map(int, a.seeds.split("-"))
    runs = [reach(a.gatbench, a.flags, s, a.to, a.whole) for s in range(first, last + 1)]
    seconds, epochs, tests = ([r[i] for r in runs] for i in range(3))
    line = f"{statistics.median(seconds):7.1f} s (slowest {max(seconds):.1f}) and {statistics.median(epochs):g} epochs to {100 * a.to:.1f} %"
    if a.whole:
        line += f"; test {100 * statistics.median(tests):.2f}, worst {100 * min(tests):.2f}"
    print(f"{line}: {' '.join(a.flags)}", flush=True)


if __name__ == "__main__":
    main()
