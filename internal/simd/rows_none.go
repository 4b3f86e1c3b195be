//go:build !amd64 || noasm || f64

package simd

func topRowsFast(_, _ []Float)         { panic(none) }
func weighRowsFast(_, _, _, _ []Float) { panic(none) }
func expRowsFast(_, _, _ []Float)      { panic(none) }
func divideRowsFast(_, _ []Float)      { panic(none) }

func expSumFast(_, _ []Float, _ Float) Float { panic(none) }

func sumFast([]Float) Float      { panic(none) }
func sum64Fast([]Float) float64  { panic(none) }
func dotFast(_, _ []Float) Float { panic(none) }
func maxFast([]Float) Float      { panic(none) }

func (*Adam) stepFast(_, _, _, _ []Float)                { panic(none) }
func welfordFast(_, _, _, _ []Float, _ Float)            { panic(none) }
func (*Dropout) rowsFast(_, _ []Float, _, _ int, _ bool) { panic(none) }
