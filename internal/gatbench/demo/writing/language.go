package writing

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/docs"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/train"
)

// Language learns to write a text, a character after the other: any file, or else the
// guides of edgewise itself.
var Language = stage.Demo{Name: "language", About: "a text like the one it read, character by character (--text FILE)", Lower: []string{"bits_a_character", "bits_written"}, Seconds: 55, Act: language{}}

// language are the flags of Language.
type language struct {
	Text  string `placeholder:"FILE" help:"Learn from this text in UTF-8, and try its last twentieth. Default: edgewise's own guides."`
	Train string `placeholder:"FILE" help:"Learn from this text in UTF-8, and try that of --test. Example: gatbench demo language --train mine.txt --test others.txt."`
	Test  string `placeholder:"FILE" help:"With --train: the text to try."`
}

// Check returns an error for a text that cannot be read, or would be written over.
func (f language) Check(written []cli.File) error {
	if f.Text != "" && f.Train != "" {
		return cli.Misuse("--text and --train name different texts: leave one of them out")
	}
	if err := (stage.Files{Train: f.Train, Test: f.Test}).Check(written); err != nil {
		return err
	}
	read := cli.File{Flag: "--text", Path: f.Text}
	if err := cli.Ordinary(read); err != nil {
		return err
	}
	return cli.Apart([]cli.File{read}, written)
}

// languageNet says the next character.
type languageNet struct {
	Letters *grad.Param `json:"-"`
	LSTM    sequence.LSTM
	Out     layers.Linear
}

// forward returns the logits of the next character at each node, and the states.
func (n *languageNet) forward(t *grad.Tape, g *graph.Graph, tokens []int32, from message.State) (*grad.Var, message.State) {
	states := n.LSTM.ForwardFrom(t, g, t.Use(n.Letters).Rows(tokens), from)
	return n.Out.Forward(t, states[0]), states
}

// The text is read by so many readers at once, each at a place of its own, in segments of
// which the gradient sees one: the state goes on from segment to segment.
const (
	languageReaders = 32
	languageSegment = 50
	languageHidden  = 192
	languagePrimed  = 500 // characters of the text that are read before it writes
)

// Run trains the network and shows what it writes.
func (f language) Run(s *stage.Stage) error {
	letters, tokens, cut, err := f.read(s)
	if err != nil {
		return err
	}
	n := &languageNet{
		Letters: grad.NewParam(letters.Len(), 48),
		LSTM:    sequence.LSTM{In: 48, Hidden: languageHidden, ForgetBias: 1}, Out: layers.Linear{In: languageHidden, Out: letters.Len()},
	}
	rng := s.RNG("weights")
	n.Letters.Value.Normal(rng, 0, 1)
	n.LSTM.Init(rng)
	n.Out.Init(rng)
	r := newReaders(tokens[:cut])
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 4e-3, Schedule: train.Cosine{Steps: r.segments * s.EpochsOr(16), Min: 0.05}}, Clip: 5, Epochs: s.EpochsOr(16),
		Batches: func(int) [][]int32 { return make([][]int32, r.segments) },
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			g, in, next := r.segment()
			y, states := n.forward(t, g, in, r.state)
			r.state = states.Rows(g.Sinks()).Keep()
			return y.CrossEntropy(next)
		},
		Score: func() (float64, error) { return math.Exp(n.loss(tokens[cut:])), nil }, ScoreName: "perplexity",
	}
	if err := l.Run(); err != nil {
		return err
	}
	found, err := n.write(tokens[max(0, cut-languagePrimed):cut], 400, s.Stream("written", 0))
	if err != nil {
		return err
	}
	written := letters.Decode(found.Tokens)
	perplexity := stage.Last(l.Scores)
	s.Result(map[string]any{"perplexity": perplexity, "bits_a_character": math.Log2(perplexity), "bits_written": bits([]float64{-found.LogProb / 400})[0], "text": written})
	s.Say("A character of new text costs %.2f bits (perplexity %.2f); if all characters were equally likely, it would cost %.1f. A sample of what the network writes:", math.Log2(perplexity), perplexity, math.Log2(float64(letters.Len())))
	s.Print("\n")
	for line := range strings.Lines(written) {
		s.Say("%s", strings.TrimSpace(line))
	}
	s.Print("\n")
	chart := &picture.Chart{Title: "bits a character", X: picture.Axis{Label: "epoch", Whole: true}, Series: []picture.Series{
		stage.Curve("learnt", 0, bits(l.Losses)), stage.Curve("tried", 1, bits(logs(l.Scores))),
	}}
	s.Draw([]picture.Panel{chart})
	return s.Keep(n)
}

// read returns what there is to learn in numbers, and behind it, from cut on, what there is to try.
func (f language) read(s *stage.Stage) (letters *text.Characters, tokens []int32, cut int, err error) {
	learnt, title, err := f.readings()
	if err != nil {
		return nil, nil, 0, err
	}
	tried := ""
	if f.Test != "" {
		lines, err := text.LoadLines(f.Test)
		if err != nil {
			return nil, nil, 0, err
		}
		if tried = strings.Join(lines, "\n"); utf8.RuneCountInString(tried) < 2 {
			return nil, nil, 0, fmt.Errorf("demo language: --test %s: it takes two characters or more", f.Test)
		}
	}
	if letters, err = text.NewCharacters(strings.SplitAfter(learnt+tried, "\n"), false); err != nil {
		return nil, nil, 0, err
	}
	tokens, least := letters.Encode(learnt), languageReaders*(languageSegment+1)
	kept := "The last twentieth is kept for testing."
	if cut = len(tokens); f.Test != "" {
		tokens = append(tokens, letters.Encode(tried)...)
		kept = fmt.Sprintf("%d characters of %s are to be tried.", len(tokens)-cut, f.Test)
	} else {
		cut, least = cut*95/100, least*100/95+1
	}
	if cut < languageReaders*(languageSegment+1) {
		return nil, nil, 0, fmt.Errorf("demo language: %s has %d characters; it takes %d or more", title, utf8.RuneCountInString(learnt), least)
	}
	s.Say("%s: %d characters, %d of them different. %s", title, utf8.RuneCountInString(learnt), letters.Len()-int(text.First), kept)
	return letters, tokens, cut, nil
}

// readings returns what is learnt from, and what it is called.
func (f language) readings() (all, title string, err error) {
	if own := f.Text + f.Train; own != "" {
		l, err := text.LoadLines(own)
		return strings.Join(l, "\n"), own, err
	}
	pages, err := fs.Glob(docs.Guides, "*/*.md")
	if err != nil || len(pages) == 0 {
		return "", "", errors.Join(err, errors.New("demo language: the program holds no guides"))
	}
	var b strings.Builder
	for _, p := range pages {
		page, err := fs.ReadFile(docs.Guides, p)
		if err != nil {
			return "", "", err
		}
		b.WriteString(prose(string(page)))
	}
	return b.String(), "edgewise's own guides, without code and tables", nil
}

// Marks of a page that are none of its prose: code between lines of three backticks; and of
// what remains titles, tables and pictures, and the marks within a line.
var (
	codeBlocks = regexp.MustCompile("(?ms)^ *```.*?^ *``` *$")
	notProse   = regexp.MustCompile(`(?m)^ *(#|\||!\[|<).*$`)
	links      = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	marks      = strings.NewReplacer("`", "", "**", "")
)

// prose returns the paragraphs of a page, a line each.
func prose(page string) string {
	page = notProse.ReplaceAllString(codeBlocks.ReplaceAllString(page, ""), "")
	page = marks.Replace(links.ReplaceAllString(page, "$1"))
	var b strings.Builder
	for _, paragraph := range strings.Split(page, "\n\n") {
		if words := strings.Fields(paragraph); len(words) > 0 {
			b.WriteString(strings.Join(words, " ") + "\n")
		}
	}
	return b.String()
}

// readers read a text at several places.
type readers struct {
	tokens   []int32
	each     int // characters of a reader
	segments int
	at       int // the segment that comes
	state    message.State
	graph    *graph.Graph
}

func newReaders(tokens []int32) *readers {
	r := &readers{tokens: tokens, each: (len(tokens) - 1) / languageReaders}
	r.segments = r.each / languageSegment
	r.graph = graph.Chains(slices.Repeat([]int{languageSegment}, languageReaders)...)
	return r
}

// segment returns the next segment of all readers: the chains, and of each node its
// character and the next. At the beginning of the text nothing has been read.
func (r *readers) segment() (g *graph.Graph, in, next []int32) {
	if r.at == r.segments {
		r.at = 0
	}
	if r.at == 0 {
		r.state = nil
	}
	for i := range languageReaders {
		from := i*r.each + r.at*languageSegment
		in, next = append(in, r.tokens[from:from+languageSegment]...), append(next, r.tokens[from+1:from+languageSegment+1]...)
	}
	r.at++
	return r.graph, in, next
}

// loss is the mean cross-entropy of a text.
func (n *languageNet) loss(tokens []int32) float64 {
	t, sum := grad.NewEval(), 0.0
	var state message.State
	for at := 0; at+1 < len(tokens); at += 500 {
		t.Reset()
		end := min(at+500, len(tokens)-1)
		g := graph.Chains(end - at)
		y, states := n.forward(t, g, tokens[at:end], state)
		sum += float64(y.CrossEntropy(tokens[at+1 : end+1]).Value().Data[0]) * float64(end-at)
		state = states.Rows(g.Sinks()).Keep()
	}
	return sum / float64(len(tokens)-1)
}

// write has the network go on from a text: each character drawn by its probability, a little
// sharpened. It reads the text first, since it has hardly learnt from the state of one that has
// read nothing: from there some networks find no way into the language.
func (n *languageNet) write(from []int32, length int, seed uint64) (decode.Sequence, error) {
	t, g, end := grad.NewEval(), graph.Chains(len(from)-1), len(from)-1
	_, states := n.forward(t, g, from[:end], nil)
	found, err := decode.Sample{Temperature: 0.7, Seed: seed}.Run(&decode.Search{
		Begin: from[end:], End: decode.NoEnd, Longest: []int{length},
		State: decode.State(states.Rows(g.Sinks()).Keep()),
		Step: func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
			y, next := n.forward(t, graph.Chains(slices.Repeat([]int{1}, l.Len())...), l.Last, message.State(l.State))
			return y, decode.State(next)
		},
	})
	if err != nil {
		return decode.Sequence{}, err
	}
	return found[0], nil
}

// bits are numbers of nats in bits.
func bits(nats []float64) []float64 {
	out := make([]float64, len(nats))
	for i, n := range nats {
		out[i] = n / math.Ln2
	}
	return out
}

// logs are the logarithms of numbers.
func logs(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Log(x)
	}
	return out
}
