package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// caller is a client that does nothing but call.
type caller struct {
	base string
	http *http.Client
}

func newCaller(base string) *caller {
	return &caller{
		base: base, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: loadReaders}},
	}
}

// each does something to all items, so many at a time.
func each[T any](callers int, items []T, do func(T) error) error {
	var next atomic.Int64
	return sideBySide(callers, func() (bool, error) {
		n := next.Add(1) - 1
		if n >= int64(len(items)) {
			return false, nil
		}
		return true, do(items[n])
	})
}

// during does something over and over for loadTime, so many at a time, and
// returns how often.
func during(callers int, do func(i int) error) (int, error) {
	var done atomic.Int64
	end := time.Now().Add(loadTime)
	err := sideBySide(callers, func() (bool, error) {
		if time.Now().After(end) {
			return false, nil
		}
		return true, do(int(done.Add(1)))
	})
	return int(done.Load()), err
}

// sideBySide has callers take turns until each has no more or an error.
func sideBySide(callers int, turn func() (more bool, err error)) error {
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for more := true; more && errs[i] == nil; {
				more, errs[i] = turn()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// call asks again when the server is busy: Ironic is, at this load.
func (c *caller) call(ctx context.Context, method, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for {
		status, answer, err := c.once(ctx, method, path, raw)
		switch {
		case err != nil:
			return err
		case status == http.StatusConflict || status == http.StatusServiceUnavailable:
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s %s: still status %d: %.300s: %w", method, path, status, answer, ctx.Err())
			case <-time.After(100 * time.Millisecond):
			}
			continue
		case status >= 300:
			return fmt.Errorf("%s %s: status %d: %.300s", method, path, status, answer)
		case into == nil:
			return nil
		}
		return json.Unmarshal(answer, into)
	}
}

func (c *caller) once(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(nodeapi.HeaderVersion, cmp.Or(os.Getenv("API_VERSION"), "1.82"))
	res, err := c.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}
