package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/console"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// benchLine is a machine that writes the benchmark's bytes.
type benchLine struct {
	io.Reader
	io.Writer
}

func (benchLine) Close() error { return nil }

// BenchmarkConsoleReaders is a screen of 4 KiB on its way to a thousand clients of one console, one of which reads
// nothing. KiB/reader is the memory of both ends.
func BenchmarkConsoleReaders(b *testing.B) {
	const clients = 1000
	r, out := io.Pipe()
	ctx, cancel := context.WithCancel(b.Context())
	log := slog.New(slog.DiscardHandler)
	consoles := console.New(ctx, console.Config{Log: log,
		Open: func(context.Context, string, bool) (io.ReadWriteCloser, error) {
			return benchLine{r, io.Discard}, nil
		},
		Recorded: func(context.Context) ([]string, error) { return nil, nil }})
	done := make(chan struct{})
	go func() { defer close(done); consoles.Run() }()
	b.Cleanup(func() { cancel(); out.Close(); <-done })
	c := apitest.Start(b, mem.New(), nil, func(o *api.Options) { o.Consoles, o.Stopping = consoles, ctx })
	made, err := http.Post(c.URL+"/v1/nodes", "application/json",
		strings.NewReader(`{"driver":"fake-hardware"}`))
	if err != nil {
		b.Fatal(err)
	}
	made.Body.Close()
	nodes, err := c.Engine.Nodes(b.Context(), node.Query{})
	if err != nil || len(nodes) != 1 {
		b.Fatal(len(nodes), err)
	}
	before := heapOf()
	text := []byte(strings.Repeat("0123456789abcdef", 256))
	got := make(chan int, clients)
	for i := range clients {
		s, _, err := websocket.Dial(b.Context(), c.URL+nodeapi.FerriteRoot+"/nodes/"+nodes[0].UUID+"/console?write=false",
			&websocket.DialOptions{Subprotocols: []string{nodeapi.ConsoleProtocol}})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.CloseNow() })
		s.SetReadLimit(-1)
		if i == 0 {
			continue // reads nothing
		}
		go func() {
			for {
				kind, data, err := s.Read(b.Context())
				if err != nil {
					return
				}
				if kind == websocket.MessageBinary {
					got <- len(data)
				}
			}
		}()
	}
	memory := heapOf() - before
	b.ResetTimer()
	for range b.N {
		if _, err := out.Write(text); err != nil {
			b.Fatal(err)
		}
		for n := 0; n < (clients-1)*len(text); {
			n += <-got
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(memory)/1024/clients, "KiB/reader")
}

func heapOf() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
