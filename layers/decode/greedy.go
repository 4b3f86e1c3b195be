package decode

// Greedy takes the likeliest token at every step: a [Beam] of one.
type Greedy struct{}

// Run returns the sequence of each sentence.
func (Greedy) Run(s *Search) ([]Sequence, error) { return firsts(Beam{Width: 1}.Run(s)) }

// firsts returns the first sequence of each sentence.
func firsts(found [][]Sequence, err error) ([]Sequence, error) {
	if err != nil {
		return nil, err
	}
	out := make([]Sequence, len(found))
	for i, best := range found {
		out[i] = best[0]
	}
	return out, nil
}
