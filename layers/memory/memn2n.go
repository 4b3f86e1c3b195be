package memory

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Tying is which tables the hops of a [MemN2N] share.
type Tying uint8

const (
	// Adjacent reads in each hop with the table that the hop before carried with: Hops + 1
	// tables, of which the first encodes questions, too, and the last says the answer.
	//
	//	A¹ = B,  Aᵏ⁺¹ = Cᵏ,  Wᵀ = Cᴷ
	Adjacent Tying = iota
	// LayerWise has the same tables in all hops, as a recurrent network has: A, C and B, a
	// matrix H that moves the state on, u ← u·H + o, and a W of its own.
	LayerWise
)

// MemN2N answers questions about stories, of Sukhbaatar and others, "End-To-End Memory
// Networks", 2015. A sentence i is a slot, which is read by what it is like, m, and carries
// what it says, c. Each hop reads all slots, weighed by how well they answer the question:
//
//	m_i = Σ_j l_j⊙A[x_ij] + A[time i]     c_i = Σ_j l_j⊙C[x_ij] + C[time i]     u = Σ_j l_j⊙B[q_j]
//	p = softmax_i(u·m_i)                  u ← u + Σ_i p_i·c_i, Hops times       y = u·W
//
// l is 1, or says where a word stands ([Position]). The times are rows of the tables behind
// those of the words: the first is that of the latest sentence. The words of a slot and the
// slots of a question are edges of two graphs, [Stories]. A question about no sentences is
// answered from its words alone.
type MemN2N struct {
	Vocab, Dim int
	Hops       int      // 0: 1
	Memory     int      // the last sentences that are held, and times; 0: 50
	Tying      Tying    `json:",omitempty"`
	Encoding   Encoding `json:",omitempty"`
	NoTime     bool     `json:",omitempty"` // sentences are a set

	// Longest is how many words the longest sentence has, for Position as the authors' program has it, and the
	// paper does not say it: J is Longest and one for all sentences, so that a word's place does not hang on how many
	// follow; the time of a sentence is its last word, with a place like any other; and places are counted
	// from the middle, l = 1 + 4·((k − (d+1)/2)/d)·((j − (J+1)/2)/J). Without it a network learns its stories by heart
	// sooner than what they have in common. 0: each sentence and question has its own J, and l of a time is 1.
	Longest int `json:",omitempty"`

	// Noise is the share of empty memories that a batch with a source of chance puts between
	// the sentences, at most. An empty memory takes a time and holds nothing, so it is not
	// read, as in the authors' program.
	Noise float64 `json:",omitempty"`

	// Linear leaves the softmax of the hops out: the scores themselves are the weights. A
	// training that begins so, and goes on with the softmax, ends better (linear start).
	Linear bool `json:",omitempty"`

	Tables []*grad.Param `json:"-"` // (Vocab+Memory)×Dim: Aᵏ of each hop and the last C, or A, C and B
	H      *grad.Param   `json:"-"` // Dim×Dim; of LayerWise, else nil
	W      *grad.Param   `json:"-"` // Dim×Vocab; of LayerWise, else nil
}

func (m *MemN2N) hops() int   { return max(1, m.Hops) }
func (m *MemN2N) memory() int { return int(grad.Preset(float64(m.Memory), 50)) }

func (m *MemN2N) rows() int {
	if m.NoTime {
		return m.Vocab
	}
	return m.Vocab + m.memory()
}

// tables is how many there are to be.
func (m *MemN2N) tables() int {
	if m.Tying == LayerWise {
		return 3
	}
	return m.hops() + 1
}

// Init makes the Params: all normal, with a deviation of 0.1.
func (m *MemN2N) Init(rng *rand.Rand) {
	compose.WantOptions(m)
	if m.Tying > LayerWise || m.Vocab < 1 || m.Dim < 1 {
		panic(&grad.TapeError{Op: "memory.MemN2N.Init", Why: fmt.Sprintf("Vocab is %d, Dim %d, Tying %d: want a word, a column, and Adjacent or LayerWise", m.Vocab, m.Dim, m.Tying)})
	}
	normal := func(rows, columns int) *grad.Param {
		p := grad.NewParam(rows, columns)
		p.Value.Normal(rng, 0, 0.1)
		return p
	}
	m.Tables, m.H, m.W = nil, nil, nil
	for range m.tables() {
		m.Tables = append(m.Tables, normal(m.rows(), m.Dim))
	}
	if m.Tying == LayerWise {
		m.H, m.W = normal(m.Dim, m.Dim), normal(m.Dim, m.Vocab)
	}
}

// Batch returns stories as graphs. With rng there are empty memories, as many as Noise says;
// nil is none, as in a test. The error names the story that is corrupt.
func (m *MemN2N) Batch(stories []Story, rng *rand.Rand) (*Stories, error) {
	if !(m.Noise >= 0 && m.Noise <= 1) {
		panic(&grad.TapeError{Op: "memory.MemN2N.Batch", Why: fmt.Sprintf("Noise is %v; it is a share, 0 to 1", m.Noise)})
	}
	l := librarian{
		op: "memory.MemN2N.Batch", vocab: m.Vocab, answers: m.Vocab, encoding: m.Encoding,
		longest: m.Longest, memory: m.memory(), times: !m.NoTime, noise: m.Noise,
	}
	return l.batch(stories, rng)
}

// Forward returns a row of logits for each question, one for each word.
func (m *MemN2N) Forward(t *grad.Tape, s *Stories) *grad.Var {
	y, _ := m.Apply(t, s)
	return y
}

// Apply returns the logits, and the weights of the slots in each hop: a number for each slot,
// in the order of s.Slots.
func (m *MemN2N) Apply(t *grad.Tape, s *Stories) (y *grad.Var, weights []*grad.Var) {
	m.check(s)
	tables := make([]*grad.Var, len(m.Tables))
	for i, p := range m.Tables {
		tables[i] = t.Use(p)
	}
	x, asks := s.read(tables), 0
	if m.Tying == LayerWise {
		asks = 2
	}
	u := s.questions(x, asks*m.Dim, m.Dim)
	weights = make([]*grad.Var, m.hops())
	for k := range weights {
		hop := look{x: x, values: corner{0, m.Dim}, linear: m.Linear}
		base := u
		if m.Tying == Adjacent {
			hop.keys, hop.values = corner{0, k * m.Dim}, corner{0, (k + 1) * m.Dim}
		} else {
			base = u.MatMul(t.Use(m.H))
		}
		u, weights[k] = hop.read(s, u, base)
	}
	if m.Tying == LayerWise {
		return u.MatMul(t.Use(m.W)), weights
	}
	return u.MatMulT(tables[len(tables)-1].RowRange(0, m.Vocab)), weights
}

// Attention returns what the slots weigh in a hop, 1 to Hops, in the order of s.Slots.
func (m *MemN2N) Attention(s *Stories, hop int) []tensor.Float {
	if hop < 1 || hop > m.hops() {
		panic(&tensor.ShapeError{Op: "memory.MemN2N.Attention", Shapes: [][]int{{hop}}, Why: fmt.Sprintf("hops are counted from 1 to %d", m.hops())})
	}
	_, weights := m.Apply(nil, s)
	return weights[hop-1].Value().Data
}

func (m *MemN2N) check(s *Stories) {
	const op = "memory.MemN2N"
	if len(m.Tables) != m.tables() {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("there are %d tables, and Hops and Tying say %d: set the fields first, then call Init", len(m.Tables), m.tables())})
	}
	compose.WantInit(op, m.Tables[0], m.Dim)
	if s == nil || s.Words.NumSrc() != m.Tables[0].Value.Rows() || s.values > 0 {
		panic(&grad.TapeError{Op: op, Why: "the stories are of another network: make them with its Batch"})
	}
}
