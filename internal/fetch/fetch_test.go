package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// content is what the servers have: enough for several reads.
var content = bytes.Repeat([]byte("some of the file, "), 20_000)

// setting is a server, the file that it should have, and who gets it.
type setting struct {
	file   File
	getter *Getter
	asked  atomic.Int64
	pauses []time.Duration
}

func serve(t *testing.T, handle func(n int64, w http.ResponseWriter, r *http.Request)) *setting {
	t.Helper()
	s := &setting{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle(s.asked.Add(1), w, r)
	}))
	t.Cleanup(server.Close)
	s.file = File{URL: server.URL + "/x", Path: filepath.Join(t.TempDir(), "a", "x"), Size: int64(len(content)), SHA256: fmt.Sprintf("%x", sha256.Sum256(content))}
	s.getter = &Getter{Stall: 5 * time.Second, sleep: func(ctx context.Context, d time.Duration) error {
		s.pauses = append(s.pauses, d)
		return context.Cause(ctx)
	}}
	return s
}

// honest serves the content, and parts of it.
func honest(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(content))
}

// cut sends the head of all of it and then only n bytes.
func cut(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	w.Write(content[:n])
}

// wantFile checks that the file is there and nothing else is.
func (s *setting) wantFile(t *testing.T, err error) {
	t.Helper()
	got, readErr := os.ReadFile(s.file.Path)
	if err != nil || readErr != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, error %v, %v", len(got), err, readErr)
	}
	if list, _ := os.ReadDir(filepath.Dir(s.file.Path)); len(list) != 1 {
		t.Errorf("there are %v", list)
	}
}

// wantError checks that the error is the one, and that there is no file.
func (s *setting) wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || strings.TrimPrefix(err.Error(), s.file.URL+": ") != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := os.Stat(s.file.Path); !os.IsNotExist(err) {
		t.Errorf("there is a file: %v", err)
	}
}

func TestGet(t *testing.T) {
	s := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) { honest(w, r) })
	last := int64(0)
	s.getter.Progress = func(f File, done int64) {
		if f != s.file || done < last {
			t.Errorf("progress of %s: %d after %d", f.URL, done, last)
		}
		last = done
	}
	s.wantFile(t, s.getter.Get(t.Context(), s.file))
	if last != s.file.Size {
		t.Errorf("progress ends at %d of %d", last, s.file.Size)
	}
	s.wantFile(t, s.getter.Get(t.Context(), s.file))
	if s.asked.Load() != 1 {
		t.Errorf("asked %d times", s.asked.Load())
	}
	if err := os.WriteFile(s.file.Path, []byte("damaged"), 0o666); err != nil {
		t.Fatal(err)
	}
	last = 0
	s.wantFile(t, s.getter.Get(t.Context(), s.file))
}

func TestFailingServerIsAskedAgain(t *testing.T) {
	s := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		if n < 3 {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		honest(w, r)
	})
	s.wantFile(t, s.getter.Get(t.Context(), s.file))
	if want := []time.Duration{time.Second, 2 * time.Second}; !slices.Equal(s.pauses, want) {
		t.Errorf("pauses %v, want %v", s.pauses, want)
	}
}

func TestErrors(t *testing.T) {
	other := bytes.Repeat([]byte("x"), len(content))
	for name, c := range map[string]struct {
		handle func(n int64, w http.ResponseWriter, r *http.Request)
		want   string
		asked  int64
	}{
		"always 500": {func(_ int64, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
			"the server says 500 Internal Server Error, at the last of 4 tries", 4},
		"404": {func(_ int64, w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
			"the server says 404 Not Found", 1},
		"lies": {func(_ int64, w http.ResponseWriter, _ *http.Request) { w.Write(other) },
			fmt.Sprintf("sha256 is %x, want %x: the server sends another file", sha256.Sum256(other), sha256.Sum256(content)), 1},
		"too long": {func(_ int64, w http.ResponseWriter, _ *http.Request) { w.Write(content); w.Write([]byte("more")) },
			fmt.Sprintf("it has more than %d bytes: the server sends another file", len(content)), 1},
		"too short": {func(_ int64, w http.ResponseWriter, _ *http.Request) { w.Write([]byte("short")) },
			fmt.Sprintf("it ends after 5 of %d bytes, at the last of 4 tries", len(content)), 4},
		"redirect loop": {func(_ int64, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) },
			`Get "/x": it is redirected more than 10 times`, 11},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.handle)
			s.wantError(t, s.getter.Get(t.Context(), s.file), c.want)
			if s.asked.Load() != c.asked {
				t.Errorf("asked %d times, want %d", s.asked.Load(), c.asked)
			}
		})
	}
}

func TestTruncatedIsResumed(t *testing.T) {
	var ranges []string
	s := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		if n == 1 {
			cut(w, 100_000)
			return
		}
		honest(w, r)
	})
	s.wantFile(t, s.getter.Get(t.Context(), s.file))
	if want := []string{"", "bytes=100000-"}; !slices.Equal(ranges, want) {
		t.Errorf("asked for %q, want %q", ranges, want)
	}
}

func TestRangeIgnored(t *testing.T) {
	s := serve(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			cut(w, 70_000)
			return
		}
		w.Write(content)
	})
	s.wantFile(t, s.getter.Get(t.Context(), s.file))
}

// A part may be of another file, too long, or another's place.
func TestWrongParts(t *testing.T) {
	for name, part := range map[string][]byte{
		"wrong":    bytes.Repeat([]byte("w"), 1000),
		"complete": content,
		"too long": append(slices.Clone(content), "more"...),
		"all bad":  bytes.Repeat([]byte("w"), len(content)),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) { honest(w, r) })
			if err := os.MkdirAll(filepath.Dir(s.file.Path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(partOf(s.file), part, 0o666); err != nil {
				t.Fatal(err)
			}
			s.wantFile(t, s.getter.Get(t.Context(), s.file))
		})
	}
	for _, header := range []string{"bytes 7-9/10", ""} {
		s := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
			switch n {
			case 1:
				cut(w, 70_000)
			case 2:
				w.Header().Set("Content-Range", header)
				w.WriteHeader(http.StatusPartialContent)
				w.Write(content[7:10])
			default:
				honest(w, r)
			}
		})
		s.wantFile(t, s.getter.Get(t.Context(), s.file))
	}
}

func TestStall(t *testing.T) {
	s := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			cut(w, 50_000)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		honest(w, r)
	})
	s.getter.Stall = 100 * time.Millisecond
	s.wantFile(t, s.getter.Get(t.Context(), s.file))

	s = serve(t, func(_ int64, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.getter.Stall, s.getter.Tries = 50*time.Millisecond, 2
	s.wantError(t, s.getter.Get(t.Context(), s.file), "the server sends nothing any more, at the last of 2 tries")
}

func TestCancelledKeepsThePart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		cut(w, 50_000)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s.getter.Progress = func(_ File, done int64) {
		if done == 50_000 {
			cancel()
		}
	}
	err := s.getter.Get(ctx, s.file)
	s.wantError(t, err, "context canceled")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if info, err := os.Stat(partOf(s.file)); err != nil || info.Size() != 50_000 {
		t.Errorf("the part: %v, error %v", info, err)
	}
}

func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /dev/full to write to")
	}
	s := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) { honest(w, r) })
	if err := os.MkdirAll(filepath.Dir(s.file.Path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", partOf(s.file)); err != nil {
		t.Fatal(err)
	}
	err := s.getter.Get(t.Context(), s.file)
	if !errors.Is(err, syscall.ENOSPC) || s.asked.Load() > 1 {
		t.Errorf("error %v, asked %d times", err, s.asked.Load())
	}
}

func TestNoFolder(t *testing.T) {
	s := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) { honest(w, r) })
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s.file.Path = filepath.Join(blocked, "x")
	if err := s.getter.Get(t.Context(), s.file); err == nil || !strings.Contains(err.Error(), blocked) || s.asked.Load() > 0 {
		t.Errorf("error %v, asked %d times", err, s.asked.Load())
	}
}
