package decode

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sample draws each token by its probability. Temperature divides the logits
// first; then TopK keeps the likeliest tokens, and of these Nucleus the fewest
// whose probabilities come to it (Holtzman and others, "The Curious Case of Neural
// Text Degeneration", 2020). Of equal probabilities the lower tokens are kept.
//
// A draw is a function of the seed, the number of the sentence and the step, so it
// does not depend on what else is in the batch. Several sequences of one sentence
// are several sentences that begin alike. LogProb is the model's, whatever was
// kept, and at a temperature of 1.
type Sample struct {
	Temperature float64 // 0 is [Greedy]; 1 draws as the model says
	TopK        int     // 0: any number
	Nucleus     float64 // 0 or 1: all
	Seed        uint64
	First       int // the number of the first sentence, where a batch is a part of more
}

// Run returns the sequence of each sentence.
func (d Sample) Run(s *Search) ([]Sequence, error) {
	switch {
	case !(d.Temperature >= 0 && d.Temperature <= 1e6):
		return nil, fmt.Errorf("decode: Sample.Temperature is %v; it must be from 0, which is greedy, to a million", d.Temperature)
	case d.TopK < 0:
		return nil, fmt.Errorf("decode: Sample.TopK is %d; 0 keeps all tokens", d.TopK)
	case !(d.Nucleus >= 0 && d.Nucleus <= 1):
		return nil, fmt.Errorf("decode: Sample.Nucleus is %v; it is a probability, and 0 keeps all tokens", d.Nucleus)
	}
	one := Beam{Width: 1, Best: 1}
	if math.IsInf(float64(tensor.Float(1/d.Temperature)), 0) {
		return firsts(s.run(one, nil))
	}
	return firsts(s.run(one, &d))
}

// draw returns the token of a row x whose largest element is m.
func (d *Sample) draw(w *scratch, x []tensor.Float, m tensor.Float, u float64) int32 {
	w.exp = grow(w.exp, len(x))
	weights := w.exp
	vec.Shift.Forward(weights, x, -m)
	vec.Scale.Forward(weights, weights, tensor.Float(1/d.Temperature))
	vec.Exp.Forward(weights, weights, 0)
	kept := d.keep(w, weights)
	if kept == nil {
		return pick(weights, u*vec.Sum64(weights))
	}
	mass := 0.0
	for _, c := range kept {
		mass += c.score
	}
	left := u * mass
	for _, c := range kept {
		if left -= c.score; left < 0 {
			return c.token
		}
	}
	return kept[0].token // u is so near 1 that rounding has passed the last
}

// pick returns the first element at which the sum of the weights passes left.
func pick(weights []tensor.Float, left float64) int32 {
	best := 0
	for i, v := range weights {
		if left -= float64(v); left < 0 {
			return int32(i)
		}
		if v > weights[best] {
			best = i
		}
	}
	return int32(best)
}

// keep returns the tokens that may be drawn, the likeliest first, or nil for all.
// Of a nucleus more and more are looked for, until their weights suffice.
func (d *Sample) keep(w *scratch, weights []tensor.Float) []choice {
	nucleus := d.Nucleus > 0 && d.Nucleus < 1
	if d.TopK > 0 || nucleus {
		w.top.survey(weights)
	}
	if d.TopK > 0 {
		w.kept = w.top.largest(weights, d.TopK, w.kept)
		if !nucleus {
			return w.kept
		}
		all := 0.0
		for _, c := range w.kept {
			all += c.score
		}
		n, _ := reach(w.kept, d.Nucleus*all)
		return w.kept[:n]
	}
	if !nucleus {
		return nil
	}
	all := vec.Sum64(weights)
	for n := 64; ; n *= 4 {
		w.kept = w.top.largest(weights, n, w.kept)
		if first, ok := reach(w.kept, d.Nucleus*all); ok || n >= len(weights) {
			return w.kept[:first]
		}
	}
}

// reach returns how many of the choices come to a weight together, and whether
// they do; at least one.
func reach(all []choice, weight float64) (n int, ok bool) {
	for i, c := range all {
		if weight -= c.score; weight <= 0 {
			return i + 1, true
		}
	}
	return len(all), false
}

// uniform is a number in [0, 1) that follows from the seed, the sentence and the
// step.
func (d *Sample) uniform(sentence, step int) float64 {
	h := mix(d.Seed + 0x9e3779b97f4a7c15)
	h = mix(h ^ uint64(d.First+sentence) + 0x9e3779b97f4a7c15)
	h = mix(h ^ uint64(step) + 0x9e3779b97f4a7c15)
	return float64(h>>11) / (1 << 53)
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
