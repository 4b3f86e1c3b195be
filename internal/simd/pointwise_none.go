//go:build !amd64 || noasm || f64

package simd

func (Unary) forwardFast(_, _ []Float, _ Float) bool           { panic(none) }
func (Unary) backwardFast(_, _, _, _ []Float, _ Float) bool    { panic(none) }
func (Unary) setBackwardFast(_, _, _, _ []Float, _ Float) bool { panic(none) }
func (Binary) forwardFast(_, _, _ []Float, _, _ int) bool      { panic(none) }
func (Binary) backwardXFast(_, _, _, _ []Float, _, _ int) bool { panic(none) }
func (Binary) backwardYFast(_, _, _, _ []Float, _, _ int) bool { panic(none) }

func (Binary) streamFast(_, _, _ []Float) { panic(none) }

func axpyFast(_, _ []Float, _ Float) { panic(none) }
func mulAddFast(_, _, _ []Float)     { panic(none) }

func mulAddLessFast(_, _, _ []Float, _ Float) { panic(none) }
