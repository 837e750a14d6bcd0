package imagestore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/disk"
)

const (
	benchReaders = 40
	benchSize    = 128 << 20
)

// BenchmarkForty is forty agents that read one image from one conductor at a time, compared with a program that copies
// a file to as many sockets, as cat does. Readers throw the bytes away. The figures are of all readers together: MB/s,
// the reads of the origin, and the growth of the heap.
func BenchmarkForty(b *testing.B) {
	path, sum := benchFile(b)
	b.Run("cat", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					f, err := os.Open(path)
					if err != nil {
						return
					}
					defer f.Close()
					_, _ = io.Copy(c, f)
				}()
			}
		}()
		benchReads(b, nil, func() (io.ReadCloser, error) { return net.Dial("tcp", l.Addr().String()) })
	})
	for name, first := range map[string]bool{"pulling": true, "cached": false} {
		b.Run(name, func(b *testing.B) {
			var reads atomic.Int64
			origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				reads.Add(1)
				http.ServeFile(w, r, path)
			}))
			defer origin.Close()
			s := open(b, Config{Cache: 100 * benchSize})
			src := Source{URLs: []string{origin.URL + "/os.raw"}, Client: origin.Client(),
				Sum: disk.Checksum{Algorithm: disk.SHA256, Sum: sum}}
			var round atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				of := src
				if first { // another image each time
					of.URLs = []string{fmt.Sprintf("%s/os.raw?%d", origin.URL, round.Load())}
				}
				c, err := s.Pull(r.Context(), of)
				if err != nil {
					http.Error(w, err.Error(), http.StatusBadGateway)
					return
				}
				defer c.Close()
				c.Serve(w, r)
			}))
			defer srv.Close()
			get := func() (io.ReadCloser, error) {
				resp, err := http.Get(srv.URL)
				if err != nil {
					return nil, err
				}
				return resp.Body, nil
			}
			if !first {
				body, err := get()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, body); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
			}
			benchReads(b, &round, get)
			rounds := 1.0
			if first {
				rounds = float64(b.N)
			}
			b.ReportMetric(float64(reads.Load())/rounds, "origin-reads")
		})
	}
}

// benchFile is an image that is in memory already, and its sum.
func benchFile(b *testing.B) (path, sum string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "os.raw")
	image := bytes.Repeat(sample(1<<20, 1), benchSize>>20)
	if err := os.WriteFile(path, image, 0o600); err != nil {
		b.Fatal(err)
	}
	all := sha256.Sum256(image)
	return path, hex.EncodeToString(all[:])
}

// benchReads has all readers read an image at a time, once for each of b.N.
func benchReads(b *testing.B, round *atomic.Int64, get func() (io.ReadCloser, error)) {
	b.Helper()
	b.SetBytes(benchReaders * benchSize)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := before.HeapInuse
	for b.Loop() {
		if round != nil {
			round.Add(1)
		}
		done := make(chan struct{})
		go func() { // the heap at its largest
			for tick := time.NewTicker(50 * time.Millisecond); ; {
				select {
				case <-tick.C:
					runtime.ReadMemStats(&after)
					most = max(most, after.HeapInuse)
				case <-done:
					tick.Stop()
					return
				}
			}
		}()
		var readers sync.WaitGroup
		for range benchReaders {
			readers.Go(func() {
				body, err := get()
				if err != nil {
					b.Error(err)
					return
				}
				n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, body, make([]byte, 256<<10))
				if err = errors.Join(err, body.Close()); err != nil || n != benchSize {
					b.Errorf("%d bytes, %v", n, err)
				}
			})
		}
		readers.Wait()
		close(done)
	}
	b.ReportMetric(float64(most-before.HeapInuse)/(1<<20), "MiB-heap")
}
