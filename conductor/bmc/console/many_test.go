package console_test

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
)

const manyReaders = 1000

// feed is a machine with output from a test, and its console.
type feed struct {
	io.Reader
	io.Writer
}

func (feed) Close() error { return nil }

func newFeed(tb testing.TB) (c *console.Consoles, out *io.PipeWriter) {
	tb.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c = console.New(ctx, console.Config{Log: slog.New(slog.DiscardHandler),
		Open:     func(context.Context, string, bool) (io.ReadWriteCloser, error) { return feed{r, io.Discard}, nil },
		Recorded: func(context.Context) ([]string, error) { return nil, nil }})
	done := make(chan struct{})
	go func() { defer close(done); c.Run() }()
	tb.Cleanup(func() { cancel(); w.Close(); <-done })
	return c, w
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestManyReaders: half of a thousand readers lag by almost as much as they may. The others are not held up, and all
// share one copy of the output. The slow readers get it whole when they read. A reader that never reads is dropped.
func TestManyReaders(t *testing.T) {
	c, out := newFeed(t)
	attach := func(n int) (all []*console.Viewer) {
		for range n {
			v := c.Attach("n", "reader", false, false)
			t.Cleanup(v.Close)
			all = append(all, v)
		}
		return all
	}
	before := heap()
	quick, slow, stuck := attach(manyReaders/2), attach(manyReaders/2), attach(1)
	text := strings.Repeat("0123456789abcdef", 1<<10) // 16 KiB
	const pieces = 15                                 // 240 KiB
	want := crc32.ChecksumIEEE([]byte(strings.Repeat(text, pieces)))
	read := func(readers []*console.Viewer, size int) {
		for _, v := range readers {
			sum, n := crc32.NewIEEE(), 0
			for n < size {
				data, _, err := v.Next(t.Context())
				if err != nil {
					t.Fatalf("after %d bytes: %v", n, err)
				}
				n += len(data)
				sum.Write(data)
			}
			if sum.Sum32() != want || n != size {
				t.Fatalf("a reader got %d bytes, want %d, or others than were written", n, size)
			}
		}
	}
	for range pieces {
		if _, err := io.WriteString(out, text); err != nil {
			t.Fatal(err)
		}
	}
	read(quick, pieces*len(text))
	grown := heap() - before
	t.Logf("%d readers, half of them %d KiB behind: %d KiB", manyReaders, pieces*len(text)>>10, grown>>10)
	if grown > 8<<20 {
		t.Errorf("%d readers, half of them behind, take %d MiB", manyReaders, grown>>20)
	}
	read(slow, pieces*len(text))
	for range pieces {
		if _, err := io.WriteString(out, text); err != nil {
			t.Fatal(err)
		}
	}
	read(quick, pieces*len(text))
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, _, err := stuck[0].Next(ctx)
		cancel()
		if err != nil {
			if !errors.Is(err, console.ErrSlow) {
				t.Errorf("the reader that is stuck ended with %v", err)
			}
			break
		}
	}
}

// BenchmarkReaders is a machine's output to a thousand readers: MB/s of the line.
func BenchmarkReaders(b *testing.B) {
	c, out := newFeed(b)
	text := []byte(strings.Repeat("0123456789abcdef", 256)) // 4 KiB
	var readers sync.WaitGroup
	turn := make(chan struct{}, manyReaders)
	size := b.N * len(text)
	for range manyReaders {
		v := c.Attach("n", "reader", false, false)
		b.Cleanup(v.Close)
		readers.Go(func() {
			for n, told := 0, 0; n < size; {
				data, _, err := v.Next(context.Background())
				if err != nil {
					b.Error(err)
					return
				}
				for n += len(data); (told+1)*len(text) <= n; told++ {
					turn <- struct{}{}
				}
			}
		})
	}
	b.SetBytes(int64(len(text)))
	b.ResetTimer()
	for range b.N {
		if _, err := out.Write(text); err != nil {
			b.Fatal(err)
		}
		for range manyReaders { // so that none falls behind
			<-turn
		}
	}
	readers.Wait()
}
