package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message"
)

// Score says how well a key answers a query.
type Score interface {
	Init(rng *rand.Rand)

	// Keys is what all queries read of the keys, a row for each: their projection, made
	// once, or the keys themselves.
	Keys(t *grad.Tape, keys *grad.Var) *grad.Var

	// Of is the logit of every edge from a key to a query, a number each (E×1). keys is
	// what Keys returned, query has a row for each destination.
	Of(t *grad.Tape, keys, query *grad.Var) message.Msg
}
