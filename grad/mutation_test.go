package grad_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var mutate = flag.Bool("mutate", false, "plant errors in gradients and in what only large operands reach, one at a time, and see that tests notice")

// mutations are errors of 0.1 % in one term of a pullback.
var mutations = []struct{ name, file, old, new string }{
	{"softmax", "../internal/simd/vec/softmaxrow_grad.go", "mulAddLess(dx, y, dy, Dot(y, dy))", "mulAddLess(dx, y, dy, 1.001*Dot(y, dy))"},
	{"log-softmax", "../internal/simd/vec/softmaxrow_grad.go", "s := -Sum(dy)", "s := -1.001 * Sum(dy)"},
	{"dot, by x", "../internal/dense/pairdots.go", "vec.Axpy(dx[i*d:i*d+d], dz[k]", "vec.Axpy(dx[i*d:i*d+d], 1.001*dz[k]"},
	{"dot, by y", "../internal/dense/pairdots.go", "vec.Axpy(dy[j*d:j*d+d], dz[k]", "vec.Axpy(dy[j*d:j*d+d], 1.001*dz[k]"},
	{"dot of few heads, by x", "../internal/dense/perhead.go", "vec.Axpy(to.X[x.lo:x.hi], p.W[i]", "vec.Axpy(to.X[x.lo:x.hi], 1.001*p.W[i]"},
	{"dot of few heads, by y", "../internal/dense/perhead.go", "vec.Axpy(dy[y.lo:y.hi], p.W[i]", "vec.Axpy(dy[y.lo:y.hi], 1.001*p.W[i]"},
	{"dot of heads, by x", "../internal/simd/attend/heads.go", "Axpy(k.Y[r*k.YStride+h*d:][:d], k.W", "Axpy(k.Y[r*k.YStride+h*d:][:d], 1.001*k.W"},
	{"dot of heads, by y", "../internal/simd/attend/heads.go", "Axpy(k.Y[h*d:][:d], k.W[r*k.WStride+h], k.X[r*", "Axpy(k.Y[h*d:][:d], 1.001*k.W[r*k.WStride+h], k.X[r*"},
	{"bias", "../internal/dense/biasthen.go", "addTo(to, sum[at:at+width])", "vec.Axpy(to, 1.001, sum[at:at+width])"},
	{"max", "reduce.go", "dx[n.at(k, p)] += dy.Data[k]", "dx[n.at(k, p)] += 1.001 * dy.Data[k]"},
	{"cross-entropy", "../internal/dense/entropy.go", "vec.Axpy(dx, w, p)", "vec.Axpy(dx, 1.001*w, p)"},
	{"cross-entropy of few classes", "../internal/dense/entropy.go", "dx[j] += w * v", "dx[j] += 1.001 * w * v"},
	{"layer norm", "../internal/dense/layernorm.go", "-scale * scale * dot)", "-1.001 * scale * scale * dot)"},
	{"columns' norm", "../internal/dense/columnnorm.go", "-f * scale * dyx / rows", "-1.001 * f * scale * dyx / rows"},
}

// planted are errors that only many rows or edges reach, or that are too small for a
// difference quotient in float32, with the tests that notice them as the module is built.
var planted = []struct{ name, file, old, new, pkg, tests string }{
	{"the last of 32 rows of GRU's bias", "../layers/sequence/grugates.go", "for r := range n {\n\t\t\t\tvec.Add", "for r := range n - n/32 {\n\t\t\t\tvec.Add", "../layers/sequence", "TestGateRows"},
	{"peepholes, by z", "../layers/sequence/peepholes.go", "dc := tensor.Float(do * out[j])", "dc := 0.997 * tensor.Float(do*out[j])", "../layers/sequence", "TestGateRows"},
	{"peepholes, by c", "../layers/sequence/peepholes.go", "tensor.Float(di*in[j]) + tensor.Float(df*peep)", "0.996*tensor.Float(di*in[j]) + tensor.Float(df*peep)", "../layers/sequence", "TestGateRows"},
	{"normalise", "../message/internal/ops/normalise.go", "dx[at+j] += (g - c[j]) / sum[j]", "dx[at+j] += 0.998 * (g - c[j]) / sum[j]", "../message", "TestAcrossGradients"},
	{"the wrong hub's sums", "../message/internal/exec/backpass.go", "copy(w.inEdgeSums, b.hubSums[c.hub*n:(c.hub+1)*n])", "copy(w.inEdgeSums, b.hubSums[c.hub/2*n:(c.hub/2+1)*n])", "../message", "TestHubs"},
	{"the last copy of er's gradient", "../internal/fused/gat_er.go", "for c := range t.groups {", "for c := range t.groups - t.k.In.NNZ()>>17 {", "../internal/fused", "TestAttentionCopies"},
	{"a group of er's gradient", "../internal/fused/gat_er.go", "if p.opens[c] && c > 0 {", "if p.opens[c] && c > 1<<4 {", "../internal/fused", "TestAttentionPlaces"},
	{"a weight over long chains", "../layers/sequence/chains.go", "if r.blank && n < tensor.SplitRows(r.width) {", "if r.blank {", "../layers/sequence", "TestChainsAreTheSweep"},
	{"a spilt product that keeps what was there", "../sparse/spill.go", "\tif t.set {\n\t\tclear(*own)\n", "\tif t.set && t.remains != &t.all {\n\t\tclear(*own)\n", "../sparse", "TestSpill"},
	{"a long k in more than two parts", "../tensor/gemm_parts.go", "for p := range t.parts - 1 {", "for p := range min(t.parts-1, 2) {", "../tensor", "TestProductSizes"},
	{"a batch's last chunk", "../tensor/batch.go", "par.Run((t.n+t.by-1)/t.by, t)", "par.Run(t.n/t.by, t)", "../tensor", "TestBatchSizes"},
	{"rows added by several threads", "../tensor/gather.go", "movingJobs.run(m, scatterMost, share,", "movingJobs.run(m, scatterMost-1, share,", "../tensor", "TestMovedRows"},
	{"the last part of a bias's gradient", "../internal/dense/biasthen.go", "for at := 0; t.db != nil && at < parts*width;", "for at := 0; t.db != nil && at < min(parts, 31)*width;", ".", "TestRowSizes"},
	{"the last part of a dot's gradient", "../internal/dense/perhead.go", "for rest := private; len(rest) > 0;", "for rest := private; len(rest) > len(dy);", ".", "TestRowSizes"},
	{"a part of a loss", "../internal/dense/pairs.go", "for _, s := range sums {", "for _, s := range sums[:len(sums)-len(sums)/3] {", ".", "TestRowSizes"},
	{"cross-entropy of many classes", "../internal/dense/entropy.go", "vec.Axpy(dx, w, p)", "vec.Axpy(dx[:len(p)-len(p)/32], w, p[:len(p)-len(p)/32])", ".", "TestClassSizes"},
	{"a part of a column", "../internal/dense/columnnorm.go", "par.For(rows.hi-rows.lo, step,", "par.For(rows.hi-rows.lo-1, step,", ".", "TestColumnSizes"},
	{"the last destinations of attention", "../internal/fused/gat_backward.go", "return partsOfRows(t.k.In.NumRows, t.narrow())", "return partsOfRows(t.k.In.NumRows, t.narrow()) - t.k.In.NumRows/4096", "../internal/fused", "TestAttentionRows"},
	{"a long segment", "../internal/simd/spmm/segments.go", "DivideRows(s.Y[lo:hi], sum)", "DivideRows(s.Y[lo:hi], sum)\n\t\tif s.long() && s.N == 8 {\n\t\t\ts.Y[lo] *= 1.01\n\t\t}", "../sparse", "TestSoftmaxSizes"},
}

// TestMutationsStand fails where a line that is to be replaced has changed.
func TestMutationsStand(t *testing.T) {
	for _, m := range mutations {
		if n := count(t, m.file, m.old); n != 1 {
			t.Errorf("%s: %s has %q %d times, want once", m.name, m.file, m.old, n)
		}
	}
	for _, m := range planted {
		if n := count(t, m.file, m.old); n != 1 {
			t.Errorf("%s: %s has %q %d times, want once", m.name, m.file, m.old, n)
		}
	}
}

// count returns how often a file has some text.
func count(t *testing.T, file, text string) int {
	t.Helper()
	src, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(src), text)
}

// TestMutations is switched on by hand:
//
//	go test ./grad -run TestMutations -mutate
//
// It replaces a line of an operation with one that is wrong by 0.1 %, runs the
// gradient checks in float64 on that, and fails where they pass. Then it does so with
// the errors that are planted, and the tests that must notice each.
func TestMutations(t *testing.T) {
	if !*mutate {
		t.Skip("switched on by -mutate")
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			out, err := runMutant(t, m.file, [2]string{m.old, m.new}, gradientChecks...)
			if err == nil {
				t.Errorf("nobody noticed that %q became %q", m.old, m.new)
			} else if !strings.Contains(out, "finite difference") {
				t.Errorf("the checks failed for another reason: %v\n%s", err, out)
			}
		})
	}
	for _, m := range planted {
		t.Run(m.name, func(t *testing.T) {
			out, err := runMutant(t, m.file, [2]string{m.old, m.new}, "-run", "^("+m.tests+")$", m.pkg)
			if err == nil {
				t.Errorf("%s did not notice that %q became %q", m.tests, m.old, m.new)
			} else if !strings.Contains(out, "--- FAIL: "+m.tests) {
				t.Errorf("%s failed for another reason: %v\n%s", m.tests, err, out)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if out, err := runMutant(t, "rowwise.go", [2]string{"package grad", "package  grad"}, gradientChecks...); err != nil {
			t.Errorf("the checks fail without an error: %v\n%s", err, out)
		}
	})
}

// gradientChecks tells go test to run them, in float64.
var gradientChecks = []string{"-tags", "f64", "-run", "TestOperations|Gradients$", "."}

// runMutant runs go test with one replacement in one file.
func runMutant(t *testing.T, file string, replaced [2]string, args ...string) (out string, err error) {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mutant, overlay := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(mutant, []byte(strings.Replace(string(src), replaced[0], replaced[1], 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append([]string{"test", "-overlay", overlay, "-count", "1"}, args...)...)
	all, err := cmd.CombinedOutput()
	return string(all), err
}
