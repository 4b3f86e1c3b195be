//go:build !amd64 || noasm || f64

package simd

func (*RowSum) addFast(_, _ int)                                              { panic(none) }
func (*RowBest) setFast(_, _ int)                                             { panic(none) }
func (*EdgeDot) addFast(_, _ int)                                             { panic(none) }
func (*EdgePair) setFast(_, _ int)                                            { panic(none) }
func pickEdgesFast(_ []int32, _ []Float, _ []int32, _ []Float, _ []int32) int { panic(none) }
func pickFast(_ []int32, _ []Float, _ []int32, _ []Float) int                 { panic(none) }

func (*RowWon) addFast(_, _ int)                      { panic(none) }
func (*Spill) addFast()                               { panic(none) }
func addMeansFast(_, _ []Float, _ []int64, _ int)     { panic(none) }
func divideRangesFast(_, _ []Float, _ []int64, _ int) { panic(none) }
