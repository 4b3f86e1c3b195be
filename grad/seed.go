package grad

// Seed returns the seed of the tape's dropouts.
func (t *Tape) Seed() uint64 { return t.seed }

// Restart makes t what [NewTape] returns for a seed, but keeps its memory: the
// next Reset begins the first step of another run.
func (t *Tape) Restart(seed uint64) { t.seed, t.step = seed, 0 }
