package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// redirectMost is how often a server may send a request elsewhere.
const redirectMost = 10

var (
	errStalled   = errors.New("the server sends nothing any more")
	errRedirects = finalError{fmt.Errorf("it is redirected more than %d times", redirectMost)}
)

// download appends to part, which has the first have bytes, what is missing.
func (g *Getter) download(ctx context.Context, f File, part *os.File, have int64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := g.Stall
	if stall == 0 {
		stall = 30 * time.Second
	}
	watch := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer watch.Stop()
	response, err := g.ask(ctx, f, have)
	if err != nil {
		return because(ctx, err)
	}
	defer response.Body.Close()
	if have, err = accept(response, part, have); err != nil {
		return err
	}
	buffer := make([]byte, 1<<16)
	for {
		n, err := response.Body.Read(buffer)
		watch.Reset(stall)
		if have += int64(n); have > f.Size {
			os.Remove(part.Name())
			return final("it has more than %d bytes: the server sends another file", f.Size)
		}
		if _, err := part.Write(buffer[:n]); err != nil {
			return finalError{err}
		}
		if g.Progress != nil {
			g.Progress(f, have)
		}
		switch {
		case err == io.EOF && have == f.Size:
			return nil
		case err == io.EOF:
			return fmt.Errorf("it ends after %d of %d bytes", have, f.Size)
		case err != nil:
			return because(ctx, fmt.Errorf("after %d of %d bytes: %w", have, f.Size, err))
		}
	}
}

// because returns why a context ended, if it did, and otherwise err.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// ask sends the request, for the rest of the file if have is not 0.
func (g *Getter) ask(ctx context.Context, f File, have int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return nil, finalError{err}
	}
	request.Header.Set("User-Agent", "edgewise")
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	client := &http.Client{Transport: g.Transport, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > redirectMost {
			return errRedirects
		}
		return nil
	}}
	return client.Do(request)
}

// accept looks at the answer's status and returns how much of what is there the
// body goes on from.
func accept(r *http.Response, part *os.File, have int64) (int64, error) {
	switch {
	case r.StatusCode == http.StatusPartialContent && have > 0 && strings.HasPrefix(r.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
		return have, nil
	case r.StatusCode == http.StatusOK && have == 0:
		return 0, nil
	case r.StatusCode == http.StatusOK: // all of it, whatever was asked for
		return 0, restart(part)
	case r.StatusCode == http.StatusPartialContent, r.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		if err := restart(part); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("the server does not continue at byte %d", have)
	case r.StatusCode >= 500, r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the server says %s", r.Status)
	}
	return 0, final("the server says %s", r.Status)
}
