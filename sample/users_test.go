package sample

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

// Where nodes are users and items, a negative is one of each, and all of them are drawn if so
// many are asked for.
func TestNegativesOfUsers(t *testing.T) {
	const users, nodes = 3, 7
	src, dst := []int32{0, 3, 0, 4, 1, 4, 2, 6}, []int32{3, 0, 4, 0, 4, 1, 6, 2}
	g := graph.Must(graph.New(nodes, src, dst))
	d := &Negatives{Graph: g, Users: users, Seed: 1}
	if d.Left() != users*(nodes-users)-4 {
		t.Fatalf("%d pairs are left", d.Left())
	}
	for _, count := range []int{2, d.Left()} {
		not, err := d.Draw(count, 5)
		if err != nil || not.NumEdges() != count {
			t.Fatalf("%d pairs: %v, %v", count, not, err)
		}
		seen := map[[2]int32]bool{{0, 3}: true, {0, 4}: true, {1, 4}: true, {2, 6}: true}
		for e, v := range not.Destinations() {
			pair := [2]int32{not.In().Cols[e], v}
			if pair[0] >= users || v < users || seen[pair] {
				t.Errorf("%v is no new pair of a user and an item", pair)
			}
			seen[pair] = true
		}
	}
	links, err := LinkSplit{Val: 0.25, Test: 0.25, Users: users}.Of(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Pairs{links.Val, links.Test} {
		for e, v := range p.Negatives.Destinations() {
			if u := p.Negatives.In().Cols[e]; u >= users || v < users {
				t.Errorf("the negative %d→%d joins no user and item", u, v)
			}
		}
	}
	for want, bad := range map[string]Negatives{
		"not all":         {Graph: g, Users: nodes},
		"below Users":     {Graph: g, Users: 1},
		"leave one":       {Graph: g, Users: users, Directed: true},
		"so many of its ": {Graph: g, Users: -1},
	} {
		if _, err := bad.Draw(1, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d users: %v, want %q", bad.Users, err, want)
		}
	}
}
