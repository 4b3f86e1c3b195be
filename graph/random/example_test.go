package random_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/graph/random"
)

func ExamplePowerLaw() {
	g := random.PowerLaw(rand.New(rand.NewPCG(1, 2)), 1000, 20_000, 0.75)
	most := int32(0)
	for _, d := range g.InDegrees() {
		most = max(most, d)
	}
	fmt.Println(g, "with a hub:", most > 10*20)
	// Output: Graph(1000 nodes, 20000 edges) with a hub: true
}
