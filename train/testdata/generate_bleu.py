#!/usr/bin/env python3
"""Writes bleu.json: corpora, and what SacreBLEU says of them.

    pip install sacrebleu==2.6.0
    python generate_bleu.py > bleu.json
"""
import json
import random

import sacrebleu
from sacrebleu.metrics import BLEU

rng = random.Random(1)
WORDS = ("the a dog cat man woman runs, sits. on in Street street 3,000 1.5 U.S. it's isn't \"quoted\" (or so) "
         "state-of-the-art 1990-1995 1990- &quot;well&quot; AT&amp;T &lt;b&gt; &amp;lt; x=y; 50% $5.00 e.g., Größe "
         "naïve — – … ‘so’ «là» , . - !? a/b C++ #1 @home ~ {x} [y] `z` | \\ ^ _under_ A.B.C ,5 5, .5 5. -5 5-6").split(" ")


def sentence(n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def near(text):
    words = text.split(" ")
    for _ in range(rng.randrange(5)):
        k = rng.randrange(len(words) + 1)
        words[k:k + rng.randrange(2)] = [rng.choice(WORDS)] * rng.randrange(3)
    return " ".join(words)


def corpora():
    yield (["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."],
           [["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
            ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."]])
    yield [""], [["a b c"]]
    yield ["", ""], [["", ""]]
    yield ["a b c d e"], [["a b c d e"]]
    yield ["a a a a a"], [["a a b c d"]]          # counts are clipped
    yield ["a b x c d y"], [["a b z c d w"]]      # no 3-gram, no 4-gram
    yield ["x y z w v"], [["a b c d e"]]          # nothing
    yield ["a b"], [["a b"]]                      # too short for a 4-gram
    yield ["a b c"], [["a b c d e f g"]]          # brevity
    yield ["a b c d"], [["a b c"], ["a b c d e"]]  # as near: the shorter
    yield ["a b c d"], [["a b c d e"], ["a b c"]]
    yield (["Joined-\nline, broken\nline. <skipped>word\u00a0hard\u2003wide\u001cfs \t tab \r\n", "ÉCOLE Ünïcode"],
           [["Joinedline , broken line . word hard wide fs tab", "école ünïcode"]])
    for size, refs in ((1, 1), (3, 1), (5, 2), (8, 3), (30, 1)):
        first = [sentence(rng.randrange(1, 25)) for _ in range(size)]
        yield [near(s) for s in first], [[near(s) for s in first] for _ in range(refs)]


SETTINGS = [("13a", False, "exp", None, False), ("none", False, "exp", None, False), ("13a", True, "exp", None, False),
            ("13a", False, "none", None, False), ("13a", False, "floor", None, False), ("13a", False, "floor", 0.3, False),
            ("13a", False, "add-k", None, False), ("none", False, "add-k", 0.5, False), ("13a", False, "exp", None, True),
            ("none", True, "floor", None, True)]

out = []
for (hyp, refs) in corpora():
    for tokenize, lower, smooth, value, effective in SETTINGS:
        metric = BLEU(tokenize=tokenize, lowercase=lower, smooth_method=smooth, smooth_value=value, effective_order=effective)
        s = metric.corpus_score(hyp, refs)
        out.append({"tokenize": tokenize, "lower": lower, "smooth": smooth, "value": value or 0, "effective": effective,
                    "corpus": [hyp, refs], "score": s.score, "precisions": s.precisions, "bp": s.bp,
                    "hyp_len": s.sys_len, "ref_len": s.ref_len, "text": str(s)})
corpus, cases = [], []
for case in out:  # each corpus once
    if case["corpus"] not in corpus:
        corpus.append(case["corpus"])
    case["corpus"] = corpus.index(case["corpus"])
    cases.append(json.dumps(case, ensure_ascii=True))
tokens = [[t, sacrebleu.tokenizers.tokenizer_13a.Tokenizer13a()(t)]
          for t in ["".join(rng.choice("ab19.,- -'\"&;<>()é—\n\u00a0/:@") for _ in range(rng.randrange(30))) for _ in range(300)]]
print('{"version": "sacrebleu %s",' % sacrebleu.__version__)
print('"corpora": [\n' + ",\n".join(json.dumps({"hyp": h, "refs": r}) for h, r in corpus) + "],")
print('"tokens": ' + json.dumps(tokens) + ",")
print('"cases": [\n' + ",\n".join(cases) + "]}")
