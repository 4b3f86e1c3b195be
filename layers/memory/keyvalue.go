package memory

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// KeyValue answers questions from a memory whose slots are found by one thing and say another,
// of Miller and others, "Key-Value Memory Networks for Directly Reading Documents", 2016. The
// key is a sentence of a [Story], such as "directed blade runner", and the value what it says:
// "ridley scott".
//
//	k_i = Σ_j l_j⊙A[key_ij]    v_i = Σ_j l_j⊙A[value_ij]    u = Σ_j l_j⊙A[q_j]
//	p = softmax_i(u·k_i)       u ← (u + Σ_i p_i·v_i)·R_h, for each hop h       y = u·Bᵀ
//
// Keys, values and questions share their table. A memory is a set: no slot has a time.
type KeyValue struct {
	Vocab, Dim int
	Answers    int      // that there are to choose from
	Hops       int      // 0: 1
	Encoding   Encoding `json:",omitempty"`

	A *grad.Param   `json:"-"` // Vocab×Dim
	R []*grad.Param `json:"-"` // Dim×Dim, of each hop
	B *grad.Param   `json:"-"` // Answers×Dim
}

func (m *KeyValue) hops() int { return max(1, m.Hops) }

// Init makes the Params: tables normal, with a deviation of 0.1; each R begins as the identity
// with such noise.
func (m *KeyValue) Init(rng *rand.Rand) {
	compose.WantOptions(m)
	if m.Vocab < 1 || m.Dim < 1 || m.Answers < 1 {
		panic(&grad.TapeError{Op: "memory.KeyValue.Init", Why: fmt.Sprintf("Vocab is %d, Dim %d and Answers %d: want at least one of each", m.Vocab, m.Dim, m.Answers)})
	}
	normal := func(rows int) *grad.Param {
		p := grad.NewParam(rows, m.Dim)
		p.Value.Normal(rng, 0, 0.1)
		return p
	}
	m.A, m.B, m.R = normal(m.Vocab), normal(m.Answers), nil
	for range m.hops() {
		r := normal(m.Dim)
		for i := range m.Dim {
			r.Value.Row(i)[i]++
		}
		m.R = append(m.R, r)
	}
}

// Batch returns stories, each sentence with its value, as graphs. The error names the story
// that is corrupt.
func (m *KeyValue) Batch(stories []Story) (*Stories, error) {
	l := librarian{op: "memory.KeyValue.Batch", vocab: m.Vocab, answers: m.Answers, encoding: m.Encoding, values: true}
	return l.batch(stories, nil)
}

// Forward returns a row of logits for each question, one for each answer.
func (m *KeyValue) Forward(t *grad.Tape, s *Stories) *grad.Var {
	y, _ := m.Apply(t, s)
	return y
}

// Apply returns the logits, and the weights of the slots in each hop: a number for each slot,
// in the order of s.Slots.
func (m *KeyValue) Apply(t *grad.Tape, s *Stories) (y *grad.Var, weights []*grad.Var) {
	const op = "memory.KeyValue"
	compose.WantParam(op, m.A, true)
	compose.WantInit(op, m.A, m.Dim)
	if len(m.R) != m.hops() {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("there are %d matrices R, and Hops is %d: set the fields first, then call Init", len(m.R), m.hops())})
	}
	if s == nil || s.Words.NumSrc() != m.A.Value.Rows() || s.values != s.Slots.NumSrc() {
		panic(&grad.TapeError{Op: op, Why: "the stories are of another network: make them with its Batch"})
	}
	x := s.read([]*grad.Var{t.Use(m.A)})
	u := s.questions(x, 0, m.Dim)
	weights = make([]*grad.Var, len(m.R))
	for h, r := range m.R {
		hop := look{x: x, values: corner{s.values, 0}} // values stand behind their slots
		u, weights[h] = hop.read(s, u, u)
		u = u.MatMul(t.Use(r))
	}
	return u.MatMulT(t.Use(m.B)), weights
}
