package memories

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Lookup asks for one of six pairs by its key: attention that takes a mean of all values is
// trained by its gradient, attention that looks at one is trained by what it drew.
var Lookup = stage.Demo{Name: "lookup", About: "the value of a key, by soft attention, and by hard attention that is trained by REINFORCE", Aside: []string{"dropped"}, Seconds: 1.5, Act: stage.Func(runLookup)}

// The task: pairs of a key and a value of which one key is asked for.
const (
	lookupKeys   = 20
	lookupValues = 10
	lookupPairs  = 6
	lookupBatch  = 64
	lookupLeast  = 0.3 // weights below it are dropped
	lookupEarly  = 60  // the step after which some are shown, while they are spread
)

// lookups are questions: pairs of each, one after the other, the key that is asked for, and
// its value.
type lookups struct {
	g                          *graph.Graph // from the pairs to their question
	keys, values, asked, wants []int32
}

func newLookups(rng *rand.Rand, n int) lookups {
	members := make([]*graph.Graph, n)
	l := lookups{asked: make([]int32, n), wants: make([]int32, n)}
	for i := range members {
		members[i] = graph.CompleteBipartite(lookupPairs, 1)
		one := rng.IntN(lookupPairs)
		for j, key := range rng.Perm(lookupKeys)[:lookupPairs] {
			value := int32(rng.IntN(lookupValues))
			l.keys, l.values = append(l.keys, int32(key)), append(l.values, value)
			if j == one {
				l.asked[i], l.wants[i] = int32(key), value
			}
		}
	}
	l.g = graph.Batch(members...)
	return l
}

// lookupNet compares a question with keys, and says which value it has read.
type lookupNet struct {
	Keys, Queries, Values *grad.Param `json:"-"`
	Out                   layers.Linear
}

func newLookupNet(s *stage.Stage) *lookupNet {
	const width = 32
	rng := s.RNG("weights")
	n := &lookupNet{
		Keys: grad.NewParam(lookupKeys, width), Queries: grad.NewParam(lookupKeys, width), Values: grad.NewParam(lookupValues, width),
		Out: layers.Linear{In: width, Out: lookupValues},
	}
	for _, p := range []*grad.Param{n.Keys, n.Queries, n.Values} {
		p.Value.Normal(rng, 0, 0.3)
	}
	n.Out.Init(rng)
	return n
}

// inputs returns the rows of keys and questions, and those of values.
func (n *lookupNet) inputs(t *grad.Tape, l lookups) (in layers.In, values *grad.Var) {
	return layers.In{Src: t.Use(n.Keys).Rows(l.keys), Dst: t.Use(n.Queries).Rows(l.asked)}, t.Use(n.Values).Rows(l.values)
}

// softly reads the mean of all values.
func (n *lookupNet) softly(t *grad.Tape, l lookups) (logits *grad.Var, alpha message.Msg) {
	in, values := n.inputs(t, l)
	out := (&attention.Soft{Score: attention.Dot{}}).Read(t, l.g, in, values)
	return n.Out.Forward(t, out.Y), out.Attention
}

// hardly reads what hard attention of some mode chooses.
func (n *lookupNet) hardly(t *grad.Tape, l lookups, mode attention.Mode) (logits *grad.Var, c attention.Choice) {
	hard := &attention.HardAttention{Score: attention.Dot{}, Mode: mode, Filter: attention.Weighing{By: attention.Threshold, Least: lookupLeast}}
	in, values := n.inputs(t, l)
	c = hard.Read(t, l.g, in, values)
	return n.Out.Forward(t, c.Y), c
}

// right is the share of questions that are answered.
func (l lookups) right(logits *grad.Var) float64 {
	return train.Accuracy(logits.Value(), l.wants)
}

func runLookup(s *stage.Stage) error {
	s.Say("Six pairs of a key and a value, and one of the keys: which value has it? Soft attention reads the mean of all values and learns by gradients. Hard attention draws one pair, and learns from how well the answer went: REINFORCE, with a running mean of the loss for a baseline. The loss that is printed for it is the answers' and a term that is there for its gradient, REINFORCE: the sum can be negative.")
	soft, hard := newLookupNet(s), newLookupNet(s)
	tests := newLookups(s.RNG("test"), 1000)
	var early *dropping
	softly := lookupTraining(s, soft, 15, func(t *grad.Tape, l lookups) *grad.Var {
		if t.Step() == lookupEarly {
			early = soft.drop(tests, lookupEarly)
		}
		logits, _ := soft.softly(t, l)
		return logits.CrossEntropy(l.wants)
	}, func() float64 {
		logits, _ := soft.softly(grad.NewEval(), tests)
		return tests.right(logits)
	})
	var baseline attention.Baseline
	hardly := lookupTraining(s, hard, 30, func(t *grad.Tape, l lookups) *grad.Var {
		logits, c := hard.hardly(t, l, attention.Sampled)
		each := grad.CrossEntropy{Reduction: grad.EachLoss}.Of(logits, l.wants)
		loss := each.Mean().Add(c.LogP.Reinforce(baseline.Advantage(each)))
		return loss.Sub(c.Entropy().Mean().Scale(0.01)) // so that it does not settle too soon
	}, func() float64 {
		logits, _ := hard.hardly(grad.NewEval(), tests, attention.Sampled)
		return tests.right(logits)
	})
	for i, l := range []*stage.Training{softly, hardly} {
		s.Print("%s\n", []string{"soft", "hard, by draws"}[i])
		if err := l.Run(); err != nil {
			return err
		}
	}
	out := lookupResult(s, soft, hard, tests)
	late := soft.drop(tests, softly.Epochs*s.Steps())
	if early == nil { // there were fewer steps
		early = late
	}
	out["dropped"] = map[string]any{"early": early.numbers(), "late": late.numbers()}
	s.Result(out)
	s.Say("After %d steps the weights of soft attention below %.1f are dropped, and the others divided by their sum: %.0f %% of the weights went, which were %.0f %% of what was read, and %.1f %% of the questions have none left. Of the answers %.1f %% were right before, and %.1f %% after.",
		early.step, lookupLeast, 100*early.weights, 100*early.mass, 100*early.none, 100*early.rightBefore, 100*early.rightAfter)
	for _, h := range []*picture.Heat{early.before, early.after} {
		s.Print("\n")
		s.Heat(h)
	}
	s.Say("\nAt the end %.0f %% of the weights are dropped, which are %.1g of what is read.", 100*late.weights, late.mass)
	weights := soft.heat(tests, "weights of soft attention at the end")
	s.Heat(weights)
	s.Draw([]picture.Panel{early.before, early.after}, []picture.Panel{weights, hard.heat(tests, "probabilities of hard attention")})
	return s.Keep(soft)
}

// dropping is what becomes of soft attention when the weights below lookupLeast are dropped.
type dropping struct {
	step                    int
	before, after           *picture.Heat
	weights                 float64 // the share of weights that are dropped
	mass                    float64 // what they were of the sum of all
	none                    float64 // the share of questions that have none left
	rightBefore, rightAfter float64
}

// drop, after a step, weighs what is asked for with all weights, and with those that are left.
func (n *lookupNet) drop(l lookups, step int) *dropping {
	t := grad.NewEval()
	softly, all := n.softly(t, l)
	filtered, left := n.hardly(t, l, attention.Filtered)
	before, after := message.ApplyEdges(l.g, all).Value(), message.ApplyEdges(l.g, left.Attention).Value()
	d := &dropping{
		step: step, before: l.heat(before, fmt.Sprintf("weights after %d steps", step)), after: l.heat(after, fmt.Sprintf("those below %.1f dropped", lookupLeast)),
		rightBefore: l.right(softly), rightAfter: l.right(filtered),
	}
	for v := range l.g.NumDst() {
		kept := false
		for e := range l.g.Sources(v) {
			if after.Data[e] > 0 {
				kept = true
				continue
			}
			d.weights += 1 / float64(l.g.NumEdges())
			d.mass += float64(before.Data[e]) / float64(l.g.NumDst())
		}
		if !kept {
			d.none += 1 / float64(l.g.NumDst())
		}
	}
	return d
}

// numbers are those for machines.
func (d *dropping) numbers() map[string]any {
	return map[string]any{"weights": d.weights, "mass": d.mass, "none_left": d.none, "right_before": d.rightBefore, "right_after": d.rightAfter}
}

// lookupTraining trains on questions that are new at every step.
func lookupTraining(s *stage.Stage, n *lookupNet, epochs int, loss func(t *grad.Tape, l lookups) *grad.Var, right func() float64) *stage.Training {
	rng := s.RNG("steps")
	return &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 3e-3}, Epochs: s.EpochsOr(epochs), Every: 5,
		Loss:  func(t *grad.Tape, _ []int32) *grad.Var { return loss(t, newLookups(rng, lookupBatch)) },
		Score: func() (float64, error) { return right(), nil }, ScoreName: "test_right",
	}
}

// lookupResult says how each way of looking does on the same questions, and returns it.
func lookupResult(s *stage.Stage, soft, hard *lookupNet, tests lookups) map[string]any {
	softly, _ := soft.softly(grad.NewEval(), tests)
	argmax, _ := soft.hardly(grad.NewEval(), tests, attention.Argmax)
	filtered, _ := soft.hardly(grad.NewEval(), tests, attention.Filtered)
	drawn, _ := soft.hardly(grad.NewTape(s.Stream("sampled", 0)), tests, attention.Sampled)
	learnt, _ := hard.hardly(grad.NewEval(), tests, attention.Sampled)
	out := map[string]any{}
	s.Print("\n  %-40s share right of %d (a guess: 0.10)\n", "how it looks", len(tests.wants))
	for _, way := range []struct {
		key, about string
		logits     *grad.Var
	}{
		{"soft", "trained softly: the mean of all values", softly},
		{"argmax", "  the value of the largest weight", argmax},
		{"threshold", "  weights below 0.3 dropped", filtered},
		{"sampled", "  one value, drawn", drawn},
		{"reinforce", "trained by draws: the likeliest value", learnt},
	} {
		out[way.key] = tests.right(way.logits)
		s.Print("  %-40s %.3f\n", way.about, out[way.key])
	}
	s.Print("\n")
	return map[string]any{"test_right": out}
}

// heat shows where the first questions look: their weights, each on the key of its pair.
func (n *lookupNet) heat(l lookups, title string) *picture.Heat {
	_, msg := n.softly(grad.NewEval(), l)
	return l.heat(message.ApplyEdges(l.g, msg).Value(), title)
}

// heat shows the weights of the first questions.
func (l lookups) heat(alpha *tensor.Dense, title string) *picture.Heat {
	const shown = 12
	h := &picture.Heat{Title: title, Down: "asked for", Across: "keys, of which it is shown six", Top: 1}
	for j := range lookupKeys {
		h.Columns = append(h.Columns, fmt.Sprintf("%c", 'a'+j))
	}
	for i := range shown {
		row := make([]float64, lookupKeys)
		for e, u := range l.g.Sources(i) {
			row[l.keys[u]] = float64(alpha.Data[e])
		}
		h.Rows, h.Values = append(h.Rows, h.Columns[l.asked[i]]), append(h.Values, row)
	}
	return h
}
