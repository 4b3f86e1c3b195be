package memories

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// constant is a Param of one value.
func constant(n int, v float64) *grad.Param {
	p := grad.NewParam(n)
	p.Value.Fill(tensor.Float(v))
	return p
}

// showPairs stores pairs of letters in a memory between two layers, has each call up the other, and finds how many
// random pairs such a memory holds.
func (f hopfield) showPairs(s *stage.Stage) error {
	sets, err := ownLetters{stage.Files{Train: f.Train}}.learnt(capitals, smalls)
	if err != nil {
		return err
	}
	s.Say("%d pairs of letters are stored in the weights between a layer of %d units and one of %d. With %.0f %% of the dots of one letter flipped, both layers hear each other until nothing changes. The sum of the pairs mixes letters, which are alike; the pseudo-inverse tells them apart.",
		len(sets[0].names), sets[0].x.RowLen(), sets[1].x.RowLen(), 100*f.Noise)
	right, whole := map[string]any{}, map[string]any{}
	var rows [][]picture.Panel
	s.Print("%-31s %10s    %s\n", "what calls up what", "dots right", "letters right")
	for _, way := range []struct {
		name string
		pair func(x, y *tensor.Dense) (*memory.BAM, error)
	}{{"the sum", memory.Pair}, {"pseudo-inverse", memory.PairPseudoInverse}} {
		for i, side := range []string{"first to second", "second to first"} {
			from, to := sets[i], sets[1-i]
			m, err := way.pair(from.x, to.x)
			if err != nil {
				return err
			}
			cues := noisyBy(s, fmt.Sprintf("side %d", i), from.x, f.Noise)
			_, found, err := m.Recall(cues)
			if err != nil {
				return err
			}
			name, dots, n := side+", "+way.name, 1-average(memory.Wrong(found, to.x)), recalledOf(found, to.x)
			right[name], whole[name] = dots, n
			s.Print("%-31s %8.1f %%    %d of %d\n", name, 100*dots, n, len(to.names))
			if way.name == "the sum" {
				continue
			}
			rows = append(rows, nil, nil)
			for k := range min(shownLetters, len(from.names)) {
				rows[2*i] = append(rows[2*i], from.dots("cue: "+from.names[k], cues.Row(k)))
				rows[2*i+1] = append(rows[2*i+1], to.dots("calls up", found.Row(k)))
			}
			if i == 0 {
				if err := s.Keep(m); err != nil {
					return err
				}
			}
		}
	}
	held, chart, err := pairCapacity(s)
	if err != nil {
		return err
	}
	s.Result(map[string]any{"right": right, "letters": whole, "noise": f.Noise, "random": held})
	s.Draw(append(rows, []picture.Panel{chart})...)
	return nil
}

// pairCapacity finds which share of random pairs of 100 and 60 units is called up whole, with a tenth of the cue flipped.
func pairCapacity(s *stage.Stage) (map[string]float64, picture.Panel, error) {
	const units, answers, draws = 100, 60, 20
	line := picture.Series{Mark: picture.Curve, Colour: picture.Colour(0)}
	held := map[string]float64{}
	s.Print("\nrandom pairs of %d and %d units, a tenth of the cue flipped\n%6s   answers wholly right\n", units, answers, "pairs")
	for _, n := range []int{2, 5, 8, 10, 12, 15, 20, 25} {
		right := 0.0
		for draw := range uint64(draws) {
			part := fmt.Sprintf("pairs %d", n)
			rng := rand.New(rand.NewPCG(s.Stream(part, draw), 1))
			x, y := drawn(rng, n, units), drawn(rng, n, answers)
			m, err := memory.Pair(x, y)
			if err != nil {
				return nil, nil, err
			}
			_, found, err := m.Recall(noisyBy(s, fmt.Sprint(part, draw), x, 0.1))
			if err != nil {
				return nil, nil, err
			}
			right += float64(recalledOf(found, y)) / float64(n*draws)
		}
		held[fmt.Sprint(n)] = right
		line.Points = append(line.Points, picture.Point{X: float64(n), Y: 100 * right})
		s.Print("%6d   %6.0f %%\n", n, 100*right)
	}
	return held, &picture.Chart{Title: "answers of random pairs, right of a hundred", X: picture.Axis{Label: "pairs", Whole: true}, Series: []picture.Series{line}}, nil
}

// drawn are rows of +1 and −1.
func drawn(rng *rand.Rand, n, units int) *tensor.Dense {
	x := tensor.New(n, units)
	for i := range x.Data {
		x.Data[i] = tensor.Float(2*rng.IntN(2) - 1)
	}
	return x
}
