package main

import (
	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/draw"
	"github.com/edgewise-ml/edgewise/grad"
)

// plot draws a training into a file.
func (s *session) plot(path string) error {
	t := grad.NewEval()
	p := draw.Training{
		Dataset: s.Dataset, Model: s.recipe.model().Title, Epochs: s.history.Epochs, Best: s.summary.BestEpoch, Test: s.split.Test,
		Hidden: s.net.Hidden(t, s.hop(s.net), s.features).Value(),
	}
	logits := s.net.Run(t, s.net.Whole(s.hop(s.net), s.features)).Value()
	for v := range s.Labels {
		c, row := 0, logits.Row(v)
		for j, y := range row {
			if y > row[c] {
				c = j
			}
		}
		p.Predicted = append(p.Predicted, int32(c))
	}
	return p.Write(path)
}
