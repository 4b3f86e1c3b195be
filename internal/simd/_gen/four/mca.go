package main

import (
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// models are the processors whose models are asked, by llvm's names.
var models = []string{"apple-m1", "neoverse-n1", "neoverse-v1"}

// The tools of llvm: before 19 it models the Neoverses as a Cortex-A57.
const (
	analyser     = "llvm-mca-19"
	disassembler = "llvm-mc-19"
)

// ports are how many loads and how many products a model does in a cycle.
type ports struct{ loads, products float64 }

// table prints what llvm-mca says of all loops.
func table(all []*kernel) error {
	for _, tool := range []string{analyser, disassembler} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Printf("four: %s is not here: there is no table\n", tool)
			return nil
		}
	}
	of := map[string]ports{}
	for _, m := range models {
		loads, err := cycles(m, independent("ldr q%d, [x%[1]d]"))
		if err != nil {
			return err
		}
		products, err := cycles(m, independent("fmul v%d.4s, v30.4s, v31.4s"))
		if err != nil {
			return err
		}
		of[m] = ports{math.Round(16 / loads), math.Round(16 / products)}
	}
	fmt.Printf("| loop | instructions | loads | products and sums |")
	for _, m := range models {
		fmt.Printf(" %s, cycles | by the bound |", m)
	}
	fmt.Printf("\n|---|---|---|---|%s\n", strings.Repeat("---|---|", len(models)))
	for _, k := range all {
		for i, l := range k.loops() {
			if err := l.row(fmt.Sprintf("%s %d", k.name, i+1), of); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
	}
	return nil
}

// independent is sixteen instructions that do not wait for each other.
func independent(format string) string {
	var b strings.Builder
	for i := range 16 {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

// products are what a port of products does.
var products = regexp.MustCompile(`^\s*(fmla|fmls|fmul|fadd|fsub|fmadd|faddp|fmax|fmin|fdiv|fsqrt)\b`)

// load is a load.
var load = regexp.MustCompile(`^\s*ldu?r`)

// row prints a loop's row of the table.
func (l loop) row(name string, of map[string]ports) error {
	text, err := l.disassembled()
	if err != nil {
		return err
	}
	loads, sums := 0.0, 0.0
	for line := range strings.Lines(text) {
		switch {
		case load.MatchString(line):
			loads++
		case products.MatchString(line):
			sums++
		}
	}
	if sums == 0 {
		return nil // lists, and the ends of rows
	}
	fmt.Printf("| %s | %d | %.0f | %.0f |", name, len(l), loads, sums)
	for _, m := range models {
		c, err := cycles(m, text)
		if err != nil {
			return err
		}
		fmt.Printf(" %.1f | %.2f |", c, c/max(loads/of[m].loads, sums/of[m].products))
	}
	fmt.Println()
	return nil
}

// disassembled is the loop as llvm writes it.
func (l loop) disassembled() (string, error) {
	var b strings.Builder
	for _, in := range l {
		w := in.word
		fmt.Fprintf(&b, "0x%02x 0x%02x 0x%02x 0x%02x\n", w&255, w>>8&255, w>>16&255, w>>24)
	}
	cmd := exec.Command(disassembler, "-triple=aarch64", "-mattr=+fullfp16", "--disassemble")
	cmd.Stdin = strings.NewReader(b.String())
	out, err := cmd.Output()
	return strings.ReplaceAll(string(out), ".text", ""), err
}

var total = regexp.MustCompile(`Total Cycles:\s+(\d+)`)

// cycles is how many cycles a model takes for an iteration of some code.
func cycles(model, text string) (float64, error) {
	const iterations = 200
	cmd := exec.Command(analyser, "-mtriple=aarch64", "-mcpu="+model, fmt.Sprintf("-iterations=%d", iterations))
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", analyser, err)
	}
	m := total.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("%s says nothing of cycles", analyser)
	}
	n, err := strconv.Atoi(string(m[1]))
	return float64(n) / iterations, err
}
