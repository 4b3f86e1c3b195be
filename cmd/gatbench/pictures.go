package main

import (
	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/draw"
	"github.com/edgewise-ml/edgewise/grad"
)

// plot draws a training into a file.
func (s *session) plot(path string) error {
	t := grad.NewEval()
	p := draw.Training{
		Dataset: s.Dataset, Model: s.recipe.model().title, Epochs: s.history.Epochs, Best: s.summary.BestEpoch, Test: s.split.Test,
		Hidden: s.net.hidden(t, s.hop(s.net), s.features).Value(),
	}
	logits := s.net.Forward(t, s.hop(s.net), s.features).Value()
	for v := range s.Labels {
		c, _ := likeliest(logits.Row(v))
		p.Predicted = append(p.Predicted, int32(c))
	}
	return p.Write(path)
}
