#!/usr/bin/env python3
"""Writes chunks.json: tagged sentences, and what conlleval says of them.

    python generate_chunks.py conlleval.pl > chunks.json

conlleval.pl is the script of the CoNLL-2000 shared task, version 2004-01-26, sha256
91659e7c6610b91ae4dee5a1bff59392ae4840430bd6f6349ecd4992ee0b2cae.
"""
import json
import random
import re
import subprocess
import sys

rng = random.Random(1)
TYPES = ["NP", "VP", "B-x"]


def tags(n, places):
    """Tags of no scheme in particular; E is not followed by B of its own type, which the script joins."""
    out = []
    while len(out) < n:
        place = rng.choice(places)
        tag = "O" if place == "O" else place + "-" + rng.choice(TYPES)
        if out and place == "B" and out[-1] == "E" + tag[1:]:
            continue
        out.append(tag)
    return out


def near(want, places):
    other = tags(len(want), places)
    out = [b if rng.random() < 0.3 else a for a, b in zip(want, other)]
    for k in range(1, len(out)):
        if out[k][0] == "B" and out[k - 1] == "E" + out[k][1:]:
            out[k] = "O"
    return out


cases = []
for places in ("BIO", "IO", "BIIIO", "IIIEO", "BIEO", "BO"):
    for sentences in (1, 2, 20):
        want = [tags(rng.randrange(1, 15), places) for _ in range(sentences)]
        cases.append((want, [near(w, places) for w in want]))
cases.append(([["O", "O"]], [["O", "O"]]))
cases.append(([["B-NP"]], [["O"]]))
cases.append(([["B", "I", "O", "I"]], [["B", "I", "I", "I"]]))

out = []
for want, got in cases:
    text = "\n\n".join("\n".join("w %s %s" % p for p in zip(w, g)) for w, g in zip(want, got)) + "\n"
    said = subprocess.run(["perl", sys.argv[1]], input=text, capture_output=True, text=True, check=True).stdout
    head = re.match(r"processed (\d+) tokens with (\d+) phrases; found: (\d+) phrases; correct: (\d+).\n"
                    r"accuracy: +([\d.]+)%; precision: +([\d.]+)%; recall: +([\d.]+)%; FB1: +([\d.]+)", said).groups()
    labels = {m[0]: [float(m[1]), float(m[2]), float(m[3]), int(m[4])]
              for m in re.findall(r"^ *(\S*): precision: +([\d.]+)%; recall: +([\d.]+)%; FB1: +([\d.]+)  (\d+)$", said, re.M)}
    out.append(json.dumps({"want": want, "got": got, "counts": [int(v) for v in head[:4]],
                           "shares": [float(v) for v in head[4:]], "labels": labels}))
print("[" + ",\n".join(out) + "]")
