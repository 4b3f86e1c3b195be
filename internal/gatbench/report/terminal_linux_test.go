package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// newTerminal returns both ends of a terminal: what a program prints to, and what shows it.
func newTerminal(t *testing.T) (program, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { screen.Close() })
	var number, unlocked uint32
	control(t, screen, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	control(t, screen, syscall.TIOCGPTN, unsafe.Pointer(&number))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { program.Close() })
	return program, screen
}

func control(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); code != 0 {
		t.Fatal(code)
	}
}

// resize gives a terminal that many columns.
func resize(t *testing.T, f *os.File, columns uint16) {
	control(t, f, syscall.TIOCSWINSZ, unsafe.Pointer(&[4]uint16{24, columns}))
}

// Paragraphs and messages are as wide as the terminal is when they are printed.
func TestWidthOfTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "")
	program, screen := newTerminal(t)
	p := NewPrinter(program)
	text := strings.TrimSpace(strings.Repeat("four ", 60))
	for columns, lines := range map[uint16]int{60: 5, 80: 4, 120: 3, 200: 2, 0: 4} {
		resize(t, screen, columns)
		for what, show := range map[string]func(){"paragraph": func() { p.Paragraph("%s", text) }, "message": func() { Message(program, text[10:]) }} {
			show()
			fmt.Fprint(program, "end")
			var got strings.Builder
			for b := make([]byte, 1); !strings.HasSuffix(got.String(), "end"); {
				if _, err := io.ReadFull(screen, b); err != nil {
					t.Fatal(err)
				}
				got.Write(b)
			}
			if n := strings.Count(got.String(), "\r\n"); n != lines {
				t.Errorf("%d columns show a %s in %d lines, want %d:\n%s", columns, what, n, lines, got.String())
			}
		}
	}
}
