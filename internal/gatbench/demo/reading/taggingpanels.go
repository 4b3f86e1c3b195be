package reading

import (
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// doubtPanel shows how likely each tag of each word is in the sentence, of at most 14 words
// and among the first 200, whose likeliest tags are least certain.
func (n *taggingNet) doubtPanel(k *taggingTask, names []string) picture.Panel {
	h := &picture.Heat{Title: "how likely each tag is", Down: "tag", Top: 1}
	if n.CRF != nil {
		h.Title += ", by the marginals of the CRF"
	}
	least := math.Inf(1)
	for _, i := range k.trying[:min(200, len(k.trying))] {
		words := k.tried.Sentences[i]
		if len(words) > 14 || len(words) < 5 {
			continue
		}
		p := n.likelihoods(k.tests, i)
		if sure := certainty(p); sure < least {
			least, h.Columns = sure, words
			h.Rows, h.Values = likely(p, names)
		}
	}
	return h
}

// likelihoods returns how likely each tag of each word of a sentence is.
func (n *taggingNet) likelihoods(f *features, sentence int32) *tensor.Dense {
	rows := []int32{sentence}
	g, t := f.words.Rows(rows).Graph(), grad.NewEval()
	scores := n.forward(t, g, f, rows)
	if n.CRF == nil {
		return scores.Softmax().Value()
	}
	return n.CRF.Marginals(t, g, scores).Value()
}

// certainty is the probability of the likeliest tag of the word where it is lowest.
func certainty(p *tensor.Dense) float64 {
	least := 1.0
	for i := range p.Rows() {
		row := p.Row(i)
		least = min(least, float64(row[order(row)[0]]))
	}
	return least
}

// likely returns the tags that some word has with a probability of 5 %, a row each, and a
// column a word.
func likely(p *tensor.Dense, names []string) (rows []string, values [][]float64) {
	for k, name := range names {
		row, top := make([]float64, p.Rows()), 0.0
		for i := range row {
			row[i] = float64(p.Row(i)[k])
			top = max(top, row[i])
		}
		if top >= 0.05 {
			rows, values = append(rows, name), append(values, row)
		}
	}
	return rows, values
}

// transitionPanel shows what the CRF has learnt of the tags of the commoner phrases: how
// likely each follows each, where the words say nothing.
func (n *taggingNet) transitionPanel(names []string) picture.Panel {
	h := &picture.Heat{Title: "which tag follows which, by the CRF alone", Across: "then", Down: "after"}
	forbidden := map[sequence.Transition]bool{}
	for _, f := range n.CRF.Forbid {
		forbidden[f] = true
	}
	var common []int
	for k, name := range names {
		if _, label, _ := strings.Cut(name, "-"); name == "O" || phraseNames[label] != "" {
			common = append(common, k)
			h.Columns = append(h.Columns, name)
		}
	}
	for _, a := range common {
		row, sum := make([]float64, len(common)), 0.0
		for j, b := range common {
			if !forbidden[sequence.Transition{From: int32(a), To: int32(b)}] {
				row[j] = math.Exp(float64(n.CRF.Trans.Value.Row(a)[b]))
				sum += row[j]
			}
		}
		for j := range row {
			row[j] /= sum
		}
		h.Values = append(h.Values, row)
	}
	h.Rows = h.Columns
	return h
}
