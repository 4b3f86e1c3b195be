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

var mutate = flag.Bool("mutate", false, "plant errors of 0.1 % in gradients, one at a time, and see that the float64 checks notice")

// mutations are errors of 0.1 % in one term of a pullback.
var mutations = []struct{ name, file, old, new string }{
	{"softmax", "../internal/simd/row_grad.go", "mulAddLess(dx, y, dy, Dot(y, dy))", "mulAddLess(dx, y, dy, 1.001*Dot(y, dy))"},
	{"log-softmax", "../internal/simd/row_grad.go", "s := -Sum(dy)", "s := -1.001 * Sum(dy)"},
	{"dot, by x", "reduce.go", "simd.Axpy(n.dx[i:i+n.d], n.z[k]", "simd.Axpy(n.dx[i:i+n.d], 1.001*n.z[k]"},
	{"dot, by y", "reduce.go", "simd.Axpy(n.dy[j:j+n.d], n.z[k]", "simd.Axpy(n.dy[j:j+n.d], 1.001*n.z[k]"},
	{"dot of few heads, by x", "heads.go", "simd.Axpy(t.dx[at:at+t.width], p.w[i]", "simd.Axpy(t.dx[at:at+t.width], 1.001*p.w[i]"},
	{"dot of few heads, by y", "heads.go", "simd.Axpy(p.dy[y:y+t.width], p.w[i]", "simd.Axpy(p.dy[y:y+t.width], 1.001*p.w[i]"},
	{"dot of heads, by x", "../internal/simd/heads.go", "Axpy(k.Y[r*k.YStride+h*d:][:d], k.W", "Axpy(k.Y[r*k.YStride+h*d:][:d], 1.001*k.W"},
	{"dot of heads, by y", "../internal/simd/heads.go", "Axpy(k.Y[h*d:][:d], k.W[r*k.WStride+h], k.X[r*", "Axpy(k.Y[h*d:][:d], 1.001*k.W[r*k.WStride+h], k.X[r*"},
	{"bias", "biased.go", "addTo(to, sum[at:at+len(k.b)])", "simd.Axpy(to, 1.001, sum[at:at+len(k.b)])"},
	{"max", "extreme.go", "dx[n.at(k, p)] += dy.Data[k]", "dx[n.at(k, p)] += 1.001 * dy.Data[k]"},
	{"cross-entropy", "crossentropy.go", "simd.Axpy(dx, w, p)", "simd.Axpy(dx, 1.001*w, p)"},
	{"cross-entropy of few classes", "crossentropy.go", "dx[j] += w * v", "dx[j] += 1.001 * w * v"},
	{"layer norm", "layernorm.go", "-scale*scale*dot)", "-scale*scale*dot*1.001)"},
	{"columns' norm", "columnnorm.go", "-f * scale * dyx / rows", "-1.001 * f * scale * dyx / rows"},
}

// TestMutationsStand fails where a line that is to be replaced has changed.
func TestMutationsStand(t *testing.T) {
	for _, m := range mutations {
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
// gradient checks in float64 on that, and fails where they pass.
func TestMutations(t *testing.T) {
	if !*mutate {
		t.Skip("switched on by -mutate")
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			out, err := runMutant(t, m.file, m.old, m.new)
			if err == nil {
				t.Errorf("nobody noticed that %q became %q", m.old, m.new)
			} else if !strings.Contains(out, "finite difference") {
				t.Errorf("the checks failed for another reason: %v\n%s", err, out)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if out, err := runMutant(t, "softmax.go", "package grad", "package  grad"); err != nil {
			t.Errorf("the checks fail without an error: %v\n%s", err, out)
		}
	})
}

// runMutant runs the gradient checks with one replacement in one file.
func runMutant(t *testing.T, file, old, new string) (out string, err error) {
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
	if err := os.WriteFile(mutant, []byte(strings.Replace(string(src), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-tags", "f64", "-overlay", overlay, "-run", "TestOperations|Gradients$", "-count", "1", ".")
	all, err := cmd.CombinedOutput()
	return string(all), err
}
