package writing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// Antonyms and Dates rewrite a line, letter by letter: an RNN Encoder–Decoder reads it into
// one vector, and writes another from that.
var (
	Antonyms = stage.Demo{Name: "antonyms", About: "man becomes woman, and mans women: an encoder–decoder over letters", Seconds: 0.6, Act: antonyms{}, Next: "--cell rnn"}
	Dates    = stage.Demo{Name: "dates", About: "3 march 2021 becomes 2021-03-03", Seconds: 14, Act: stage.Func(runDates)}
)

// rewriter is an encoder–decoder and the letters on both sides.
type rewriter struct {
	Net            *sequence.EncoderDecoder
	source, target text.Tokeniser
}

func newRewriter(s *stage.Stage, p *text.Parallel, embed, hidden int) (*rewriter, error) {
	source, err := text.NewCharacters(p.Source, false)
	if err != nil {
		return nil, err
	}
	target, err := text.NewCharacters(p.Target, false)
	if err != nil {
		return nil, err
	}
	r := &rewriter{source: source, target: target, Net: &sequence.EncoderDecoder{
		Source: source.Len(), Target: target.Len(), Begin: text.Begin, Embed: embed, Hidden: hidden,
	}}
	r.Net.Init(s.RNG("weights"))
	return r, nil
}

// rewrite returns what becomes of lines, each letter the likeliest.
func (r *rewriter) rewrite(lines []string) ([]string, error) {
	return r.written(searchOf(r.Net, text.EncodeLines(r.source, lines), 24))
}

// blindly returns what becomes of lines when the decoder is fed the letter P every time.
func (r *rewriter) blindly(lines []string) ([]string, error) {
	s := searchOf(r.Net, text.EncodeLines(r.source, lines), 5)
	s.Step = decode.Blind(s.Step, r.target.Encode("P")[0])
	return r.written(s)
}

// halfBlindLoss is that of all pairs when a half of the letters that the decoder is fed are
// P: then the vector has to say it all, and the decoder can write blindly.
func (r *rewriter) halfBlindLoss(t *grad.Tape, pairs text.Pairs, forcing train.TeacherForcing) *grad.Var {
	b := pairs.Batch(stage.Every(pairs.Len()))
	fed, p := slices.Clone(b.Input.Tokens), r.target.Encode("P")[0]
	for v := range fed {
		if !forcing.Truth(int(t.Step()), v) {
			fed[v] = p
		}
	}
	return r.Net.Forward(t, b.Source.Graph, b.Source.Tokens, b.Input.Graph, fed).CrossEntropy(b.Output)
}

// written returns what a search finds, in letters.
func (r *rewriter) written(s *decode.Search) ([]string, error) {
	found, err := decode.Greedy{}.Run(s)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(found))
	for i, f := range found {
		out[i] = r.target.Decode(f.Tokens)
	}
	return out, nil
}

// right is the share of lines that become what they should.
func (r *rewriter) right(p *text.Parallel) (float64, error) {
	got, err := r.rewrite(p.Source)
	if err != nil {
		return 0, err
	}
	return float64(matches(got, p.Target)) / float64(max(1, len(p.Target))), nil
}

// matches is how many lines are as they should be.
func matches(got, want []string) int {
	n := 0
	for i, w := range want {
		if got[i] == w {
			n++
		}
	}
	return n
}

// antonyms are the flags of Antonyms.
type antonyms struct {
	Cell string `default:"gru" enum:"gru,rnn" placeholder:"NAME" help:"gru, an RNN Encoder–Decoder whose decoder is often fed P (the default), or rnn, two simple RNNs of 128 that read one-hot letters, beside it."`
}

// Run trains the networks, and shows what each writes.
func (f antonyms) Run(s *stage.Stage) error {
	p := text.Antonyms()
	ours, err := opposites(s, p)
	if err != nil {
		return err
	}
	all, values := []*opposite{ours}, ours.values()
	if f.Cell == "rnn" {
		given, err := plainOpposites(s, p)
		if err != nil {
			return err
		}
		all = []*opposite{given, ours}
		values = map[string]any{"rnn": given.values(), "gru": values}
	}
	s.Result(values)
	head := fmt.Sprintf("  %-6s", "word")
	for _, o := range all {
		head += "    " + o.name
	}
	s.Print("\n%s\n", head)
	for i, w := range append(slices.Clone(p.Source), "mansP") {
		line := fmt.Sprintf("  %-6s", unpadded(w))
		for _, o := range all {
			line += fmt.Sprintf(" -> %-*s", utf8.RuneCountInString(o.name), cmp.Or(unpadded(o.written[i]), "(nothing)"))
		}
		if i == len(p.Source) {
			line += "   (never seen)"
		}
		s.Print("%s\n", strings.TrimRight(line, " "))
	}
	s.Print("\n")
	for _, o := range all {
		s.Print("%s: fed P at every step, not what it has written, it writes %d of %d right; the loss is %.4f\n", o.name, o.blind, len(p.Source), o.loss)
	}
	s.Print("\n")
	loops := []*stage.Training{all[0].how}
	if f.Cell == "rnn" {
		loops = append(loops, ours.how)
	}
	s.Draw([]picture.Panel{dependencePanel(all[0].net, ours.letters, p.Source[0], p.Target[0]), stage.LossPanel(loops...)})
	return s.Keep(all[0].net)
}

// opposite is a network that has learnt antonyms, and how well.
type opposite struct {
	name    string
	net     taught
	letters *rewriter
	how     *stage.Training
	written []string // of the words, and of mans
	blind   int      // how many it writes right when it is fed P
	loss    float64
}

// values are those for machines.
func (o *opposite) values() map[string]any {
	mans := o.written[len(o.written)-1]
	return map[string]any{"right": stage.Last(o.how.Scores), "blind": float64(o.blind) / float64(len(o.written)-1), "loss": o.loss, "mans": unpadded(mans), "mans_is_women": matches([]string{mans}, []string{"women"})}
}

// opposites trains an RNN Encoder–Decoder.
func opposites(s *stage.Stage, p *text.Parallel) (*opposite, error) {
	r, err := newRewriter(s, p, 27, plainHidden)
	if err != nil {
		return nil, err
	}
	r.Net.Dropout = 0.5
	pairs, forcing := p.Encode(r.source, r.target), train.TeacherForcing{Schedule: train.Constant(0.5), Seed: s.Stream("forcing", 0)}
	s.Say("Six words and their opposites, in letters; each is made five long by the letter P, which is read and written as the others are. A GRU reads a word into one vector; another writes from it.")
	o := &opposite{name: "a GRU", net: r.Net, letters: r, how: &stage.Training{
		Stage: s, Name: "a GRU", Optimiser: &train.Adam{LR: 1e-3}, Epochs: s.EpochsOr(500), Batches: whole, Every: 50,
		Loss:  func(t *grad.Tape, _ []int32) *grad.Var { return r.halfBlindLoss(t, pairs, forcing) },
		Score: func() (float64, error) { return r.right(p) }, ScoreName: "right",
	}}
	if err := o.how.Run(); err != nil {
		return nil, err
	}
	blind, err := r.blindly(p.Source)
	if err != nil {
		return nil, err
	}
	o.blind, o.loss = matches(blind, p.Target), float64(taughtLoss(r.Net, grad.NewEval(), pairs, stage.Every(pairs.Len())).Value().Data[0])
	o.written, err = r.rewrite(append(slices.Clone(p.Source), "mansP"))
	return o, err
}

// plainOpposites trains two simple RNNs, which share an alphabet.
func plainOpposites(s *stage.Stage, p *text.Parallel) (*opposite, error) {
	letters, err := text.NewCharacters([]string{"Pabcdefghijklmnopqrstuvwxyz"}, false)
	if err != nil {
		return nil, err
	}
	s.Say("Now a simple RNN of %d reads each word, a letter one of %d numbers that is 1; another begins where it has ended, and writes.", plainHidden, letters.Len())
	net := newPlainPair(s.RNG("plain"), letters.Len(), false)
	write := func(lines []string, blind int32) []string {
		out := net.write(text.EncodeLines(letters, lines), 5, blind)
		words := make([]string, len(out))
		for i, tokens := range out {
			words[i] = letters.Decode(tokens)
		}
		return words
	}
	pairs := p.Encode(letters, letters)
	o := &opposite{name: "two RNNs", net: net, letters: &rewriter{source: letters, target: letters}, how: &stage.Training{
		Stage: s, Name: "two RNNs", Optimiser: &train.Adam{LR: 1e-3}, Epochs: s.EpochsOr(1500), Batches: whole, Every: 250,
		Loss: func(t *grad.Tape, _ []int32) *grad.Var { return taughtLoss(net, t, pairs, stage.Every(pairs.Len())) },
		Score: func() (float64, error) {
			return float64(matches(write(p.Source, blindNot), p.Target)) / float64(len(p.Target)), nil
		}, ScoreName: "right",
	}}
	if err := o.how.Run(); err != nil {
		return nil, err
	}
	o.blind, o.loss = matches(write(p.Source, letters.Encode("P")[0]), p.Target), float64(taughtLoss(net, grad.NewEval(), pairs, stage.Every(pairs.Len())).Value().Data[0])
	o.written = write(append(slices.Clone(p.Source), "mansP"), blindNot)
	return o, nil
}

// datesForcing feeds the decoder the truth at first, and in the end a quarter of its own.
func datesForcing(s *stage.Stage, steps int) train.TeacherForcing {
	return train.TeacherForcing{Schedule: train.Linear{From: 1, To: 0.75, Steps: steps}, Seed: s.Stream("forcing", 0)}
}

func runDates(s *stage.Stage) error {
	learnt := text.Task{Count: s.Count(5000), Seed: s.Stream("learnt", 0)}.Dates()
	tried := unseen(text.Task{Count: s.Count(400), Seed: s.Stream("test", 0)}.Dates(), learnt)
	r, err := newRewriter(s, learnt, 24, 96)
	if err != nil {
		return err
	}
	pairs := learnt.Encode(r.source, r.target)
	s.Say("%d dates as people write them, such as %q, and by ISO 8601; %d others, which it does not learn, are tried.", len(learnt.Source), learnt.Source[0], len(tried.Source))
	epochs := s.EpochsOr(12)
	forcing := datesForcing(s, epochs*pairs.Len()/64)
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 3e-3}, Clip: 5, Epochs: epochs,
		Batches: s.ByLength(pairs.Source.Lengths(), 64),
		Loss:    func(t *grad.Tape, rows []int32) *grad.Var { return forcedLoss(r.Net, t, pairs.Batch(rows), forcing) },
		Score:   func() (float64, error) { return r.right(tried) }, ScoreName: "test_right",
	}
	if err := l.Run(); err != nil {
		return err
	}
	few := tried.Source[:min(6, len(tried.Source))]
	got, err := r.rewrite(few)
	if err != nil {
		return err
	}
	s.Result(map[string]any{"test_right": stage.Last(l.Scores)})
	s.Print("\n  %-22s -> %s\n", "a date", "by ISO 8601")
	for i, d := range few {
		wrong := ""
		if got[i] != tried.Target[i] {
			wrong = fmt.Sprintf("   (it is %s)", tried.Target[i])
		}
		s.Print("  %-22s -> %s%s\n", d, got[i], wrong)
	}
	s.Print("\n%.1f %% of the dates it has not seen are right\n", 100*stage.Last(l.Scores))
	s.Draw([]picture.Panel{dependencePanel(r.Net, r, tried.Source[0], tried.Target[0]), stage.LossPanel(l)})
	return s.Keep(r.Net)
}

// dependencePanel shows which letters of a line those of another depend on.
func dependencePanel(net taught, r *rewriter, source, target string) picture.Panel {
	return &picture.Heat{
		Title: "nats a letter loses when one of the source is hidden", Across: "hidden", Down: "written",
		Rows: strings.Split(target, ""), Columns: strings.Split(source, ""),
		Values: dependence(net, r.source.Encode(source), r.target.Encode(target)),
	}
}

// unpadded is a word without the letters P that make all words of this task five long.
func unpadded(w string) string { return strings.TrimRight(w, "P") }

// unseen returns the pairs whose source is not among others.
func unseen(p, others *text.Parallel) *text.Parallel {
	seen, out := map[string]bool{}, new(text.Parallel)
	for _, line := range others.Source {
		seen[line] = true
	}
	for i, line := range p.Source {
		if !seen[line] {
			seen[line] = true
			out.Source, out.Target = append(out.Source, line), append(out.Target, p.Target[i])
		}
	}
	return out
}
