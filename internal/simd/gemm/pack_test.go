package gemm

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// packs are the layouts with their truth: to[at(k, j)] is from[j, k], of rows
// that are ld apart, for every j below rows and k below columns.
var packs = []struct {
	name string
	size func(rows, columns int) int
	at   func(k, j, rows, columns int) int
	call func(to, from []Float, ld, rows, columns int)
}{
	{
		"groups", func(rows, columns int) int { return (columns + 5) / 6 * (6*rows + 8) },
		func(k, j, rows, _ int) int { return k/6*(6*rows+8) + j*6 + k%6 },
		func(to, from []Float, ld, rows, columns int) { PackGroups(to, from, ld, columns, rows) },
	},
	{
		"panels", func(rows, columns int) int { return max(0, (columns+15)/16*(16*rows+5)-5) },
		func(k, j, rows, _ int) int { return k/16*(16*rows+5) + j*16 + k%16 },
		func(to, from []Float, ld, rows, columns int) {
			PackPanels(to, from, ld, 16*rows+5, [2]int{rows, columns})
		},
	},
	{
		"transposed", func(rows, columns int) int { return max(0, columns*(rows+3)-3) },
		func(k, j, rows, _ int) int { return k*(rows+3) + j },
		func(to, from []Float, ld, rows, columns int) {
			PackTransposed(to, from, rows+3, ld, [2]int{rows, columns})
		},
	},
}

func checkPack(t *testing.T, rng *rand.Rand, which, rows, columns int) {
	t.Helper()
	p := packs[which]
	next := simdtest.Plain(rng)
	ld := columns + rng.IntN(5)
	from, _ := simdtest.Guarded(max(0, (rows-1)*ld+columns), rng.IntN(8), next)
	to, intact := simdtest.Guarded(p.size(rows, columns), rng.IntN(8), next)
	p.call(to, from, ld, rows, columns)
	if !intact() {
		t.Fatalf("%s of %d×%d: wrote outside", p.name, rows, columns)
	}
	for j := range rows {
		for k := range columns {
			if got, want := to[p.at(k, j, rows, columns)], from[j*ld+k]; got != want {
				t.Fatalf("%s of %d×%d: [%d,%d] is %v, want %v", p.name, rows, columns, j, k, got, want)
			}
		}
	}
	if rest := columns % 16; p.name == "panels" && rest > 0 && rows > 0 {
		for k := columns; k < columns+16-rest; k++ {
			if to[p.at(k, rows-1, rows, columns)] != 0 {
				t.Fatalf("%d×%d: column %d of the last panel is not zero", rows, columns, k)
			}
		}
	}
}

func TestPack(t *testing.T) {
	for _, path := range []string{"as built", "go"} {
		t.Run(path, func(t *testing.T) {
			if path == "go" {
				if cpu.Path() == path {
					t.Skip("it is as built")
				}
				defer cpu.Disable()()
			}
			rng := rand.New(rand.NewPCG(5, 5))
			for which := range packs {
				for _, n := range simdtest.Lengths() {
					checkPack(t, rng, which, 1+n%13, n)
					checkPack(t, rng, which, n, 1+n%37)
				}
				sides := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 18, 24, 31, 32, 33} // of groups of 6, panels of 16 and registers
				for _, rows := range sides {
					for _, columns := range sides {
						checkPack(t, rng, which, rows, columns)
					}
				}
			}
		})
	}
}

// What would reach outside a slice is a panic, whatever the kernel.
func TestPackOutside(t *testing.T) {
	for _, p := range packs {
		for _, cut := range [][3]int{{1, 0, 0}, {0, 1, 0}, {0, 0, 30}} { // of to, of from, of the stride
			to, from := make([]Float, p.size(9, 21)-cut[0]), make([]Float, 9*21-cut[1])
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s, %v short: no panic", p.name, cut)
					}
				}()
				p.call(to, from, 21-cut[2], 9, 21)
			}()
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(9), uint8(33))
	f.Add(uint64(2), uint8(2), uint8(16), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, which, rows, columns uint8) {
		checkPack(t, rand.New(rand.NewPCG(seed, 0)), int(which)%len(packs), int(rows), int(columns))
	})
}

func BenchmarkPack(b *testing.B) {
	const rows, columns = 192, 256
	for _, p := range packs {
		b.Run(p.name, func(b *testing.B) {
			from, to := make([]Float, rows*columns), make([]Float, p.size(rows, columns))
			b.SetBytes(int64(2 * rows * columns * int(unsafe.Sizeof(from[0]))))
			for b.Loop() {
				p.call(to, from, columns, rows, columns)
			}
		})
	}
}
