package bootmedia

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/iso"
)

// TestSilentServer: a server that does not answer keeps no file of another server back, and the size of a file is asked
// for once.
func TestSilentServer(t *testing.T) {
	asked := 0
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Accept-Ranges", "bytes")
		w.Header().Set("Content-Length", "5")
	}))
	defer good.Close()
	heard := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(heard)
		<-r.Context().Done()
	}))
	defer silent.Close()
	files := remotes{client: http.DefaultClient}
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() {
		_, err := files.content(ctx, silent.URL)
		waits <- err
	}()
	<-heard
	short, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if _, err := files.content(short, silent.URL); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who waits for the look of another: %v", err)
	}
	for range 2 {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if c, err := files.content(t.Context(), good.URL); err != nil || c.Size != 5 {
				t.Errorf("%d bytes, %v", c.Size, err)
			}
		}()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatal("a file waits for the server of another")
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	cancel()
	if err := <-waits; err == nil {
		t.Error("a server that did not answer gave a file")
	}
	silent.Close()
	began := time.Now()
	for range 50 {
		if _, err := files.content(t.Context(), silent.URL); err == nil {
			t.Error("a server that is gone gave a file")
		}
	}
	if l := files.lookup(silent.URL); l.err == nil || l.asked.Before(began) {
		t.Errorf("its failure is not kept: %v at %v", l.err, l.asked)
	}
	for i := range 2 * remoteFiles {
		files.lookup(string(rune('a' + i)))
		files.lookup(good.URL)
	}
	if len(files.files) != remoteFiles || len(files.asked) != remoteFiles {
		t.Errorf("%d files are kept, %d in order", len(files.files), len(files.asked))
	}
	if files.files[good.URL].file == nil {
		t.Error("a file that is read has given way to others")
	}
}

// ranged answers ranges of files that are long.
type ranged struct{}

func (ranged) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, ContentLength: 4 * remoteBlock, Header: http.Header{},
		Body: http.NoBody}
	if r.Method == http.MethodGet {
		var from, to int64
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
			return nil, err
		}
		answer.StatusCode = http.StatusPartialContent
		answer.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, 4*remoteBlock))
		answer.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", int(to-from+1))))
	}
	return answer, nil
}

// TestReadersMemory: as many media as one project's machines read, each of a URL of its own, take the memory of a few.
func TestReadersMemory(t *testing.T) {
	files := remotes{client: &http.Client{Transport: ranged{}}}
	var reading []iso.Content
	for i := range 30 {
		c, err := files.content(t.Context(), fmt.Sprint("http://kernels/", i))
		if err != nil {
			t.Fatal(err)
		}
		for at := int64(0); at < c.Size; at += remoteBlock {
			if _, err := c.At.ReadAt(make([]byte, 10), at); err != nil {
				t.Fatal(err)
			}
		}
		reading = append(reading, c)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if most := uint64(80 << 20); m.HeapAlloc > most {
		t.Errorf("%d readers take %d bytes, expected at most %d", len(reading), m.HeapAlloc, most)
	}
	runtime.KeepAlive(reading)
}

// failing answers HEAD, and fails late to give a range.
type failing struct {
	ranged
	fetches atomic.Int64
}

func (f *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		f.fetches.Add(1)
		time.Sleep(50 * time.Millisecond)
		return nil, errors.New("no answer")
	}
	return f.ranged.RoundTrip(r)
}

// TestReadersShareFailure: if the server of a file does not answer, the file's readers wait for one fetch, not for one
// each.
func TestReadersShareFailure(t *testing.T) {
	server := &failing{}
	files := remotes{client: &http.Client{Transport: server}}
	c, err := files.content(t.Context(), "http://kernels/1")
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			if _, err := c.At.ReadAt(make([]byte, 10), 0); err == nil {
				t.Error("a file without bytes is read")
			}
		})
	}
	readers.Wait()
	if n := server.fetches.Load(); n > 5 {
		t.Errorf("20 readers wait for %d fetches", n)
	}
	if _, err := c.At.ReadAt(make([]byte, 10), 0); err == nil || server.fetches.Load() < 2 {
		t.Error("one that comes later does not ask again")
	}
}
