package attention_test

// enumerated is the expectation of monotonic attention from all places where it may begin
// and all where it may stop, each with its probability.
func enumerated(p, last []float64) []float64 {
	y := make([]float64, len(p))
	for from := range p {
		for to := from; to < len(p); to++ {
			chance := last[from]
			for j := from; j < to; j++ {
				chance *= 1 - p[j]
			}
			y[to] += chance * p[to]
		}
	}
	return y
}

// stopAbove is one at the first place, from the one of last on, whose p is above a half.
func stopAbove(p, last []float64) []float64 {
	y := make([]float64, len(p))
	at := 0
	for at < len(p) && last[at] == 0 {
		at++
	}
	for ; at < len(p); at++ {
		if p[at] > 0.5 {
			y[at] = 1
			break
		}
	}
	return y
}
