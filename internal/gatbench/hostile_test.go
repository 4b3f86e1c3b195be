package gatbench

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// hostile clears the screen, names the window, forges a line, turns the text around, and
// is no UTF-8.
const hostile = "x\x1b[2J\x1b]0;mine\x07\nnext: curl\r\u009b1A\u202egnp.\xff"

// hostileDataset writes a dataset whose name and classes are hostile.
func hostileDataset(t *testing.T) string {
	t.Helper()
	d := datasets.Karate()
	d.ClassNames = []string{hostile, "神经\x1b[31m"}
	d.Split.Val = []int32{1, 2, 3}
	d.Split.Test = d.Split.Test[10:]
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(hostile, "\xff")+".npz") // a model's file can say this name
	if err := d.SaveNPZ(path); err != nil {
		t.Skip("this system takes no such name: ", err)
	}
	return path
}

// tame reports what of a text a terminal must not get.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%s: %q in %q", what, r, text)
			return
		}
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s: no UTF-8: %q", what, text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "next: curl") {
			t.Errorf("%s: a line is forged: %q", what, text)
		}
	}
}

// Nothing that comes from data reaches the terminal with escapes in it.
func TestHostileNames(t *testing.T) {
	tasktest.Nowhere(t)
	path := hostileDataset(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	saved, evil := file(hostile+".safetensors"), file(hostile)
	if err := os.WriteFile(evil, []byte("0 "+hostile), 0o666); err != nil {
		t.Fatal(err)
	}
	train := []string{"train", "--dataset", path, "--epochs", "2"}
	right := [][]string{
		train, append(train, "--seeds", "2"), append(train, "--json"),
		append(train, "--save", saved, "--checkpoint", file("c"+hostile), "--csv", file("e"+hostile), "--picture", file("p.svg"), "--attention", file("a.svg")),
		{"train", "--resume", file("c" + hostile), "--epochs", "3"},
		{"eval", saved}, {"eval", saved, "--json"},
		{"predict", saved, "--nodes", "0"}, {"predict", saved, "--nodes", "0", "--json"},
		{"table", "--datasets", path, "--models", "mlp", "--epochs", "1", "--seeds", "1"},
		{"data", "describe", path}, {"data", "describe", path, "--json"}, {"data", "check", path},
		{"data", "convert", path, "-o", file(hostile + ".npz")},
		{"bench", "--list", "--graph", path},
	}
	wrong := [][]string{
		{hostile}, {"train", "--" + hostile}, {"train", "--dataset", hostile}, {"train", "--model", hostile}, {"train", "--data", hostile},
		{"train", "--save", hostile + "/x/y"},
		{"train", "--resume", file("c" + hostile), "--hidden", "3"}, {"train", "--resume", evil},
		{"eval", saved, "--dataset", "cora"}, {"predict", saved, "--nodes", "0", "--splits", hostile},
		{"table", "--datasets", path, "--models", hostile},
		{"data", "describe", evil}, {"data", "check", path, evil, hostile}, {"data", "fetch", hostile},
		{"bench", hostile},
	}
	for i, args := range slices.Concat(right, wrong) {
		stdout, stderr, status := tasktest.Gatbench(t, args...)
		if (status == cli.Succeeded) != (i < len(right)) || stdout+stderr == "" {
			t.Errorf("%q: status %d, output %q, error %q", args, status, stdout, stderr)
		}
		harmless(t, strings.Join(args[:min(2, len(args))], " "), stdout+stderr)
	}
	for _, name := range []string{"p.svg", "a.svg"} {
		svg, err := os.ReadFile(file(name))
		if err != nil || !strings.Contains(string(svg), `x\x1b[2J`) {
			t.Errorf("%s: no class in quotes: %v", name, err)
		}
		harmless(t, name, string(svg))
		wordsApart(t, svg)
	}
}

// The names of files in an archive, and what a model's file says of itself, are data too.
func TestHostileFiles(t *testing.T) {
	tasktest.Nowhere(t)
	dir := t.TempDir()
	names := map[string]string{"npz": hostile + ".npy", "zip": hostile + ".content"}
	for ext, name := range names {
		f, err := os.Create(filepath.Join(dir, "x."+ext))
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte("1 " + hostile + "\n"))
		}
		if err := errors.Join(err, z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"data", "check"}, {"data", "describe"}, {"train", "--dataset"}, {"train", "--splits"}} {
			stdout, stderr, status := tasktest.Gatbench(t, append(args, f.Name())...)
			if status == cli.Succeeded {
				t.Errorf("%q of %s is right", args, ext)
			}
			harmless(t, ext, stdout+stderr)
		}
	}
	model, checkpoint := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "c.safetensors")
	if _, stderr, status := tasktest.Gatbench(t, "train", "--epochs", "1", "--save", model, "--checkpoint", checkpoint); status != cli.Succeeded {
		t.Fatal(stderr)
	}
	for _, forge := range []struct{ file, was string }{
		{checkpoint, `\"Model\":\"gat\"`}, {checkpoint, `\"Dataset\":\"cora\"`}, {checkpoint, `\"Splits\":\"planetoid\"`}, {checkpoint, `\"Select\":\"accuracy\"`}, {checkpoint, `\"Rows\":\"needed\"`},
		{model, `\"Model\":\"gat\"`}, {model, `\"Dataset\":\"cora\"`}, {model, `\"Splits\":\"planetoid\"`}, {model, `\"kind\":\"class\"`}, {model, `\"of\":\"node\"`},
	} {
		was := forge.was
		b, err := os.ReadFile(forge.file)
		if err != nil {
			t.Fatal(err)
		}
		key, value, _ := strings.Cut(was, ":")
		forged := `\u001b[2J\u009b1A\u202e`
		text := string(b)
		if !strings.Contains(text, was) {
			t.Fatalf("no %s in the file", was)
		}
		text = strings.Replace(text, was, key+`:\"`+strings.ReplaceAll(forged, `\`, `\\`)+`\"`, 1)
		header := len(text) - len(b) // is longer now
		n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16 + header
		text = string([]byte{byte(n), byte(n >> 8), byte(n >> 16)}) + text[3:]
		forgedFile := filepath.Join(dir, "f.safetensors")
		if err := os.WriteFile(forgedFile, []byte(sealed(text)), 0o666); err != nil {
			t.Fatal(err)
		}
		command := []string{"eval"}
		if forge.file == checkpoint {
			command = []string{"train", "--resume"}
		}
		for _, command := range [][]string{command} {
			stdout, stderr, status := tasktest.Gatbench(t, append(command, forgedFile)...)
			if status == cli.Succeeded || !strings.Contains(stderr, `\x1b[2`) {
				t.Errorf("%q of %s of %s: status %d, %q", command, value, key, status, stderr)
			}
			harmless(t, key, stdout+stderr)
		}
	}
}

// sealed returns a model file with a checksum that fits; another file as it is.
func sealed(text string) string {
	const key = `"checksum":"`
	at := strings.Index(text, key)
	if at < 0 {
		return text
	}
	before, after := text[:at+len(key)], text[at+len(key)+2*sha256.Size:]
	sum := sha256.Sum256([]byte(before + strings.Repeat("0", 2*sha256.Size) + after))
	return before + hex.EncodeToString(sum[:]) + after
}
