package rules

import (
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

const gatv2Name = "GATv2: a walk of each destination's edges"

// matchGATv2Walk matches attention by scores of the rows that are summed, and nothing
// else, in heads as the walk wants them: package exec has it beside the tiles, in which
// it goes where scores are out of range. Where U needs no gradient and others do,
// backward would take weights in tiles from sums of the walk, whose exponentials are not
// quite theirs: then all is in tiles.
func matchGATv2Walk(p *plan.Plan) Way {
	const steps = 6 // U, V, W, their score, its softmax, and U times that; a dropout would be a seventh: then tiles
	if p.Result != plan.SumWithoutMessage || len(p.Steps) != steps {
		return nil
	}
	out := p.Out()
	weights := &p.Steps[out.B]
	if weights.Kind != ops.Softmax || p.Steps[weights.A].Kind != ops.Score {
		return nil
	}
	s := &p.Steps[weights.A]
	heads := s.Run == attend.GATv2Heads && s.Width == attend.GATv2Heads && s.Run == out.Run
	if !heads || s.Near.U != out.A || s.C < 0 || s.C > 1 || p.ScoreIsValue < 0 && out.Needs {
		return nil
	}
	return tiles{walk: true}
}
