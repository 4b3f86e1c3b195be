package reading

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// runPOS finds the part of speech of each word. What comes after a word says as much of it
// as what comes before: a network that reads forwards alone is wrong more often.
func runPOS(s *stage.Stage, cell string, k *taggingTask) error {
	names := k.learnt.POSTags
	s.Say("%d sentences of %d words in all, and %d to try. Of a word the network sees which it is, its last three letters and its shape, and says which of %d parts of speech it is.",
		len(k.learning), k.learnt.POS.Offsets[len(k.learning)], len(k.trying), len(names))
	net := newTaggingNet(s, cell, k, len(names), 0, nil)
	want := k.tried.POS.Rows(k.trying).Tokens
	guess := func() *train.Confusion {
		return train.NewConfusion(net.scores(k.tests, k.trying, len(names)), want)
	}
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 3e-3}, Epochs: s.EpochsOr(2), Batches: k.batches(s),
		Loss: func(t *grad.Tape, rows []int32) *grad.Var {
			tags := k.learnt.POS.Batch(rows)
			return net.forward(t, tags.Graph, k.read, rows).CrossEntropy(tags.Tokens)
		},
		Score: func() (float64, error) { return guess().Accuracy(), nil }, ScoreName: "test_accuracy",
	}
	if err := l.Run(); err != nil {
		return err
	}
	c := guess()
	scores := net.scores(k.tests, k.trying, len(names))
	unknown := rowsOf(k.tests.words.Rows(k.trying).Tokens, text.Unknown)
	ofUnknown := train.Accuracy(datasets.GatherRows(scores, unknown).(*tensor.Dense), datasets.Labels(want).Of(unknown))
	s.Result(map[string]any{"cell": cell, "target": "pos", "test_accuracy": c.Accuracy(), "test_accuracy_unknown": ofUnknown})
	s.Print("\n")
	s.Say("test accuracy %.1f %% of %d words. The ending, the shape and the neighbours of %d words are all that it knows of them; of these %.1f %% are right.",
		100*c.Accuracy(), len(want), len(unknown), 100*ofUnknown)
	s.Print("\nmost often confused: %s\n", confused(c, names))
	posSentences(s, net, k)
	s.Draw([]picture.Panel{commonPanel(c, names), net.doubtPanel(k, names)})
	return s.Keep(net)
}

// scores returns a row of scores for each word of sentences.
func (n *taggingNet) scores(f *features, rows []int32, tags int) *tensor.Dense {
	var data []tensor.Float
	t := grad.NewEval()
	for len(rows) > 0 {
		some := rows[:min(256, len(rows))]
		rows = rows[len(some):]
		t.ResetEval()
		data = append(data, n.forward(t, f.words.Rows(some).Graph(), f, some).Value().Data...)
	}
	return tensor.Of(data, len(data)/tags, tags)
}

// rowsOf returns where a token stands.
func rowsOf(tokens []int32, token int32) []int32 {
	var out []int32
	for i, k := range tokens {
		if k == token {
			out = append(out, int32(i))
		}
	}
	return out
}

// posSentences shows what the words of the first short sentences are taken for, and where
// the corpus says something else.
func posSentences(s *stage.Stage, net *taggingNet, k *taggingTask) {
	names := k.learnt.POSTags
	for shown, i := 0, 0; shown < 3 && i < len(k.trying); i++ {
		words, rows := k.tried.Sentences[k.trying[i]], k.trying[i:i+1]
		if len(words) > 24 {
			continue
		}
		shown++
		want, got := k.tried.POS.Rows(rows).Tokens, net.scores(k.tests, rows, len(names))
		tagged := make([]string, len(words))
		for j, w := range words {
			best := int32(order(got.Row(j))[0])
			if tagged[j] = w + "/" + names[best]; best != want[j] {
				tagged[j] += fmt.Sprintf(" (%s)", names[want[j]])
			}
		}
		s.Print("\n")
		s.Say("%s", strings.Join(tagged, " "))
	}
	s.Print("\nin parentheses: what the corpus says, where that is something else\n\n")
}

// commonPanel shows what the tags that one word in a hundred has are mistaken for.
func commonPanel(c *train.Confusion, names []string) picture.Panel {
	h := &picture.Heat{Title: "share of each of the common tags that is wrong", Across: "taken for", Down: "is"}
	sums, all := make([]int, len(names)), 0
	for a := range names {
		for b := range names {
			sums[a] += c.At(a, b)
		}
		all += sums[a]
	}
	var common []int
	for a, n := range sums {
		if 100*n >= all && n > 0 {
			common, h.Rows = append(common, a), append(h.Rows, names[a])
		}
	}
	for _, a := range common {
		row := make([]float64, len(common))
		for j, b := range common {
			if a == b {
				continue
			}
			row[j] = float64(c.At(a, b)) / float64(sums[a])
		}
		h.Values = append(h.Values, row)
	}
	h.Columns = h.Rows
	return h
}
