package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// processor is one whose time an epoch is given in.
type processor struct {
	model, name string
	clock       float64 // GHz
}

// machine is what a build is for.
type machine struct {
	emulator   []string
	triple     string
	processors []processor
}

var machines = map[elf.Machine]machine{
	elf.EM_AARCH64: {[]string{"qemu-aarch64"}, "aarch64", []processor{
		{"apple-m1", "Apple M1", 3.2}, {"neoverse-n1", "Graviton 2", 2.5}, {"neoverse-v1", "Graviton 3", 2.6},
	}},
	elf.EM_X86_64: {[]string{"qemu-x86_64", "-cpu", "max"}, "x86_64", []processor{{"znver4", "Zen 4", 3.7}}},
}

// The epochs of the two runs whose difference is looked at: what is done before, after and in the first
// epochs is in both.
const few, many = 3, 8

// epoch prints what an epoch of a training costs, computed: a build of gatbench trains under an emulator, which counts
// the ways through its code; llvm-mca says what each costs.
func epoch(program string, args []string) error {
	file, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer file.Close()
	m, ok := machines[file.Machine]
	if !ok {
		return fmt.Errorf("%s: nothing is known of %v", program, file.Machine)
	}
	for _, tool := range []string{m.emulator[0], analyser, lister, "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Printf("four: %s is not here: there is no estimate (Debian: apt-get install qemu-user llvm-19 gcc)\n", tool)
			return nil
		}
	}
	dir, err := os.MkdirTemp("", "epoch")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before, err := m.count(dir, program, args, few)
	if err != nil {
		return err
	}
	ways, err := m.count(dir, program, args, many)
	if err != nil {
		return err
	}
	for w, n := range before {
		ways[w] -= n
	}
	for w := range ways {
		ways[w] /= many - few
	}
	return m.report(program, file, ways)
}

// module is what the names of most functions begin with.
const module = "github.com/edgewise-ml/edgewise/"

// way is blocks that are executed one after another.
type way struct {
	text  []string // instructions
	in    string   // the function
	first bool     // it begins where the function does
	count float64
	from  uint64
}

// report prints the table.
func (m machine) report(program string, file *elf.File, counts map[string]float64) error {
	symbols, err := file.Symbols()
	if err != nil {
		return err
	}
	slices.SortFunc(symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	code, err := listed(program, counts)
	if err != nil {
		return err
	}
	var all []*way
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] <= 0 {
			continue
		}
		w := &way{count: counts[name]}
		if err := w.read(name, code); err != nil {
			return err
		}
		i, _ := slices.BinarySearchFunc(symbols, w.from+1, func(s elf.Symbol, at uint64) int { return cmp.Compare(s.Value, at) })
		if i > 0 {
			w.in, w.first = symbols[i-1].Name, symbols[i-1].Value == w.from
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b *way) int {
		return cmp.Compare(b.count*float64(len(b.text)), a.count*float64(len(a.text)))
	})
	costs := make([][]float64, len(m.processors))
	for i, p := range m.processors {
		if costs[i], err = m.cost(p.model, all); err != nil {
			return err
		}
	}
	m.print(all, costs)
	return nil
}

// read sets instructions and place of a way from its name.
func (w *way) read(name string, code map[uint64]line) error {
	for block := range strings.FieldsSeq(name) {
		at, bytes, err := span(block)
		if err != nil {
			return err
		}
		if w.from == 0 {
			w.from = at
		}
		for end := at + bytes; at < end; {
			l, ok := code[at]
			if !ok {
				break // of the kernel, or the emulator's
			}
			w.text = append(w.text, l.text)
			at = l.next
		}
	}
	return nil
}

// span reads address:bytes.
func span(block string) (at, bytes uint64, err error) {
	a, b, _ := strings.Cut(block, ":")
	if at, err = strconv.ParseUint(a, 16, 64); err == nil {
		bytes, err = strconv.ParseUint(b, 16, 64)
	}
	return at, bytes, err
}

// print prints the functions that take the most, by all processors, and what all take.
func (m machine) print(all []*way, costs [][]float64) {
	type row struct {
		name         string
		calls, count float64
		cycles       []float64
	}
	rows, sums := map[string]*row{}, make([]float64, len(costs))
	instructions := 0.0
	for i, w := range all {
		r := rows[w.in]
		if r == nil {
			r = &row{name: w.in, cycles: make([]float64, len(costs))}
			rows[w.in] = r
		}
		r.count += w.count * float64(len(w.text))
		if w.first {
			r.calls += w.count
		}
		instructions += w.count * float64(len(w.text))
		for j := range costs {
			r.cycles[j] += w.count * costs[j][i]
			sums[j] += w.count * costs[j][i]
		}
	}
	sorted := slices.SortedFunc(maps.Values(rows), func(a, b *row) int { return cmp.Compare(b.cycles[0], a.cycles[0]) })
	fmt.Print("| function | calls, thousands | instructions, M |")
	for _, p := range m.processors {
		fmt.Printf(" %s, M cycles | share, %% |", p.model)
	}
	fmt.Printf("\n|---|---|---|%s\n", strings.Repeat("---|---|", len(costs)))
	for _, r := range sorted {
		if r.cycles[0] < 0.002*sums[0] {
			break
		}
		fmt.Printf("| %s | %.1f | %.2f |", strings.TrimPrefix(r.name, module), r.calls/1e3, r.count/1e6)
		for j, c := range r.cycles {
			fmt.Printf(" %.3f | %.1f |", c/1e6, 100*c/sums[j])
		}
		fmt.Println()
	}
	fmt.Printf("| all | | %.2f |", instructions/1e6)
	for _, s := range sums {
		fmt.Printf(" %.2f | 100 |", s/1e6)
	}
	fmt.Println()
	for j, p := range m.processors {
		fmt.Printf("%s at %.1f GHz: %.2f ms\n", p.name, p.clock, sums[j]/p.clock/1e6)
	}
}
