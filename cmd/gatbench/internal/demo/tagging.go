package demo

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// tagging finds the phrases of a sentence: an LSTM reads it in both directions and scores
// the tags of each word, and a CRF finds the best tags of the sentence together.
var tagging = Demo{Name: "tagging", About: "the phrases of a sentence (CoNLL-2000), by a bidirectional LSTM and a CRF", Data: "conll2000", Run: runTagging}

// taggingNet reads words, and says of each where a phrase begins and goes on.
type taggingNet struct {
	Words, Endings, Shapes, POS *grad.Param `json:"-"` // a row each
	LSTM                        sequence.Stack
	Out                         layers.Linear
	CRF                         sequence.CRF
}

// features is what the network sees of words: numbers of each, a row of an embedding.
type features struct{ words, endings, shapes, pos text.Ragged }

// The widths of the embeddings.
const wordWidth, endingWidth, shapeWidth, posWidth = 64, 24, 4, 24

func newTaggingNet(s *Stage, words, endings *text.Vocabulary, t *text.Tagged) (*taggingNet, error) {
	const in, hidden = wordWidth + endingWidth + shapeWidth + posWidth, 64
	rules, err := sequence.BIO(t.ChunkTags)
	if err != nil {
		return nil, err
	}
	n := &taggingNet{
		Words: grad.NewParam(words.Len(), wordWidth), Endings: grad.NewParam(endings.Len(), endingWidth),
		Shapes: grad.NewParam(shapes, shapeWidth), POS: grad.NewParam(len(t.POSTags), posWidth),
		LSTM: sequence.Stack{
			Layers: []sequence.Cell{&sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1}},
			Back:   []sequence.Cell{&sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1}},
		},
		Out: layers.Linear{In: 2 * hidden, Out: len(t.ChunkTags)},
		CRF: sequence.CRF{Tags: len(t.ChunkTags), Forbid: rules},
	}
	rng := s.rng(1)
	for _, p := range []*grad.Param{n.Words, n.Endings, n.Shapes, n.POS} {
		p.Value.Normal(rng, 0, 0.3)
	}
	n.LSTM.Init(rng)
	n.Out.Init(rng)
	n.CRF.Init(rng)
	return n, nil
}

// forward returns a score of each tag for each word of some sentences.
func (n *taggingNet) forward(t *grad.Tape, g *graph.Graph, f *features, rows []int32) *grad.Var {
	const dropout = 0.3
	embed := func(p *grad.Param, r text.Ragged) *grad.Var { return t.Use(p).Rows(r.Rows(rows).Tokens) }
	x := grad.Concat(embed(n.Words, f.words), embed(n.Endings, f.endings), embed(n.Shapes, f.shapes), embed(n.POS, f.pos))
	return n.Out.Forward(t, t.Dropout(n.LSTM.Forward(t, g, t.Dropout(x, dropout)), dropout))
}

// tags returns the best tags of sentences, a few hundred of them at a time.
func (n *taggingNet) tags(f *features, rows []int32) []int32 {
	var out []int32
	t := grad.NewEval()
	for len(rows) > 0 {
		some := rows[:min(256, len(rows))]
		rows = rows[len(some):]
		t.ResetEval()
		g := f.words.Rows(some).Graph()
		tags, _ := n.CRF.Decode(g, n.forward(t, g, f, some))
		out = append(out, tags...)
	}
	return out
}

// shape says which characters a word is of.
func shape(word string) int32 {
	upper, letters, digits := 0, 0, 0
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
			}
		}
	}
	switch {
	case digits > 0:
		return 0
	case letters == 0:
		return 1
	case upper == letters && letters > 1:
		return 2
	case upper > 0:
		return 3
	}
	return 4
}

// shapes is how many shapes there are.
const shapes = 5

// mapped returns sentences with f of each word.
func mapped(sentences [][]string, f func(string) string) [][]string {
	out := make([][]string, len(sentences))
	for i, s := range sentences {
		for _, w := range s {
			out[i] = append(out[i], f(w))
		}
	}
	return out
}

// ending is the last three letters of a word.
func ending(word string) string {
	r := []rune(strings.ToLower(word))
	return string(r[max(0, len(r)-3):])
}

// featuresOf returns what the network sees of the words.
func featuresOf(t *text.Tagged, words, endings *text.Vocabulary) *features {
	f := &features{pos: t.POS}
	lower, last := mapped(t.Sentences, strings.ToLower), mapped(t.Sentences, ending)
	f.words, f.endings, f.shapes = t.POS, t.POS, t.POS
	f.words.Tokens, f.endings.Tokens, f.shapes.Tokens = nil, nil, nil
	for i, s := range t.Sentences {
		f.words.Tokens, f.endings.Tokens = append(f.words.Tokens, words.IDs(lower[i])...), append(f.endings.Tokens, endings.IDs(last[i])...)
		for _, w := range s {
			f.shapes.Tokens = append(f.shapes.Tokens, shape(w))
		}
	}
	return f
}

func runTagging(s *Stage) error {
	folder, err := s.folder()
	if err != nil {
		return err
	}
	learnt, tried, err := text.ReadCoNLL2000(folder)
	if err != nil {
		return err
	}
	learning, trying := s.few(len(learnt.Sentences)), s.few(len(tried.Sentences))
	words, err := text.NewVocabulary(mapped(learnt.Sentences[:len(learning)], strings.ToLower), 2)
	if err != nil {
		return err
	}
	endings, err := text.NewVocabulary(mapped(learnt.Sentences[:len(learning)], ending), 2)
	if err != nil {
		return err
	}
	s.say("%d sentences of %d words in all, and %d to try. Of a word the network sees which it is, its last three letters, its shape and its part of speech; of its tag, such as B-NP at the beginning of a noun phrase and I-NP within, the CRF sees which came before.",
		len(learning), learnt.Chunks.Offsets[len(learning)], len(trying))

	net, err := newTaggingNet(s, words, endings, learnt)
	if err != nil {
		return err
	}
	read, tests := featuresOf(learnt, words, endings), featuresOf(tried, words, endings)
	var failed error
	var counts *train.SpanCounts
	l := &training{
		Stage: s, optimiser: &train.Adam{LR: 3e-3}, clip: 5, epochs: s.epochs(3),
		batches: func(epoch int) [][]int32 {
			return text.ByLength(learnt.Chunks.Lengths()[:len(learning)], 32, s.Seed, epoch)
		},
		loss: func(t *grad.Tape, rows []int32) *grad.Var {
			tags := learnt.Chunks.Batch(rows)
			return net.CRF.Loss(t, tags.Graph, net.forward(t, tags.Graph, read, rows), tags.Tokens)
		},
		score: func() (float64, string) {
			if counts, failed = net.counts(tests, tried, trying); failed != nil {
				return math.NaN(), "test_f1"
			}
			return counts.All.F1(), "test_f1"
		},
	}
	if err := l.run(); err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	s.result(map[string]any{"test_f1": counts.All.F1(), "test_precision": counts.All.Precision(), "test_recall": counts.All.Recall()})
	s.taggingResult(counts, net, tests, tried, trying)
	if err := s.draw([]picture.Panel{net.doubtPanel(tests, tried, trying), net.transitionPanel(learnt.ChunkTags)}); err != nil {
		return err
	}
	return s.keep(net)
}

// counts compares the phrases that are found with those that are there.
func (n *taggingNet) counts(f *features, t *text.Tagged, rows []int32) (*train.SpanCounts, error) {
	found := t.Chunks.Rows(rows)
	want := named(found, t.ChunkTags)
	found.Tokens = n.tags(f, rows)
	return train.CountChunks(want, named(found, t.ChunkTags))
}

// named returns the names of tags.
func named(r text.Ragged, names []string) [][]string {
	out := make([][]string, r.Len())
	for i := range out {
		for _, tag := range r.Sequence(i) {
			out[i] = append(out[i], names[tag])
		}
	}
	return out
}

// taggingResult says how well each kind of phrase is found, and shows some sentences.
func (s *Stage) taggingResult(c *train.SpanCounts, net *taggingNet, f *features, t *text.Tagged, rows []int32) {
	s.print("\nF1 of the phrases %.2f %%: of those found %.2f %% are right, and %.2f %% of those there are found\n\n",
		100*c.All.F1(), 100*c.All.Precision(), 100*c.All.Recall())
	for _, label := range []string{"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT"} {
		if n, ok := c.Labels[label]; ok {
			s.print("  %-5s %5.1f %%  of %d %s phrases\n", label, 100*n.F1(), n.TruePos+n.FalseNeg, phraseNames[label])
		}
	}
	for shown, i := 0, 0; shown < 3 && i < len(rows); i++ {
		words := t.Sentences[rows[i]]
		if len(words) > 24 {
			continue
		}
		shown++
		tags := t.Chunks.Rows(rows[i : i+1])
		tags.Tokens = net.tags(f, rows[i:i+1])
		spans, err := train.Chunks(named(tags, t.ChunkTags)[0])
		if err != nil {
			return // the rules of BIO leave none
		}
		s.print("\n")
		s.say("%s", bracketed(words, spans))
	}
	s.print("\n")
}

// phraseNames are the kinds of phrases in words.
var phraseNames = map[string]string{"NP": "noun", "VP": "verb", "PP": "prepositional", "ADVP": "adverb", "ADJP": "adjective", "SBAR": "clause-opening", "PRT": "particle"}

// bracketed returns a sentence with brackets around its phrases.
func bracketed(words []string, spans []train.Span) string {
	out := make([]string, len(words))
	copy(out, words)
	for _, p := range spans {
		out[p.Start] = fmt.Sprintf("[%s %s", p.Label, out[p.Start])
		out[p.End-1] += "]"
	}
	return strings.Join(out, " ")
}
