package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// cube is the hypercube of that many dimensions, whose Laplacian has the eigenvalue 2k/dims
// as often as dims over k says.
func cube(dims int) *graph.Graph {
	var src, dst []int32
	for v := range int32(1) << dims {
		for i := range dims {
			src, dst = append(src, v), append(dst, v^1<<i)
		}
	}
	return graph.Must(graph.New(1<<dims, src, dst))
}

// spectrum is the count smallest eigenvalues of the Laplacian but for the first, by gonum.
func spectrum(s *similarity, count int) []float64 {
	n := len(s.root)
	a := mat.NewSymDense(n, nil)
	for v := range n {
		for _, u := range s.nodes(v) {
			a.SetSym(v, int(u), 1/(s.root[v]*s.root[u]))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(a, false) {
		panic("no eigenvalues")
	}
	up := e.Values(nil)
	var values []float64
	for k := range count {
		values = append(values, 1-up[n-2-k])
	}
	return values
}

// wantVectors checks that vectors are those of the given eigenvalues, of length 1 and at
// right angles to each other and to the first.
func wantVectors(t *testing.T, s *similarity, vectors [][]float64, values []float64) {
	t.Helper()
	if len(vectors) != len(values) {
		t.Fatalf("%d vectors, want %d", len(vectors), len(values))
	}
	all := append([][]float64{s.flat(1)[0]}, vectors...)
	for k, x := range vectors {
		y := make([]float64, len(x))
		s.multiply(y, x)
		worst := 0.0
		for v := range y {
			worst = max(worst, math.Abs(x[v]-y[v]-values[k]*x[v]))
		}
		if worst > 1e-7 {
			t.Errorf("vector %d of the eigenvalue %v misses its equation by %v", k, values[k], worst)
		}
		for i, z := range all[:k+2] {
			want := 0.0
			if i == k+1 {
				want = 1
			}
			if got := dotProduct(x, z); math.Abs(got-want) > 1e-9 {
				t.Errorf("the product of vectors %d and %d is %v, want %v", k, i-1, got, want)
			}
		}
	}
}

// many is components of several sizes, of which some are nodes without edges.
func many(rng *rand.Rand) *graph.Graph {
	var parts []*graph.Graph
	for i := range 9 {
		parts = append(parts, graph.Ring(5+i, 1, -1), graph.Must(graph.New(2, nil, nil)))
	}
	return graph.Batch(append(parts, random.Uniform(rng, 40, 160))...)
}

// Lanczos's method finds what gonum does, each eigenvalue as often as it is there.
func TestLanczos(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for name, g := range map[string]*graph.Graph{
		"random":     random.Uniform(rng, 130, 520),
		"components": many(rng),
		"ring":       graph.Ring(70, 1, -1),
		"cube":       cube(6), // 1/3 six times, 2/3 15 times
		"bipartite":  graph.Batch(graphOf(graph.CompleteBipartite(20, 25))),
		"complete":   graph.CompleteNoLoops(40),
		"two":        graph.Batch(cube(5), cube(5)),
	} {
		s := normalised(g, 0, g.NumNodes())
		values := spectrum(s, 25)
		for _, count := range []int{1, 8, 25} {
			vectors, err := s.sparse(count)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			wantVectors(t, s, vectors, values[:count])
			if t.Failed() {
				t.Fatalf("%s, %d columns", name, count)
			}
		}
	}
}

// graphOf is a bipartite graph as one of nodes, both ways.
func graphOf(g *graph.Graph) *graph.Graph {
	src, dst := g.In().Cols, make([]int32, g.NumEdges())
	for e, v := range g.Destinations() {
		dst[e] = v + int32(g.NumSrc())
	}
	return graph.Undirected(graph.Must(graph.New(g.NumSrc()+g.NumDst(), src, dst)))
}

// More nodes than gonum is given, in three parts whose eigenvalues it finds one by one: the
// vectors lie on two parts where those have the same.
func TestLanczosLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const n, count = denseNodes/3 + 15, 24
	part := random.Uniform(rng, n, 4*n)
	g := graph.Batch(part, random.Uniform(rng, n, 5*n), part)
	same := spectrum(normalised(g, 0, n), count)
	values := slices.Concat([]float64{0, 0}, same, spectrum(normalised(g, n, 2*n), count), same) // of which spectrum leaves one 0 out a part
	slices.Sort(values)
	s := normalised(g, 0, g.NumNodes())
	vectors, err := s.vectors(count)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, s, vectors, values[:count])
}

// A path's eigenvalues lie close together: who has no patience is told so.
func TestLanczosGivesUp(t *testing.T) {
	s := normalised(graph.Ring(400, 1, -1), 0, 400)
	l := &lanczos{n: 400, multiply: s.multiply, rng: rand.New(rand.NewPCG(1, 1)), locked: s.flat(4), most: 60}
	if _, _, err := l.largest(4); err == nil || !strings.Contains(err.Error(), "lie too close together") {
		t.Errorf("error %v", err)
	}
}

// communities is four random graphs with some edges between them, so that it is connected (of
// components the vectors are known) and three eigenvalues stand apart: they are found soon.
func communities(rng *rand.Rand, n int) *graph.Graph {
	var src, dst []int32
	for e := range 6 * n {
		u, v := rng.IntN(n), rng.IntN(n)
		if e%10 > 0 {
			v = min(v-v%4+u%4, n-1)
		}
		src, dst = append(src, int32(u)), append(dst, int32(v))
	}
	return graph.Undirected(graph.Must(graph.New(n, src, dst)))
}

// Both sides of the size from which Lanczos's method is taken give vectors of the equation,
// whose first large element is positive, and the same bits on any number of threads.
func TestLaplacianSizes(t *testing.T) {
	const columns = 3
	for _, n := range []int{denseNodes, denseNodes + 1, lanczosGrain + 76} {
		g := communities(rand.New(rand.NewPCG(7, 8)), n)
		undo := par.SetThreads(1)
		y, err := LaplacianVectors(g, columns)
		undo()
		if err != nil {
			t.Fatal(err)
		}
		s := normalised(g, 0, n)
		if n > lanczosGrain { // there are several parts, and gonum would hide what goes wrong
			if _, err := s.sparse(columns); err != nil {
				t.Errorf("%d nodes: %v", n, err)
			}
		}
		for k := range columns {
			x, product := make([]float64, n), make([]float64, n)
			for v := range x {
				x[v] = float64(y.Row(v)[k])
			}
			s.multiply(product, x)
			value := dotProduct(x, product)
			for v := range x {
				if math.Abs(product[v]-value*x[v]) > 1e-6 {
					t.Fatalf("%d nodes: column %d misses its equation by %v at node %d", n, k, product[v]-value*x[v], v)
				}
			}
			if i := slices.IndexFunc(x, func(v float64) bool { return math.Abs(v) > 1e-6 }); x[i] < 0 {
				t.Errorf("%d nodes: column %d begins with %v", n, k, x[i])
			}
		}
		undo = par.SetThreads(3)
		again, err := LaplacianVectors(g, columns)
		undo()
		if err != nil || !slices.Equal(again.Data, y.Data) {
			t.Fatalf("%d nodes, 3 threads: other bits, %v", n, err)
		}
	}
}
