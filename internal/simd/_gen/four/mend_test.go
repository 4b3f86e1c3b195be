package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// assembled returns what an instruction is encoded as, by the assembler of llvm.
func assembled(t *testing.T, text string) uint32 {
	t.Helper()
	for _, name := range []string{"llvm-mc-19", "llvm-mc-14", "llvm-mc"} {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		cmd := exec.Command(name, "-triple=aarch64", "-show-encoding")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		_, list, _ := strings.Cut(string(out), "encoding: [")
		var b [4]uint32
		if _, err := fmt.Sscanf(list, "0x%x,0x%x,0x%x,0x%x]", &b[0], &b[1], &b[2], &b[3]); err != nil {
			t.Fatalf("%s: %q: %v", text, out, err)
		}
		return b[0] | b[1]<<8 | b[2]<<16 | b[3]<<24
	}
	t.Skip("llvm-mc is not here")
	return 0
}

// code returns a kernel of words, without branches, that ends.
func code(words ...uint32) *kernel {
	k := &kernel{name: "K"}
	for _, w := range append(words, ret) {
		k.code = append(k.code, instruction{word: w, text: "?", target: -1})
	}
	return k
}

// What each mend makes of what the compiler writes is what llvm's assembler writes for it.
func TestMends(t *testing.T) {
	store := "str q%d, [x0]"
	for _, c := range []struct {
		name     string
		from, to []string
	}{
		{"a broadcast of a float", []string{"mov v9.16b, v0.16b", "mov v9.s[0], v7.s[0]", "dup v8.4s, v9.s[0]", fmt.Sprintf(store, 8)},
			[]string{"dup v8.4s, v7.s[0]", fmt.Sprintf(store, 8)}},
		{"a broadcast of a word", []string{"mov v9.16b, v0.16b", "mov v9.s[0], w3", "dup v9.4s, v9.s[0]", fmt.Sprintf(store, 9)},
			[]string{"dup v9.4s, w3", fmt.Sprintf(store, 9)}},
		{"a product with a broadcast", []string{"dup v9.4s, v9.s[0]", "fmla v1.4s, v2.4s, v9.4s", "fmul v3.4s, v9.4s, v4.4s", "str q1, [x0]", "str q3, [x0]", "movi v9.16b, #0"},
			[]string{"fmla v1.4s, v2.4s, v9.s[0]", "fmul v3.4s, v4.4s, v9.s[0]", "str q1, [x0]", "str q3, [x0]", "movi v9.16b, #0"}},
		{"products with all elements", []string{"mov s19, v18.s[1]", "mov s18, v18.s[3]", "dup v19.4s, v19.s[0]", "dup v18.4s, v18.s[0]", "fmla v1.4s, v2.4s, v19.4s", "fmls v3.4s, v2.4s, v18.4s", "str q1, [x0]", "str q3, [x0]"},
			[]string{"fmla v1.4s, v2.4s, v18.s[1]", "fmls v3.4s, v2.4s, v18.s[3]", "str q1, [x0]", "str q3, [x0]"}},
		{"a broadcast that is used otherwise, too", []string{"dup v9.4s, v8.s[0]", "fmla v1.4s, v2.4s, v9.4s", "fadd v3.4s, v9.4s, v4.4s", "str q1, [x0]", "str q3, [x0]"},
			[]string{"dup v9.4s, v8.s[0]", "fmla v1.4s, v2.4s, v9.4s", "fadd v3.4s, v9.4s, v4.4s", "str q1, [x0]", "str q3, [x0]"}},
		{"a broadcast of what changes before it is used", []string{"dup v9.4s, v8.s[0]", "ldr q8, [x1]", "fmla v1.4s, v2.4s, v9.4s", "str q1, [x0]", "str q8, [x0]"},
			[]string{"dup v9.4s, v8.s[0]", "ldr q8, [x1]", "fmla v1.4s, v2.4s, v9.4s", "str q1, [x0]", "str q8, [x0]"}},
		{"an element that is loaded for a broadcast", []string{"ldr s9, [x1]", "dup v8.4s, v9.s[0]", "fmul v9.4s, v2.4s, v8.4s", "fmul v3.4s, v8.4s, v4.4s", "str q9, [x0]", "str q3, [x0]"},
			[]string{"ldr s8, [x1]", "fmul v9.4s, v2.4s, v8.s[0]", "fmul v3.4s, v4.4s, v8.s[0]", "str q9, [x0]", "str q3, [x0]"}},
		{"one whose place is read before the broadcast", []string{"ldr s9, [x1]", "str q8, [x0]", "dup v8.4s, v9.s[0]", "fmul v9.4s, v2.4s, v8.4s", "str q9, [x0]"},
			[]string{"ldr s9, [x1]", "str q8, [x0]", "fmul v9.4s, v2.4s, v9.s[0]", "str q9, [x0]"}},
		{"a shift by a constant", []string{"mov x3, #-16", "dup v9.4s, w3", "ushl v1.4s, v2.4s, v9.4s", "mov x4, #23", "dup v9.4s, w4", "ushl v3.4s, v1.4s, v9.4s", "str q3, [x0]"},
			[]string{"mov x3, #-16", "ushr v1.4s, v2.4s, #16", "mov x4, #23", "shl v3.4s, v1.4s, #23", "str q3, [x0]"}},
		{"an element of a vector that is replaced", []string{"dup v9.4s, w3", "dup v8.4s, w4", "mov v9.s[0], v8.s[0]", fmt.Sprintf(store, 9)},
			[]string{"dup v9.4s, w3", "dup v8.4s, w4", "mov v9.s[0], v8.s[0]", fmt.Sprintf(store, 9)}},
		{"a broadcast of which an element is replaced by a word", []string{"dup v9.4s, w3", "mov v9.s[1], w4", fmt.Sprintf(store, 9)},
			[]string{"dup v9.4s, w3", "mov v9.s[1], w4", fmt.Sprintf(store, 9)}},
		{"the place of a row", []string{"ldrsw x17, [x1, x14, lsl #2]", "madd x19, x11, x17, x3", "madd x17, x17, x10, x2", "madd x5, x17, x10, x2"},
			[]string{"ldrsw x17, [x1, x14, lsl #2]", "smaddl x19, w11, w17, x3", "smaddl x17, w17, w10, x2", "madd x5, x17, x10, x2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var words []uint32
			for _, text := range c.from {
				words = append(words, assembled(t, text))
			}
			k := code(words...)
			k.mend()
			if len(k.code) != len(c.to)+1 {
				t.Fatalf("%d instructions are left, want %d: %v", len(k.code)-1, len(c.to), k.code)
			}
			for i, text := range c.to {
				if want := assembled(t, text); k.code[i].word != want {
					t.Errorf("%s: %08x, want %08x", text, k.code[i].word, want)
				}
			}
		})
	}
}

// Branches go where they went, whatever is left out between.
func TestBranches(t *testing.T) {
	for _, text := range []string{"b #-8", "b.gt #-8", "cbz x3, #-8", "cbnz w3, #-8", "tbz x3, #33, #-8"} {
		w := assembled(t, text)
		if n, ok := distance(w); !ok || n != -2 {
			t.Errorf("%s goes %d, %t", text, n, ok)
		}
		if want := assembled(t, strings.Replace(text, "#-8", "#12", 1)); going(w, 3) != want {
			t.Errorf("%s that goes on by three: %08x, want %08x", text, going(w, 3), want)
		}
	}
	k := code(assembled(t, "add x1, x1, #4"), hint, assembled(t, "cbz x3, #-8"))
	k.code[2].target = 0
	k.mend()
	if want := assembled(t, "cbz x3, #-4"); k.code[1].word != want {
		t.Errorf("a branch over what is left out: %08x, want %08x", k.code[1].word, want)
	}
}

// Copies that only feed each other go, from one round of a loop to the next, and an element that a later block wants stays.
func TestMendsOfLoops(t *testing.T) {
	k := code(assembled(t, "ldr s9, [x1]"), assembled(t, "dup v8.4s, v9.s[0]"), assembled(t, "fmul v9.4s, v2.4s, v8.4s"), assembled(t, "str q9, [x0]"),
		assembled(t, "mov v5.16b, v6.16b"), assembled(t, "mov v6.16b, v5.16b"), assembled(t, "cbz x3, #-8"), assembled(t, "fmla v1.4s, v2.4s, v8.4s"), assembled(t, "str q1, [x0]"))
	k.code[6].target = 3
	k.mend()
	for i, text := range []string{"ldr s8, [x1]", "fmul v9.4s, v2.4s, v8.s[0]", "str q9, [x0]", "cbz x3, #-4", "fmla v1.4s, v2.4s, v8.s[0]"} {
		if want := assembled(t, text); k.code[i].word != want {
			t.Errorf("%s: %08x, want %08x", text, k.code[i].word, want)
		}
	}
}

// What no kernel may have is refused.
func TestRefused(t *testing.T) {
	for text, says := range map[string]string{
		"bl #8": "it calls", "blr x3": "it calls", "adrp x3, #4096": "it needs its own place", "adr x3, #8": "it needs its own place",
		"ldr q1, [sp, #16]": "it uses the stack", "str x1, [sp, #16]": "it uses the stack", "ldr s1, #8": "it loads what the linker places",
	} {
		if err := code(assembled(t, text)).check(); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if err := code(assembled(t, "ldr q1, [x1, #16]")).check(); err != nil {
		t.Error(err)
	}
}

func TestFrameIsRefused(t *testing.T) {
	listing := importPath + ".K STEXT nosplit size=4 args=0x0 locals=0x10 funcid=0x0\n" +
		"\t0x0000 00000 (k.go:1)\tTEXT\t" + importPath + ".K(SB), NOSPLIT|ABIInternal, $96-24\n" +
		"\t0x0000 00000 (k.go:2)\tFMOVQ\tF1, x-16(SP)\n\n"
	k := &kernel{name: "K"}
	if err := k.read(listing); err == nil || !strings.Contains(err.Error(), "it has a frame") || !strings.Contains(err.Error(), "FMOVQ F1") {
		t.Errorf("%v", err)
	}
	listing = importPath + ".K STEXT nosplit size=4 args=0x0\n\t0x0000 00000 (k.go:1)\tTEXT\t" + importPath + ".K(SB), NOSPLIT|NOFRAME, $0-24\n\trel 4+8 t=R_ADDRARM64 x+0\n\n"
	if err := k.read(listing); err == nil || !strings.Contains(err.Error(), "it refers to") {
		t.Errorf("%v", err)
	}
}
