package reading

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// Tagging finds the phrases of a sentence: an LSTM reads it in both directions and scores
// the tags of each word, and a CRF finds the best tags of the sentence together. For parts
// of speech there is no CRF, and they are not read: see runPOS.
var Tagging = stage.Demo{Name: "tagging", About: "the phrases of a sentence (CoNLL-2000), by a bidirectional LSTM and a CRF", Data: "conll2000", Seconds: 10, Act: tagging{}, Next: "--target pos"}

// tagging are the flags of Tagging.
type tagging struct {
	Cell   string `default:"bilstm" enum:"bilstm,lstm" placeholder:"NAME" help:"The network: bilstm, which reads both ways (the default), or lstm, which reads forwards alone."`
	Target string `default:"chunks" enum:"chunks,pos" placeholder:"NAME" help:"Predict chunks (the default), the phrases of a sentence, or pos, the parts of speech."`
	Train  string `placeholder:"FILE" help:"Learn from this file instead of CoNLL-2000, in its form: on each line a word, its part of speech and its chunk tag, such as B-NP, I-NP or O, and an empty line after each sentence. Example: gatbench demo tagging --train mine.txt --test others.txt."`
	Test   string `placeholder:"FILE" help:"With --train: the sentences to try, in the same form."`
}

// Check returns an error for files that cannot be read, or one without the other.
func (f tagging) Check(written []cli.File) error {
	return stage.Files{Train: f.Train, Test: f.Test}.Check(written)
}

// taggingNet reads words, and says of each where a phrase begins and goes on.
type taggingNet struct {
	Words, Endings, Shapes, POS *grad.Param `json:"-"` // a row each; POS nil where it is to be found
	LSTM                        sequence.Stack
	Out                         layers.Linear
	CRF                         *sequence.CRF `json:",omitempty"` // of phrases
}

// features is what the network sees of words: numbers of each, a row of an embedding.
type features struct{ words, endings, shapes, pos text.Ragged }

// The widths of the embeddings.
const wordWidth, endingWidth, shapeWidth, posWidth = 64, 24, 4, 24

// newTaggingNet returns a network of so many tags, which reads so many parts of speech, or
// none of them, and finds the tags with a CRF, or without. It reads both ways, or forwards alone.
func newTaggingNet(s *stage.Stage, cell string, k *taggingTask, tags, pos int, crf *sequence.CRF) *taggingNet {
	const hidden = 64
	in := wordWidth + endingWidth + shapeWidth
	n := &taggingNet{
		Words: grad.NewParam(k.words.Len(), wordWidth), Endings: grad.NewParam(k.endings.Len(), endingWidth),
		Shapes: grad.NewParam(shapes, shapeWidth), Out: layers.Linear{In: hidden, Out: tags}, CRF: crf,
	}
	embeddings := []*grad.Param{n.Words, n.Endings, n.Shapes}
	if pos > 0 {
		n.POS, in = grad.NewParam(pos, posWidth), in+posWidth
		embeddings = append(embeddings, n.POS)
	}
	n.LSTM.Layers = []sequence.Cell{&sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1}}
	if cell == "bilstm" {
		n.LSTM.Back, n.Out.In = []sequence.Cell{&sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1}}, 2*hidden
	}
	rng := s.RNG("weights")
	for _, p := range embeddings {
		p.Value.Normal(rng, 0, 0.3)
	}
	n.LSTM.Init(rng)
	n.Out.Init(rng)
	if crf != nil {
		crf.Init(rng)
	}
	return n
}

// newChunkNet returns a network for phrases, whose tags a CRF finds.
func newChunkNet(s *stage.Stage, cell string, k *taggingTask) (*taggingNet, error) {
	rules, err := sequence.BIO(k.learnt.ChunkTags)
	if err != nil {
		return nil, err
	}
	crf := &sequence.CRF{Tags: len(k.learnt.ChunkTags), Forbid: rules}
	return newTaggingNet(s, cell, k, crf.Tags, len(k.learnt.POSTags), crf), nil
}

// forward returns a score of each tag for each word of some sentences.
func (n *taggingNet) forward(t *grad.Tape, g *graph.Graph, f *features, rows []int32) *grad.Var {
	const dropout = 0.3
	embed := func(p *grad.Param, r text.Ragged) *grad.Var { return t.Use(p).Rows(r.Rows(rows).Tokens) }
	parts := []*grad.Var{embed(n.Words, f.words), embed(n.Endings, f.endings), embed(n.Shapes, f.shapes)}
	if n.POS != nil {
		parts = append(parts, embed(n.POS, f.pos))
	}
	x := grad.Concat(parts...)
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

// taggingTask is the sentences of CoNLL-2000, and what a network sees of them.
type taggingTask struct {
	learnt, tried    *text.Tagged
	learning, trying []int32 // the sentences of each
	words, endings   *text.Vocabulary
	read, tests      *features
}

func (f tagging) read(s *stage.Stage) (*taggingTask, error) {
	k := &taggingTask{}
	if own := (ownFiles{stage.Files{Train: f.Train, Test: f.Test}}); own.Train != "" {
		var err error
		if k.learnt, k.tried, err = own.tagged(); err != nil {
			return nil, err
		}
	} else {
		folder, err := s.Folder()
		if err != nil {
			return nil, err
		}
		if k.learnt, k.tried, err = text.LoadCoNLL2000(folder); err != nil {
			return nil, err
		}
		if err := s.Enough(folder, len(k.learnt.Sentences), len(k.tried.Sentences)); err != nil {
			return nil, err
		}
	}
	k.learning, k.trying = s.Rows(len(k.learnt.Sentences)), s.Rows(len(k.tried.Sentences))
	var err error
	sentences := k.learnt.Sentences[:len(k.learning)]
	if k.words, err = text.NewVocabulary(mapped(sentences, strings.ToLower), 2); err != nil {
		return nil, err
	}
	if k.endings, err = text.NewVocabulary(mapped(sentences, ending), 2); err != nil {
		return nil, err
	}
	k.read, k.tests = featuresOf(k.learnt, k.words, k.endings), featuresOf(k.tried, k.words, k.endings)
	return k, nil
}

// batches returns the sentences to learn from, 32 at a time.
func (k *taggingTask) batches(s *stage.Stage) func(epoch int) [][]int32 {
	return s.ByLength(k.learnt.Chunks.Lengths()[:len(k.learning)], 32)
}

// Run trains the network and shows the phrases that it finds, or the parts of speech.
func (f tagging) Run(s *stage.Stage) error {
	k, err := f.read(s)
	if err != nil {
		return err
	}
	if f.Target == "pos" {
		return runPOS(s, f.Cell, k)
	}
	s.Say("%d sentences of %d words in all, and %d to try. Of a word the network sees which it is, its last three letters, its shape and its part of speech; of its tag, such as B-NP at the beginning of a noun phrase and I-NP within, the CRF sees which came before. A loss is that of a sentence.",
		len(k.learning), k.learnt.Chunks.Offsets[len(k.learning)], len(k.trying))

	net, err := newChunkNet(s, f.Cell, k)
	if err != nil {
		return err
	}
	var counts *train.SpanCounts
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 3e-3}, Clip: 5, Epochs: s.EpochsOr(3), Batches: k.batches(s),
		Loss: func(t *grad.Tape, rows []int32) *grad.Var {
			tags := k.learnt.Chunks.Batch(rows)
			return net.CRF.Loss(t, tags.Graph, net.forward(t, tags.Graph, k.read, rows), tags.Tokens)
		},
		Score: func() (float64, error) {
			if counts, err = net.counts(k.tests, k.tried, k.trying); err != nil {
				return 0, err
			}
			return counts.All.F1(), nil
		}, ScoreName: "test_f1",
	}
	if err := l.Run(); err != nil {
		return err
	}
	s.Result(map[string]any{"cell": f.Cell, "test_f1": counts.All.F1(), "test_precision": counts.All.Precision(), "test_recall": counts.All.Recall()})
	taggingResult(s, counts, net, k.tests, k.tried, k.trying)
	s.Draw([]picture.Panel{net.doubtPanel(k, k.learnt.ChunkTags), net.transitionPanel(k.learnt.ChunkTags)})
	return s.Keep(net)
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
func taggingResult(s *stage.Stage, c *train.SpanCounts, net *taggingNet, f *features, t *text.Tagged, rows []int32) {
	s.Print("\n")
	s.Say("F1 of the phrases %.2f %%: of those found %.2f %% are right, and %.2f %% of those there are found",
		100*c.All.F1(), 100*c.All.Precision(), 100*c.All.Recall())
	s.Print("\n")
	labels := slices.Collect(maps.Keys(c.Labels))
	there := func(label string) int { return c.Labels[label].TruePos + c.Labels[label].FalseNeg }
	slices.SortFunc(labels, func(a, b string) int { return cmp.Or(there(b)-there(a), strings.Compare(a, b)) })
	s.Print("  %-5s %7s  %7s\n", "kind", "F1", "phrases")
	for _, label := range labels {
		if there(label) > 0 {
			s.Print("  %-5s %5.1f %%  %7d  %s\n", label, 100*c.Labels[label].F1(), there(label), cmp.Or(phraseNames[label], "of this kind"))
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
		s.Print("\n")
		s.Say("%s", bracketed(words, spans))
	}
	s.Print("\n")
}

// phraseNames are the kinds of phrases in words.
var phraseNames = map[string]string{"NP": "noun phrases", "VP": "verb phrases", "PP": "prepositions", "ADVP": "adverb phrases", "ADJP": "adjective phrases", "SBAR": "what opens a clause", "PRT": "particles", "CONJP": "conjunctions", "INTJ": "interjections", "LST": "marks of a list"}

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
