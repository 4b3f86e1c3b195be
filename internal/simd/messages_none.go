//go:build !amd64 || noasm || f64

package simd

func gatherFast(_, _ []Float, _ []int32, _ int)              { panic(none) }
func scatterFast(_, _ []Float, _ []int32, _ []uint16, _ int) { panic(none) }

func spreadFast(_, _ []Float, _ int)         { panic(none) }
func spreadAddFast(_, _ []Float, _ int)      { panic(none) }
func scaleGroupsFast(_, _, _ []Float, _ int) { panic(none) }
func axpyGroupsFast(_, _, _ []Float, _ int)  { panic(none) }
func dotGroupsFast(_, _, _ []Float, _ int)   { panic(none) }
func sumGroupsFast(_, _ []Float, _ int)      { panic(none) }

func addRowsFast(_, _ []Float)             { panic(none) }
func (*Best) takeFast(_ []Float, _, _ int) { panic(none) }

func sumSegmentsFast(_, _ []Float, _ []int64, _ int)    { panic(none) }
func spreadSegmentsFast(_, _ []Float, _ []int64, _ int) { panic(none) }
func dotSegmentsFast(_, _, _ []Float, _ []int64, _ int) { panic(none) }
func fetchFast([]Float)                                 { panic(none) }
func (*Ranges) softmaxFast(_, _ []Float)                { panic(none) }
func (*Ranges) weightsFast(_, _ []Float)                { panic(none) }
func (*Ranges) gradFast(_, _, _ []Float)                { panic(none) }
