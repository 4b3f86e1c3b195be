package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// importPath is that of the package of kernels.
const importPath = "github.com/edgewise-ml/edgewise/internal/simd/four"

// kernel is a function on its way to assembly.
type kernel struct {
	name, doc string
	params    []param
	result    string // its type; empty: none
	code      []instruction
}

// param is a parameter and its type.
type param struct{ name, kind string }

// instruction is one of arm64.
type instruction struct {
	word   uint32
	text   string // as Go writes it
	target int    // of a branch: the index of where it goes; −1: none
}

// command runs the go command of the pinned release, for arm64.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+pinned, "GOEXPERIMENT=simd", "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	return cmd
}

// available reports whether the pinned release can be run.
func available() bool { return command("version").Run() == nil }

// declared returns the kernels of a folder: the exported functions of its files that need
// the experiment, in the order of the files.
func declared(dir string) (all []*kernel, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_wasm.go") || !bytes.HasPrefix(source, []byte("//go:build goexperiment.simd")) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				all = append(all, kernelOf(f))
			}
		}
	}
	return all, nil
}

// kernelOf returns the kernel of a declaration.
func kernelOf(f *ast.FuncDecl) *kernel {
	k := &kernel{name: f.Name.Name, doc: f.Doc.Text()}
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			k.params = append(k.params, param{name.Name, typeName(field.Type)})
		}
	}
	if r := f.Type.Results; r != nil {
		k.result = typeName(r.List[0].Type)
	}
	return k
}

// typeName is a type as assembly's declarations have it.
func typeName(e ast.Expr) string {
	if name := e.(*ast.Ident).Name; name != "place" {
		return name
	}
	return "unsafe.Pointer"
}

// listing compiles the package, and returns what the compiler prints of it.
func listing(dir string) (string, error) {
	cmd := command("build", "-gcflags="+importPath+"=-S -B", ".")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out.Bytes())
	}
	return out.String(), nil
}

var (
	sizeOf = regexp.MustCompile(` size=(\d+) `)
	lineOf = regexp.MustCompile(`^\t0x[0-9a-f]+ (\d+) \([^)]*\)\t(.*)`)
	codeOf = regexp.MustCompile(`^\t0x[0-9a-f]+ ((?:[0-9a-f]{2} )+) `)
)

// read takes the kernel's instructions from a listing. It refuses a frame and what needs
// the linker.
func (k *kernel) read(listing string) error {
	head := importPath + "." + k.name + " STEXT"
	at := strings.Index(listing, head)
	if at < 0 {
		return errors.New("the compiler lists no such function")
	}
	lines := strings.Split(listing[at:], "\n")
	size, err := strconv.Atoi(sizeOf.FindStringSubmatch(lines[0] + " ")[1])
	if err != nil {
		return err
	}
	texts, code := map[int]string{}, []byte{}
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "\t") {
			break
		}
		if m := lineOf.FindStringSubmatch(line); m != nil {
			offset, _ := strconv.Atoi(m[1])
			verb, _, _ := strings.Cut(m[2], "\t")
			switch {
			case verb == "TEXT" && !strings.Contains(m[2], "NOFRAME"):
				return fmt.Errorf("it has a frame: %s", m[2][strings.LastIndex(m[2], "$"):]+k.spill(lines))
			case verb != "TEXT" && verb != "FUNCDATA" && verb != "PCDATA" && verb != "NOP":
				texts[offset] = strings.ReplaceAll(m[2], "\t", " ")
			}
		} else if m := codeOf.FindStringSubmatch(line); m != nil {
			part, err := hex.DecodeString(strings.ReplaceAll(m[1], " ", ""))
			if err != nil {
				return err
			}
			code = append(code, part...)
		} else if strings.HasPrefix(line, "\trel ") && !strings.Contains(line, "R_USETYPE") {
			return fmt.Errorf("it refers to%s", strings.TrimPrefix(line, "\trel"))
		}
	}
	return k.decode(code[:size], texts)
}

// spill returns the first instruction of a listing that calls or uses the stack.
func (k *kernel) spill(lines []string) string {
	for _, line := range lines {
		if m := lineOf.FindStringSubmatch(line); m != nil && (strings.Contains(m[2], "(SP)") || strings.HasPrefix(m[2], "CALL")) && !strings.Contains(m[2], "FUNCDATA") {
			return ": " + strings.ReplaceAll(m[2], "\t", " ")
		}
	}
	return ""
}

// decode splits code, and finds where branches go. Padding behind the last instruction is
// left out.
func (k *kernel) decode(code []byte, texts map[int]string) error {
	n := len(code) / 4
	for n > 0 && binary.LittleEndian.Uint32(code[4*n-4:]) == 0 {
		n--
	}
	for i := range n {
		in := instruction{word: binary.LittleEndian.Uint32(code[4*i:]), text: texts[4*i], target: -1}
		if in.text == "" {
			in.text = "and the rest of it"
		}
		if jump, ok := distance(in.word); ok {
			if in.target = i + jump; in.target < 0 || in.target >= n {
				return fmt.Errorf("%s leaves the function", in.text)
			}
		}
		k.code = append(k.code, in)
	}
	return nil
}
