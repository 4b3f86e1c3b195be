"""What scikit-learn reaches on the bank that `gatbench data generate bank` draws, beside gatbench without a flag.

    bank.py --gatbench ./gatbench --seeds 0-9 --work /tmp/bank -o bank.tsv

For each seed it draws the bank, divides the rows, trains gatbench and the peers on the same rows, and measures all on the
same test rows. A line of the result is one figure: seed, task, who, metric, value. What is there already is not done again.
Needs scikit-learn and pandas.

default  who defaults: average precision. Three fifths of each answer train, a fifth validates and a fifth tests.
         trees: gradient boosting on a customer's own columns and on counts, sums and means over payments and neighbours,
         with scikit-learn's settings; tuned: the best of 8 settings on the validation rows; labels: the same with the share of
         neighbours that defaulted among those that train; alone: own columns only.
fraud    which payments are frauds: average precision. The earliest 80 % train, the next 10 % validate, the rest tests.
         logistic: logistic regression on the columns of the payment and of both customers.
link     who pays whom: AUC beside as many pairs that are none, and the mean reciprocal rank of a link among 50 other recipients of
         its payer, on the links that gatbench tests. degrees: out-degree times in-degree among the links that train; all degrees:
         the product of both customers' degrees in both directions.
"""

import argparse
import itertools
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import MaxAbsScaler, StandardScaler


def read(folder):
    """The tables, with times as days, and payments' ends as places in the table of customers."""
    c = pd.read_csv(os.path.join(folder, "bank_nodes.csv"), keep_default_na=False, na_values={"age": [""], "income": [""]})
    p = pd.read_csv(os.path.join(folder, "bank_edges.csv"), keep_default_na=False)
    c["joined"] = (pd.to_datetime(c["joined"]) - pd.Timestamp("2000-01-01")).dt.days
    at = pd.to_datetime(p["at"])
    p["days"] = (at - pd.Timestamp("2023-01-01")) / pd.Timedelta(days=1)
    p["hour"] = at.dt.hour + at.dt.minute / 60
    place = pd.Series(np.arange(len(c)), index=c["id"])
    p["u"], p["v"] = place[p["source"]].to_numpy(), place[p["target"]].to_numpy()
    return c, p


def divide(folder, out, task, seed):
    """Writes the tables with a column split, as gatbench divides rows by default; a few rows of unknown answer are in no part."""
    os.makedirs(out, exist_ok=True)
    names = {"default": ("bank_nodes.csv", "defaulted"), "fraud": ("bank_edges.csv", "fraud")}
    for name in ("bank_nodes.csv", "bank_edges.csv"):
        t = pd.read_csv(os.path.join(folder, name), dtype=str, keep_default_na=False)
        if name == names[task][0]:
            t["split"] = ""
            label = t[names[task][1]]
            if task == "default":
                rng = np.random.default_rng(seed)
                for answer in ("yes", "no"):
                    rows = rng.permutation(np.flatnonzero(label == answer))
                    fifth = (len(rows) + 2) // 5
                    for part, some in (("val", rows[:fifth]), ("test", rows[fifth : 2 * fifth]), ("train", rows[2 * fifth :])):
                        t.loc[some, "split"] = part
            else:
                known = np.flatnonzero(label != "")
                times = np.sort(t["at"].to_numpy()[known])
                end, middle = times[int(0.8 * len(times)) - 1], times[int(0.9 * len(times)) - 1]
                t.loc[known, "split"] = np.where(t["at"].to_numpy()[known] <= end, "train", np.where(t["at"].to_numpy()[known] <= middle, "val", "test"))
        t.to_csv(os.path.join(out, name), index=False)


def mean_of(rows, at, n):
    """The mean of rows, which may be sparse, by the place that each belongs to; NaN where there is none."""
    spread = sparse.csr_matrix((np.ones(len(at)), (at, np.arange(len(at)))), shape=(n, len(at)))
    there = ~np.isnan(rows) if not sparse.issparse(rows) else None
    if there is None:
        total, count = (spread @ rows).toarray(), np.asarray(spread.sum(1))
    else:
        total, count = spread @ np.where(there, rows, 0), spread @ there.astype(float)
    with np.errstate(invalid="ignore"):
        return total / np.where(count > 0, count, np.nan)


def words(texts):
    return CountVectorizer(binary=True, min_df=5, token_pattern=r"[a-z]+").fit_transform(texts)


def own(c):
    """A customer's own columns; the names of those that are categories."""
    x = c[["age", "income", "joined"]].astype(float)
    for name in ("town", "occupation", "online"):
        x[name] = pd.Categorical(c[name])
    w = words(c["note"]).toarray()
    return pd.concat([x, pd.DataFrame(w.astype(float), columns=[f"note {i}" for i in range(w.shape[1])])], axis=1)


def around(c, p):
    """Counts, sums and means over a customer's payments, in each direction, and over those at their other ends."""
    n = len(c)
    numbers = np.column_stack([c["age"], c["income"], np.log(c["income"]), c["joined"], c["online"] == "yes"]).astype(float)
    lists = sparse.csr_matrix(pd.get_dummies(c[["town", "occupation"]]).to_numpy(float))
    notes = words(c["note"])
    paid = np.column_stack([p["amount"], np.log(p["amount"]), p["hour"], p["hour"] < 6, p["days"], p["fraud"] == "yes"]).astype(float)
    kinds = sparse.hstack([sparse.csr_matrix(pd.get_dummies(p["channel"]).to_numpy(float)), words(p["text"])]).tocsr()
    blocks = []
    for here, there in ((p["u"].to_numpy(), p["v"].to_numpy()), (p["v"].to_numpy(), p["u"].to_numpy())):
        count = np.bincount(here, minlength=n).astype(float)
        pairs = np.unique(np.column_stack([here, there]), axis=0)
        blocks += [count, np.bincount(pairs[:, 0], minlength=n)]
        blocks += [np.bincount(here, p[name] if name == "amount" else p[name] == "yes", minlength=n) for name in ("amount", "fraud")]
        blocks += [np.nan_to_num(p.groupby(here)["amount"].max().reindex(range(n)).to_numpy())]
        blocks += [mean_of(paid, here, n), mean_of(kinds, here, n), mean_of(numbers[there], here, n), mean_of(lists[there], here, n), mean_of(notes[there], here, n)]
    x = np.column_stack(blocks)
    return pd.DataFrame(x, columns=[f"around {i}" for i in range(x.shape[1])])


def neighbours_answers(c, p, train):
    """How many neighbours are known to have defaulted, and what share, among the rows that train."""
    known = np.where(train, (c["defaulted"] == "yes").astype(float), np.nan)
    here, there = np.concatenate([p["u"], p["v"]]), np.concatenate([p["v"], p["u"]])
    share = mean_of(known[there][:, None], here, len(c))[:, 0]
    count = np.bincount(here, np.nan_to_num(known[there]), minlength=len(c))
    return pd.DataFrame({"share defaulted": share, "number defaulted": count})


def trees(folder):
    c, p = read(folder)
    y = (c["defaulted"] == "yes").to_numpy()
    part = {name: np.flatnonzero(c["split"] == name) for name in ("train", "val", "test")}
    alone, near = own(c), around(c, p)
    both = pd.concat([alone, near], axis=1)
    sets = {"alone": alone, "trees": both, "labels": pd.concat([both, neighbours_answers(c, p, (c["split"] == "train").to_numpy())], axis=1)}

    def score(x, settings):
        m = HistGradientBoostingClassifier(random_state=0, categorical_features="from_dtype", **settings).fit(x.iloc[part["train"]], y[part["train"]])
        p = m.predict_proba(x)[:, 1]
        return average_precision_score(y[part["val"]], p[part["val"]]), average_precision_score(y[part["test"]], p[part["test"]])

    for who, x in sets.items():
        yield who, "ap", score(x, {})[1]
    grid = itertools.product((0.05,), (50, 150), (4, 15), (0, 10))
    settings = [dict(learning_rate=r, max_iter=i, max_leaf_nodes=n, l2_regularization=l) for r, i, n, l in grid]
    for who, x in (("tuned", sets["trees"]), ("tuned labels", sets["labels"])):
        yield who, "ap", max(score(x, s) for s in settings)[1]
    yield "chance", "ap", y[part["test"]].mean()


def ends(c):
    """A customer's own columns for a linear model: gaps filled with the median and said, numbers standardised, words one-hot."""
    x = c[["age", "income", "joined"]].astype(float)
    gaps = x.isna().astype(float).to_numpy()
    x = x.fillna(x.median())
    x["log income"] = np.log(x["income"])
    lists = pd.get_dummies(c[["town", "occupation", "online", "defaulted"]]).to_numpy(float)
    return sparse.hstack([StandardScaler().fit_transform(x), gaps, lists, words(c["note"])]).tocsr()


def logistic(folder):
    c, p = read(folder)
    y = (p["fraud"] == "yes").to_numpy()
    part = {name: np.flatnonzero(p["split"] == name) for name in ("train", "val", "test")}
    numbers = np.column_stack([p["amount"], np.log(p["amount"]), p["hour"], p["days"]])
    numbers = StandardScaler().fit(numbers[part["train"]]).transform(numbers)
    e = ends(c)
    x = sparse.hstack([numbers, pd.get_dummies(p["channel"]).to_numpy(float), words(p["text"]), e[p["u"].to_numpy()], e[p["v"].to_numpy()]]).tocsr()
    x = MaxAbsScaler().fit_transform(x)
    m = LogisticRegression(max_iter=2000).fit(x[part["train"]], y[part["train"]])
    yield "logistic", "ap", average_precision_score(y[part["test"]], m.predict_proba(x[part["test"]])[:, 1])
    yield "chance", "ap", y[part["test"]].mean()


def degrees(folder, model, run, seed):
    """AUC and mean reciprocal rank of what gatbench predicts and of the product of degrees, on the links that it tests."""
    c, p = read(folder)
    ids = c["id"].to_numpy()
    pairs = p[["source", "target"]].drop_duplicates()

    def ask(pairs):
        pairs.to_csv(model + ".asked.csv", index=False)
        run("predict", model, "--pairs", model + ".asked.csv", "--out", model + ".csv")
        got = pd.read_csv(model + ".csv", keep_default_na=False)
        return pairs.merge(got, on=["source", "target"], how="left", validate="many_to_one")

    known = ask(pairs)
    out, into = (known[known["known"] == "train"][end].value_counts().reindex(ids, fill_value=0) for end in ("source", "target"))
    total = out + into
    rng = np.random.default_rng(seed)
    there = set(zip(pairs["source"], pairs["target"]))
    test = known[known["known"] == "test"][["source", "target"]]

    def none(sources):
        ends = [(u, v) for u, v in zip(sources, rng.choice(ids, len(sources))) if u != v and (u, v) not in there]
        return pd.DataFrame(ends, columns=["source", "target"])

    some = test.sample(min(len(test), 400), random_state=seed)
    others = none(np.repeat(some["source"].drop_duplicates().to_numpy(), 60)).groupby("source").head(50)
    apart = none(rng.choice(ids, len(test)))
    got = ask(pd.concat([test, apart, others]).drop_duplicates()).set_index(["source", "target"])
    u, v = got.index.get_level_values(0), got.index.get_level_values(1)
    got["gatbench"] = got["score"]
    got["degrees"] = out[u].to_numpy() * into[v].to_numpy()
    got["all degrees"] = total[u].to_numpy() * total[v].to_numpy()
    by_source = {u: g for u, g in others.groupby("source")}
    for who in ("gatbench", "degrees", "all degrees"):
        score = got[who]
        yes, no = (score.loc[pd.MultiIndex.from_frame(x)].to_numpy() for x in (test, apart))
        yield who, "auc", roc_auc_score(np.repeat([1, 0], [len(yes), len(no)]), np.concatenate([yes, no]))
        ranks = []
        for u, v in some.itertuples(index=False):
            rest = score.loc[pd.MultiIndex.from_frame(by_source[u])].to_numpy()
            mine = score.loc[(u, v)]
            ranks.append(1 / (1 + (rest > mine).sum() + (rest == mine).sum() / 2))
        yield who, "mrr", float(np.mean(ranks))


def figures(a, seed, task):
    """Yields who, metric and value, of gatbench and of its peers."""
    drawn = os.path.join(a.work, f"bank{seed}")

    def run(*args):
        done = subprocess.run([a.gatbench, *args], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{shlex.join([a.gatbench, *args])}: {done.stderr.strip()}")
        return done.stdout

    if not os.path.exists(os.path.join(drawn, "bank_edges.csv")):
        run("data", "generate", "bank", "--seed", str(seed), "-o", drawn)
    folder = drawn
    if task != "link":
        folder = os.path.join(a.work, f"bank{seed}-{task}")
        divide(drawn, folder, task, seed)
    model = os.path.join(a.work, f"bank{seed}-{task}.safetensors")
    if not a.peers_only:
        label = {"default": ["--label", "defaulted"], "fraud": ["--label", "fraud"], "link": ["--task", "link"]}[task]
        said = run("train", "--dataset", folder, *label, "--save", model, *shlex.split(a.flags))
        with open(model + ".txt", "w") as f:
            f.write(said)
        if task == "default":
            run("predict", model, "--out", model + ".csv")
            got, (c, _) = pd.read_csv(model + ".csv", index_col="id"), read(folder)
            for part in ("val", "test"):
                rows = c[c["split"] == part]
                yield "gatbench" + " val" * (part == "val"), "ap", average_precision_score(rows["defaulted"] == "yes", got["p_yes"][rows["id"]])
        elif task == "fraud":
            yield "gatbench", "ap", float(re.search(r"^test .*?([0-9.]+)$", said, re.M)[1])
    if task == "default":
        yield from trees(folder)
    elif task == "fraud":
        yield from logistic(folder)
    elif not a.peers_only:
        yield from degrees(folder, model, run, seed)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--gatbench", required=True, help="the command")
    a.add_argument("--flags", default="", help="more flags for gatbench train, to compare them with none")
    a.add_argument("--seeds", default="0-9", help="of the generator: first-last")
    a.add_argument("--tasks", default="default,fraud,link")
    a.add_argument("--work", required=True, help="a folder for tables and models")
    a.add_argument("--peers-only", action="store_true", help="train scikit-learn's models alone")
    a.add_argument("-o", "--out", required=True, help="the file of figures, which is added to")
    a = a.parse_args()
    os.makedirs(a.work, exist_ok=True)
    rows = []
    if os.path.exists(a.out):
        with open(a.out) as f:
            rows = [line.rstrip("\n").split("\t") for line in f]
    first, _, last = a.seeds.partition("-")
    with open(a.out, "a") as f:
        for seed in range(int(first), int(last or first) + 1):
            for task in a.tasks.split(","):
                if any(r[:2] == [str(seed), task] for r in rows):
                    continue
                new = [[str(seed), task, who, metric, f"{value:.4f}"] for who, metric, value in figures(a, seed, task)]
                f.writelines("\t".join(r) + "\n" for r in new)
                f.flush()
                rows += new
    t = pd.DataFrame(rows, columns=["seed", "task", "who", "metric", "value"]).astype({"value": float})
    print(t.groupby(["task", "metric", "who"], sort=False)["value"].agg(["median", "min", "max", "count"]).round(4).to_string())


if __name__ == "__main__":
    main()
