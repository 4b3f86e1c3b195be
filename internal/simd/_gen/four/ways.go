package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// lister disassembles programs.
const lister = "llvm-objdump-19"

//go:embed ways/ways.c
var plugin []byte

// count trains for some epochs under the emulator and returns how often each way was gone.
func (m machine) count(dir, program string, args []string, epochs int) (map[string]float64, error) {
	source, library, out := filepath.Join(dir, "ways.c"), filepath.Join(dir, "ways.so"), filepath.Join(dir, "ways")
	if err := os.WriteFile(source, plugin, 0o666); err != nil {
		return nil, err
	}
	var text []byte
	for _, version := range []string{"1", "2", "4"} { // releases of qemu want different ones, and what is used here is the same
		if text, err := exec.Command("cc", "-O2", "-shared", "-fPIC", "-DVERSION="+version, "-o", library, source).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cc: %w\n%s", err, text)
		}
		all := append(m.emulator[1:len(m.emulator):len(m.emulator)], "-plugin", library+",out="+out, program)
		all = append(append(all, args...), "--epochs", strconv.Itoa(epochs), "--patience", "0", "--threads", "1")
		cmd := exec.Command(m.emulator[0], all...)
		// Nothing happens that follows from time: no signals, no collections.
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMAXPROCS=1")
		var err error
		if text, err = cmd.CombinedOutput(); err == nil {
			return counted(out)
		}
	}
	return nil, fmt.Errorf("%s: it fails:\n%s", m.emulator[0], text)
}

// counted reads what the plugin has written.
func counted(name string) (map[string]float64, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	ways := map[string]float64{}
	for l := range strings.Lines(string(text)) {
		n, blocks, _ := strings.Cut(strings.TrimSpace(l), " ")
		count, err := strconv.ParseFloat(n, 64)
		if err != nil {
			return nil, err
		}
		ways[blocks] += count
	}
	return ways, nil
}

// line is an instruction as the analyser reads it, and the address of the next.
type line struct {
	text string
	next uint64
}

var (
	address = regexp.MustCompile(`^ *([0-9a-f]+): *\t?\s*(.*)$`)
	target  = regexp.MustCompile(`(0x)?[0-9a-f]+ <[^>]*>`)
	spaces  = regexp.MustCompile(`\s+`)
	comment = regexp.MustCompile(`\s+(# |//).*$`)
	// The emulator counts a repeated instruction as often as it repeats it, and the models give each the time of
	// beginning one. What the system does they do not know.
	repeat = regexp.MustCompile(`^(rep|syscall|svc).*`)
)

// cleaned is an instruction without names, comments and tabs.
func cleaned(text []byte) string {
	text = comment.ReplaceAll(spaces.ReplaceAll(text, []byte{' '}), nil)
	return string(repeat.ReplaceAll(target.ReplaceAll(text, []byte("there")), nil))
}

// listed returns the instructions of all blocks of ways.
func listed(program string, ways map[string]float64) (map[uint64]line, error) {
	wanted := map[uint64]uint64{} // ends of blocks by their beginnings
	for w := range ways {
		for block := range strings.FieldsSeq(w) {
			at, n, err := span(block)
			if err != nil {
				return nil, err
			}
			wanted[at] = max(wanted[at], at+n)
		}
	}
	cmd := exec.Command(lister, "-d", "--no-show-raw-insn", "--no-leading-headers", program)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	code := map[uint64]line{}
	last, end := uint64(0), uint64(0)
	in := bufio.NewScanner(pipe)
	for in.Scan() {
		m := address.FindSubmatch(in.Bytes())
		if m == nil {
			continue
		}
		at, err := strconv.ParseUint(string(m[1]), 16, 64)
		if err != nil {
			continue
		}
		if l, ok := code[last]; ok {
			l.next = at
			code[last] = l
		}
		end = max(end, wanted[at])
		if at < end {
			code[at] = line{cleaned(m[2]), at + 4}
		}
		last = at
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return code, cmd.Wait()
}

// region is what the analyser begins the report of a way with.
var region = regexp.MustCompile(`(?s)Code Region - w(\d+)\n\nIterations: +(\d+)\n.*?Total Cycles: +(\d+)`)

// cost returns the cycles that a model takes for each way when it is gone again and again. What weighs least, together
// a two-hundredth of the instructions, takes as much for an instruction as the rest.
func (m machine) cost(model string, all []*way) ([]float64, error) {
	costs := make([]float64, len(all))
	sum, done, cycles := 0.0, 0.0, 0.0
	for _, w := range all {
		sum += w.count * float64(len(w.text))
	}
	n := 0
	for n < len(all) && done < 0.995*sum {
		done += all[n].count * float64(len(all[n].text))
		n++
	}
	const at = 100 // ways a run
	for first := 0; first < n; first += at {
		if err := m.analysed(model, all[first:min(first+at, n)], costs[first:]); err != nil {
			return nil, err
		}
	}
	for i, w := range all[:n] {
		cycles += w.count * costs[i]
	}
	for i := n; i < len(all); i++ {
		costs[i] = cycles / done * float64(len(all[i].text))
	}
	return costs, nil
}

// analysed sets the costs of some ways.
func (m machine) analysed(model string, ways []*way, costs []float64) error {
	var b strings.Builder
	for i, w := range ways {
		fmt.Fprintf(&b, "# LLVM-MCA-BEGIN w%d\n%s\n# LLVM-MCA-END\n", i, strings.Join(w.text, "\n"))
	}
	cmd := exec.Command(analyser, "-mtriple="+m.triple, "-mcpu="+model, "-iterations=100", "-call-latency=1",
		"-skip-unsupported-instructions=any", "-resource-pressure=false", "-instruction-info=false")
	cmd.Stdin = strings.NewReader(b.String())
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", analyser, err, complaints.Bytes())
	}
	for _, f := range region.FindAllSubmatch(out, -1) {
		i, _ := strconv.Atoi(string(f[1]))
		iterations, _ := strconv.ParseFloat(string(f[2]), 64)
		cycles, _ := strconv.ParseFloat(string(f[3]), 64)
		costs[i] = cycles / iterations
	}
	return nil
}
