// Command four writes the kernels of package four for arm64. Run it by
//
//	go generate ./internal/simd/four
//
// which is, inside internal/simd/_gen,
//
//	go run ./four
//
// It compiles the package with the release of Go that is pinned here, mends what the compiler
// does badly with vectors, and writes every instruction as a word with its mnemonic beside
// it. It writes the same bytes each time. Where that release cannot be had it says so, and
// leaves the files as they are.
//
//	go run ./four -mca
//
// prints what llvm-mca says of every loop instead, and
//
//	go run ./four -epoch GATBENCH train cora --no-baseline
//
// what an epoch of a training costs by the same models, given a build of gatbench for arm64 or amd64, with the functions that take most of it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// pinned is the release of Go whose compiler is used.
const pinned = "go1.27.0"

func main() {
	mca := flag.Bool("mca", false, "print a table of the loops by llvm-mca")
	program := flag.String("epoch", "", "print what an epoch of a training costs: a build of gatbench, which is given the arguments that follow")
	flag.Parse()
	if *program != "" {
		if err := epoch(*program, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "four:", err)
			os.Exit(1)
		}
		return
	}
	if err := run("../four", *mca); err != nil {
		fmt.Fprintln(os.Stderr, "four:", err)
		os.Exit(1)
	}
}

// run writes the assembly of the package in a folder, or prints the table.
func run(dir string, mca bool) error {
	if !available() {
		fmt.Printf("four: %s cannot be had here: the kernels of arm64 are left as they are\n", pinned)
		return nil
	}
	all, err := declared(dir)
	if err != nil {
		return err
	}
	text, err := listing(dir)
	if err != nil {
		return err
	}
	for _, k := range all {
		if err := k.read(text); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		if err := k.check(); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		k.mend()
	}
	if mca {
		return table(all)
	}
	if err := os.WriteFile(filepath.Join(dir, "four_arm64.s"), assembly(all), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "four_arm64.go"), declarations(all), 0o666)
}
