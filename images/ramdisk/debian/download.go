package debian

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// tries is how often a file is asked for, and pause the time between two tries.
const (
	tries = 3
	pause = 2 * time.Second
)

// errAgain marks failures that another try may mend.
var errAgain = errors.New("no answer")

// read fetches a small file into memory.
func (m *Mirror) read(ctx context.Context, url string, most int64) ([]byte, error) {
	var text bytes.Buffer
	err := m.again(ctx, func() error {
		text.Reset()
		n, err := m.get(ctx, url, most, &text)
		if err == nil && n > most {
			err = fmt.Errorf("%s has more than %d bytes", url, most)
		}
		return err
	})
	return text.Bytes(), err
}

// download fetches a file. It is there only if it has the expected length and hash.
func (m *Mirror) download(ctx context.Context, url, to string, want sum) error {
	err := m.again(ctx, func() error {
		f, err := os.Create(to)
		if err != nil {
			return err
		}
		hash := sha256.New()
		n, err := m.get(ctx, url, want.size, io.MultiWriter(f, hash))
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		if found := hex.EncodeToString(hash.Sum(nil)); n != want.size || found != want.sha256 {
			return fmt.Errorf("%s: expected %d bytes with SHA-256 %s, found %d with %s: the mirror is damaged or being "+
				"updated: try again later, or name another with --mirror", url, want.size, want.sha256, n, found)
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// again repeats a request that got no answer.
func (m *Mirror) again(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == tries || !errors.Is(err, errAgain) || ctx.Err() != nil {
			return err
		}
		m.Log.Warn("trying again", "error", err)
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// get writes the body of a file, of which one byte more than most is read at the most.
func (m *Mirror) get(ctx context.Context, url string, most int64, w io.Writer) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := m.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("%w from the mirror: %w: check --mirror, or http_proxy in the environment", errAgain, err)
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode >= http.StatusInternalServerError:
		return 0, fmt.Errorf("%w from the mirror: %s: %s", errAgain, url, answer.Status)
	case answer.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("%s: %s: is it a mirror of Debian? name another with --mirror", url, answer.Status)
	}
	n, err := io.Copy(w, io.LimitReader(answer.Body, most+1))
	if err != nil {
		return n, fmt.Errorf("%w to the end: %s: %w", errAgain, url, err)
	}
	return n, nil
}
