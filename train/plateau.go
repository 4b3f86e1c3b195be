package train

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
)

// Plateau multiplies the rates by By whenever a score has not improved for more
// than Patience observations. [Fit] shows it the validation loss of each epoch,
// or the accuracy if Rising, or the training loss if there is no Eval; another
// loop calls Observe. One Plateau serves one run.
type Plateau struct {
	By        float64 // 0 means 0.1
	Patience  int
	Threshold float64 // an improvement is by more than this part of the best score
	Absolute  bool    // the Threshold is a difference, not a part
	Cooldown  int     // observations after a change that do not count
	Min       float64 // the factor does not go below it
	Rising    bool    // more is better

	state plateau
}

// plateau is what a Plateau remembers; a checkpoint holds it.
type plateau struct {
	Begun   bool      `json:"begun"`
	Best    jsonFloat `json:"best"`
	Factor  jsonFloat `json:"factor"`
	Waited  int       `json:"waited"`
	Resting int       `json:"resting"`
}

// Factor returns the factor of this moment, whatever the step.
func (s *Plateau) Factor(int) float64 {
	if !s.state.Begun {
		return 1
	}
	return float64(s.state.Factor)
}

// Observe takes note of a score. A NaN is no improvement.
func (s *Plateau) Observe(score float64) {
	p := &s.state
	if !p.Begun {
		*p = plateau{Begun: true, Best: jsonFloat(math.Inf(1)), Factor: 1}
		if s.Rising {
			p.Best = jsonFloat(math.Inf(-1))
		}
	}
	if s.better(score, float64(p.Best)) {
		p.Best, p.Waited = jsonFloat(score), 0
	} else {
		p.Waited++
	}
	if p.Resting > 0 {
		p.Resting--
		p.Waited = 0
	}
	if p.Waited > s.Patience {
		p.Factor = max(p.Factor*jsonFloat(grad.Preset(s.By, 0.1)), min(p.Factor, jsonFloat(s.Min)))
		p.Waited, p.Resting = 0, s.Cooldown
	}
}

func (s *Plateau) better(score, best float64) bool {
	margin := s.Threshold
	if !s.Absolute && !math.IsInf(best, 0) {
		margin *= best
	}
	if s.Rising {
		return score > best+margin
	}
	return score < best-margin
}
