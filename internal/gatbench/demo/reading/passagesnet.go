package reading

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
)

// The widths of an embedding and of a state, one way.
const passageWidth, passageHidden = 32, 32

// passageNet reads texts and questions, and points. One of its networks is there.
type passageNet struct {
	Words       *grad.Param            `json:"-"` // a row a word
	BiDAF       *attention.BiDAF       `json:",omitempty"`
	Coattention *attention.Coattention `json:",omitempty"`
	Plain       *plainReader           `json:",omitempty"`
}

// newPassageNet returns the network of a name, for so many words.
func newPassageNet(s *stage.Stage, name string, words int, dropout float64) *passageNet {
	rng := s.RNG("weights")
	n := &passageNet{Words: grad.NewParam(words, passageWidth)}
	n.Words.Value.Normal(rng, 0, 1)
	switch name {
	case "coattention":
		n.Coattention = &attention.Coattention{In: passageWidth, Hidden: passageHidden, Pieces: 4, Dropout: dropout}
		n.Coattention.Init(rng)
	case "plain":
		n.Plain = &plainReader{Dropout: dropout}
		n.Plain.init(rng)
	default:
		n.BiDAF = &attention.BiDAF{In: passageWidth, Hidden: passageHidden, Dropout: dropout}
		n.BiDAF.Init(rng)
	}
	return n
}

// forward points.
func (n *passageNet) forward(t *grad.Tape, b *passageBatch) attention.Pointed {
	x, q := t.Use(n.Words).Rows(b.texts), t.Use(n.Words).Rows(b.questions)
	switch {
	case n.Coattention != nil:
		return n.Coattention.Forward(t, b.Reading, x, q)
	case n.Plain != nil:
		return n.Plain.forward(t, b.Reading, x, q)
	}
	return n.BiDAF.Forward(t, b.Reading, x, q)
}

// loss is what it learns by.
func (n *passageNet) loss(t *grad.Tape, b *passageBatch) *grad.Var {
	if n.Coattention != nil {
		return n.Coattention.Loss(t, b.Reading, t.Use(n.Words).Rows(b.texts), t.Use(n.Words).Rows(b.questions))
	}
	return n.forward(t, b).Loss(b.Reading)
}

// plainReader is BiDAF without its attention: of the question it has what an LSTM each way remembers of it when it
// begins to read the text.
type plainReader struct {
	Dropout           float64
	Read, Model, Tail sequence.Stack
	Start, End        layers.Linear
}

func (l *plainReader) init(rng *rand.Rand) {
	both := func(in, layers int) (s sequence.Stack) {
		for range layers {
			s.Layers = append(s.Layers, &sequence.LSTM{In: in, Hidden: passageHidden})
			s.Back = append(s.Back, &sequence.LSTM{In: in, Hidden: passageHidden})
			in = 2 * passageHidden
		}
		s.Init(rng)
		return s
	}
	const wide = 2 * passageHidden
	l.Read, l.Model, l.Tail = both(passageWidth, 1), both(wide, 2), both(wide, 1)
	l.Start, l.End = layers.Linear{In: 2 * wide, Out: 1}, layers.Linear{In: 2 * wide, Out: 1}
	l.Start.Init(rng)
	l.End.Init(rng)
}

func (l *plainReader) forward(t *grad.Tape, r *attention.Reading, x, q *grad.Var) attention.Pointed {
	_, asked := l.Read.ForwardFrom(t, r.Questions, t.Dropout(q, l.Dropout), nil)
	ends := []message.State{asked[0].Rows(r.Questions.Sinks()), asked[1].Rows(r.Questions.Roots())}
	h, _ := l.Read.ForwardFrom(t, r.Texts, t.Dropout(x, l.Dropout), ends)
	m := l.Model.Forward(t, r.Texts, t.Dropout(h, l.Dropout))
	tail := l.Tail.Forward(t, r.Texts, t.Dropout(m, l.Dropout))
	return attention.Pointed{
		Start: l.Start.Forward(t, t.Dropout(grad.Concat(h, m), l.Dropout)),
		End:   l.End.Forward(t, t.Dropout(grad.Concat(h, tail), l.Dropout)),
	}
}
