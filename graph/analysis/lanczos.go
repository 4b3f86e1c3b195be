package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// lanczos finds eigenvectors of the largest eigenvalues of a symmetric operator on n
// numbers, by Lanczos's method with full reorthogonalisation and thick restarts (Wu and
// Simon, "Thick-Restart Lanczos Method for Large Symmetric Eigenvalue Problems", SIAM J.
// Matrix Anal. Appl. 22, 2000). One search meets each eigenvalue once. So what a search
// finds is locked, and the next one begins at random beside it, until one finds nothing
// that is larger than what is there: eigenvalues of any multiplicity come as often as they
// are.
//
// It holds locked and steps+1 vectors of n float64.
type lanczos struct {
	n        int
	multiply func(y, x []float64) // sets y to the operator's product with x
	rng      *rand.Rand

	locked [][]float64 // of length 1 and at right angles to each other
	values []float64   // their eigenvalues
	fixed  int         // how many were given, and not found

	steps    int         // how many vectors a search holds
	basis    [][]float64 // those and the next one
	project  *mat.SymDense
	products int // that were made
	most     int // after so many it gives up
}

const (
	lanczosTolerance = 1e-9   // of a residual, where eigenvalues are at most 1
	lanczosProducts  = 10_000 // a ring of 5,000 nodes takes fewer
)

// largest finds eigenvectors until there are wanted, beside the given ones, and returns
// them by falling eigenvalue. The error says that they were not found.
func (l *lanczos) largest(wanted int) (vectors [][]float64, values []float64, err error) {
	l.fixed = len(l.locked)
	l.steps = min(2*wanted+40, l.n)
	l.basis = make([][]float64, l.steps+1)
	for i := range l.basis {
		l.basis[i] = make([]float64, l.n)
	}
	wanted = min(wanted, l.n-l.fixed)
	for floor := math.Inf(-1); len(l.locked) < l.n; {
		found, err := l.search(wanted, floor)
		if err != nil {
			return nil, nil, err
		}
		if found == 0 {
			break
		}
		l.keepLargest(wanted)
		if len(l.values) == wanted {
			floor = l.values[wanted-1] + 10*lanczosTolerance
		}
	}
	return l.locked[l.fixed:], l.values, nil
}

// keepLargest sorts what was found by falling eigenvalue and drops what is not wanted.
func (l *lanczos) keepLargest(wanted int) {
	order := numbers(len(l.values))
	slices.SortStableFunc(order, func(i, j int32) int {
		switch {
		case l.values[i] > l.values[j]:
			return -1
		case l.values[i] < l.values[j]:
			return 1
		}
		return 0
	})
	order = order[:min(wanted, len(order))]
	values, vectors := make([]float64, len(order)), slices.Clone(l.locked[:l.fixed])
	for i, j := range order {
		values[i] = l.values[j]
		vectors = append(vectors, l.locked[l.fixed+int(j)])
	}
	l.values, l.locked = values, vectors
}

// search locks eigenvectors at right angles to those that are locked, up to wanted of them
// whose eigenvalues are above the floor, and returns how many.
func (l *lanczos) search(wanted int, floor float64) (int, error) {
	steps := min(l.steps, l.n-len(l.locked)) // more would be no basis
	wanted = min(wanted, steps)
	l.project = mat.NewSymDense(steps, nil)
	l.draw(0)
	for kept := 0; ; {
		next := l.extend(kept, steps)
		theta, y, err := ritz(l.project)
		if err != nil {
			return 0, err
		}
		done, above, worst := true, 0, 0.0
		for i := range wanted {
			residual := next * math.Abs(y.At(steps-1, i))
			if theta[i]+10*residual < floor {
				break // and so are all that follow
			}
			worst = max(worst, residual)
			done = done && residual <= lanczosTolerance
			if theta[i] > floor {
				above++
			}
		}
		switch {
		case done:
			l.combine(y, above)
			for i := range above {
				l.locked, l.values = append(l.locked, slices.Clone(l.basis[i])), append(l.values, theta[i])
			}
			return above, nil
		case l.products > l.most:
			return 0, fmt.Errorf("%d products with its Laplacian leave an error of %.2g in its eigenvectors, which lie too close together", l.products, worst)
		}
		kept = wanted + (steps-wanted)/2
		l.combine(y, kept)
		l.basis[kept], l.basis[steps] = l.basis[steps], l.basis[kept] // the direction that was next
		l.project.Zero()
		for i := range kept {
			l.project.SetSym(i, i, theta[i])
		}
	}
}

// ritz returns eigenvalues and eigenvectors, by falling eigenvalue.
func ritz(a *mat.SymDense) (values []float64, vectors *mat.Dense, err error) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, nil, fmt.Errorf("a projection of its Laplacian has no eigenvectors that could be found")
	}
	var up mat.Dense
	e.VectorsTo(&up)
	values = e.Values(nil)
	slices.Reverse(values)
	n := len(values)
	vectors = mat.NewDense(n, n, nil)
	for i := range n {
		vectors.SetCol(i, mat.Col(nil, n-1-i, &up))
	}
	return values, vectors, nil
}

// extend makes the basis steps long, from the vectors before and at from, and one more, and
// returns the length of the latter before it got the length 1. project becomes the operator
// between the vectors of the basis.
func (l *lanczos) extend(from, steps int) (next float64) {
	for j := from; j < steps; j++ {
		w := l.basis[j+1]
		l.multiply(w, l.basis[j])
		l.products++
		l.clean(w, j+1, func(i int, dot float64) { l.project.SetSym(i, j, l.project.At(i, j)+dot) })
		next = math.Sqrt(dotProduct(w, w))
		if next > 1e-13 {
			scale(w, 1/next)
			continue
		}
		next = 0 // the basis is closed
		if j+1 < steps {
			l.draw(j + 1)
		}
	}
	return next
}

// draw makes vector j of the basis a random one at right angles to those before it.
func (l *lanczos) draw(j int) {
	w := l.basis[j]
	for {
		for i := range w {
			w[i] = l.rng.NormFloat64()
		}
		scale(w, 1/math.Sqrt(dotProduct(w, w)))
		l.clean(w, j, func(int, float64) {})
		if length := math.Sqrt(dotProduct(w, w)); length > 1e-6 {
			scale(w, 1/length)
			l.clean(w, j, func(int, float64) {})
			scale(w, 1/math.Sqrt(dotProduct(w, w)))
			return
		}
	}
}

// clean takes from w, twice, what lies along the locked vectors and along the first of the
// basis, and says how much of each of the latter that was.
func (l *lanczos) clean(w []float64, first int, took func(i int, dot float64)) {
	others := slices.Concat(l.locked, l.basis[:first])
	dots := make([]float64, len(others))
	for range 2 {
		par.For(len(others), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				dots[i] = dotProduct(others[i], w)
			}
		})
		par.For(len(w), lanczosGrain, func(lo, hi int) {
			for i, x := range others {
				d := dots[i]
				for v := lo; v < hi; v++ {
					w[v] -= d * x[v]
				}
			}
		})
		for i, d := range dots[len(l.locked):] {
			took(i, d)
		}
	}
}

// combine replaces the first vectors of the basis by the sums of all that the columns of y
// say.
func (l *lanczos) combine(y *mat.Dense, count int) {
	steps, _ := y.Dims()
	par.For(l.n, lanczosGrain, func(lo, hi int) {
		row := make([]float64, steps)
		for v := lo; v < hi; v++ {
			for i := range row {
				row[i] = l.basis[i][v]
			}
			for k := range count {
				sum := 0.0
				for i, x := range row {
					sum += x * y.At(i, k)
				}
				l.basis[k][v] = sum
			}
		}
	})
}

// lanczosGrain is how many of a vector's numbers one part of a parallel loop does.
const lanczosGrain = 1 << 10

func dotProduct(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
