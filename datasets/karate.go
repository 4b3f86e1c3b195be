package datasets

import (
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
)

// friends is Zachary's karate club: the friends of each member who have a
// higher number.
var friends = [34][]int32{
	0:  {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31},
	1:  {2, 3, 7, 13, 17, 19, 21, 30},
	2:  {3, 7, 8, 9, 13, 27, 28, 32},
	3:  {7, 12, 13},
	4:  {6, 10},
	5:  {6, 10, 16},
	6:  {16},
	8:  {30, 32, 33},
	9:  {33},
	13: {33},
	14: {32, 33},
	15: {32, 33},
	18: {32, 33},
	19: {33},
	20: {32, 33},
	22: {32, 33},
	23: {25, 27, 29, 32, 33},
	24: {25, 27, 31},
	25: {31},
	26: {29, 33},
	27: {33},
	28: {31, 33},
	29: {32, 33},
	30: {32, 33},
	31: {32, 33},
	32: {33},
}

// officers is who followed the club's officer.
var officers = []int32{9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33}

// Karate returns Zachary's karate club (1977): 34 members, 78 friendships in
// both directions, and the two clubs it split into. Class 0 is the instructor's,
// member 0; class 1 the officer's, member 33. These two train and the rest test.
// The features are the identity matrix.
func Karate() *Dataset {
	n := len(friends)
	var ends []int32
	for u, list := range friends {
		for _, v := range list {
			ends = append(ends, int32(u), v)
		}
	}
	g, err := graph.FromCSR(bothDirections(n, ends).in)
	if err != nil {
		panic(err) // the table above is wrong
	}
	labels := make([]int32, n)
	for _, u := range officers {
		labels[u] = 1
	}
	return &Dataset{
		Name: titleOf("karate"), Graph: g, Features: identity(n), Labels: labels, Classes: 2,
		Split:      Split{Train: []int32{0, int32(n - 1)}, Test: span(1, n-1)},
		ClassNames: []string{"Mr. Hi", "Officer"},
	}
}

// identity returns the identity matrix.
func identity(n int) *sparse.CSR {
	offsets := make([]int64, n+1)
	for i := range offsets {
		offsets[i] = int64(i)
	}
	x, err := sparse.New(n, n, offsets, span(0, n), nil)
	if err != nil {
		panic(err) // an identity is a matrix
	}
	return x
}
