package compare

// Gradient ends the test unless grad is the gradient of f by x, as nearly as central differences of f say. Each number of x
// is moved and put back.
func Gradient[F Float](t Test, what string, x, grad []F, f func() float64) {
	t.Helper()
	step, by := F(In(1e-2, 1e-5)), Off(In(5e-3, 1e-8), In(5e-3, 1e-8))
	want := make([]float64, len(x))
	for i, v := range x {
		x[i] = v + step
		up, above := f(), float64(x[i])
		x[i] = v - step
		down, below := f(), float64(x[i])
		x[i] = v
		want[i] = (up - down) / (above - below)
	}
	Near(t, what+": the gradient by differences", grad, want, by)
}
