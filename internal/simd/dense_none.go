//go:build !amd64 || noasm || f64

package simd

func supported() bool { return false }

// The kernels in assembly, which are never called here.

const none = "simd: no assembly in this build"

func (Unary) forwardFast(_, _ []Float, _ Float) bool        { panic(none) }
func (Unary) backwardFast(_, _, _, _ []Float, _ Float) bool { panic(none) }
func (Binary) forwardFast(_, _, _ []Float, _, _ int) bool   { panic(none) }
func (Binary) backwardXFast(_, _, _ []Float, _, _ int) bool { panic(none) }
func (Binary) backwardYFast(_, _, _ []Float, _, _ int) bool { panic(none) }

func topRowsFast(_, _ []Float)         { panic(none) }
func weighRowsFast(_, _, _, _ []Float) { panic(none) }
func expRowsFast(_, _, _ []Float)      { panic(none) }
func divideRowsFast(_, _ []Float)      { panic(none) }

func axpyFast(_, _ []Float, _ Float) { panic(none) }

func sumFast([]Float) Float      { panic(none) }
func dotFast(_, _ []Float) Float { panic(none) }
func maxFast([]Float) Float      { panic(none) }

func (*Adam) stepFast(_, _, _, _ []Float)       { panic(none) }
func (*Dropout) addFast(_, _ []Float, _ uint32) { panic(none) }
