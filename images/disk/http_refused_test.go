package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestNothingThere: a port at which nothing listens and a machine without a name server end after a few tries.
func TestNothingThere(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	closed := server.Listener.Addr().String()
	unnamed := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Resolver: &net.Resolver{PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, closed)
		}}}).DialContext}}
	for name, tc := range map[string]struct {
		client *http.Client
		at     string
		most   int
	}{
		"refused":        {http.DefaultClient, "http://" + closed + "/os.raw", refusedTries},
		"no name server": {unnamed, "http://images.example.com/os.raw", unnamedTries},
	} {
		t.Run(name, func(t *testing.T) {
			told, opts := 0, HTTPOptions{Retries: 9, Backoff: time.Millisecond}
			opts.Retrying = func(_, tries int, _ error) {
				if told++; tries != tc.most {
					t.Errorf("told of %d tries", tries)
				}
			}
			_, err := OpenHTTPSource(t.Context(), tc.client, tc.at, opts)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("given up after %d tries", tc.most)) ||
				told != tc.most-1 {
				t.Errorf("error %v, told of %d failures", err, told)
			}
		})
	}
}

// answers are the outcomes of requests, one after the other; the last one stays. Nil is an image.
type answers []error

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	err := (*a)[0]
	if len(*a) > 1 {
		*a = (*a)[1:]
	}
	if err != nil {
		return nil, err
	}
	body := io.NopCloser(strings.NewReader("\x00"))
	return &http.Response{StatusCode: http.StatusOK, Body: body, ContentLength: -1, Request: &http.Request{}}, nil
}

// TestRetriesByKind: failures that are known at once take seconds; all others keep the time that an agent gives them.
func TestRetriesByKind(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	unknown := &net.DNSError{Err: "no such host", Name: "images.example.com", IsNotFound: true}
	busy := &net.DNSError{Err: "server misbehaving", IsTemporary: true}
	late := context.DeadlineExceeded
	for name, tc := range map[string]struct {
		fails answers
		took  time.Duration
		text  string // of the error; "" for none
	}{
		"refused":               {answers{refused}, 28 * time.Second, "after 8 tries: image source: Get"},
		"an unknown name":       {answers{unknown}, 8 * time.Second, "after 3 tries"},
		"a name server is busy": {answers{busy}, 90 * time.Second, "after 10 tries"},
		"timeouts":              {answers{late}, 90 * time.Second, "after 10 tries"},
		"a server that starts":  {answers{refused, refused, nil}, 8 * time.Second, ""},
		"starts in 25 s": {answers{refused, refused, refused, refused, refused, refused, refused, nil}, 28 * time.Second,
			""},
		"refused after timeouts": {answers{late, late, late, refused}, 54 * time.Second, "after 10 tries"},
		"not refused in a row":   {answers{refused, refused, late, refused, nil}, 22 * time.Second, ""},
		"refused at the last try": {answers{late, late, late, late, late, late, late, late, refused}, 84 * time.Second,
			"after 10 tries"},
		"refused once it answered": {answers{nil}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := HTTPOptions{Retries: 9, Backoff: 10 * time.Second}
				begin := time.Now()
				s, err := OpenHTTPSource(t.Context(), &http.Client{Transport: &tc.fails}, "http://images.example.com/os", opts)
				if (err == nil) != (tc.text == "") || err != nil && !strings.Contains(err.Error(), tc.text) {
					t.Errorf("error %v, expected %q", err, tc.text)
				}
				if took := time.Since(begin); took != tc.took {
					t.Errorf("it took %s, expected %s", took, tc.took)
				}
				if err != nil {
					return
				}
				tc.fails = answers{refused} // the server starts anew in the middle of a transfer
				if _, err = s.get(t.Context(), 0, -1); !errors.Is(err, syscall.ECONNREFUSED) || s.unknown() {
					t.Fatalf("error %v; unknown: %t", err, s.unknown())
				}
				begin, s.ranges = time.Now(), true
				err = s.ReadRange(t.Context(), make([]byte, 1), 0)
				if took := time.Since(begin); err == nil || took != 90*time.Second {
					t.Errorf("later it took %s, error %v", took, err)
				}
			})
		})
	}
}
