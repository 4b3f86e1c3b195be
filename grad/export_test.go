package grad

import "github.com/edgewise-ml/edgewise/tensor"

// SetHandLeast sets from how many elements a gradient is handed over.
func SetHandLeast(n int) (undo func()) {
	old := handLeast
	handLeast = n
	return func() { handLeast = old }
}

// SetJointLeast sets from how many elements a gradient gives those of weights and
// bias together.
func SetJointLeast(n int) (undo func()) {
	old := jointLeast
	jointLeast = n
	return func() { jointLeast = old }
}

// SetWaits says whether results wait for an operation that takes them along.
func SetWaits(on bool) (undo func()) {
	old := waits
	waits = on
	return func() { waits = old }
}

// Unread reports whether x will be worked out when it is first read.
func Unread(x *Var) bool {
	l := x.late.Load()
	return l != nil && l.state == waiting
}

// PackedOf returns the packed copies that w has of p: as it is, and transposed.
func PackedOf(w *Weights, p *Param) (copies []*tensor.Packed) {
	known, ok := w.of.Load(p)
	if !ok {
		return nil
	}
	for _, s := range []*packedSide{&known.(*packedParam).ahead, &known.(*packedParam).turned} {
		if now := s.now.Load(); now != nil {
			copies = append(copies, &now.copy)
		}
	}
	return copies
}
