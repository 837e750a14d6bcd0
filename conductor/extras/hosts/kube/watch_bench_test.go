package kube_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkWatches writes a host, one write after the other, while many clients watch over connections of their own:
// hosts, hosts as kubectl's table, or secrets, of which there are none. One op is one write until it is answered.
// "p50-ms" is the writer's wait. "cpu-ms/op" is a write's processor time until all clients have seen it, their own part
// included.
func BenchmarkWatches(b *testing.B) {
	for _, c := range []struct {
		name, path, header string
		watches            int
	}{
		{"none", hosts, "", 0},
		{"900-hosts", hosts, "", 900},
		{"900-tables", hosts, strings.TrimPrefix(asTable, "\n") + "\r\n", 900},
		{"900-secrets", secrets, "", 900},
	} {
		b.Run(c.name, func(b *testing.B) { watches(b, c.path, c.header, c.watches) })
	}
}

func watches(b *testing.B, path, header string, n int) {
	s := start(b)
	applied := strings.Repeat("x", 3000) // as kubectl apply leaves it
	s.ok(http.StatusCreated, "POST "+hosts, `{"metadata":{"name":"node-0","annotations":{"applied":"`+applied+
		`"}},"spec":{"online":true}}`)
	srv := httptest.NewServer(s.mux)
	defer srv.Close()
	defer srv.CloseClientConnections()
	var seen atomic.Int64
	var readers sync.WaitGroup
	for range n {
		conn, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", srv.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s?watch=true&resourceVersion=3 HTTP/1.1\r\nHost: x\r\n%s\r\n", path, header)
		began := make(chan struct{})
		readers.Go(func() {
			defer conn.Close()
			first := true
			for part := make([]byte, 32<<10); ; {
				k, err := conn.Read(part)
				if err != nil {
					return
				}
				if first {
					first = false
					close(began)
				}
				seen.Add(int64(bytes.Count(part[:k], []byte(`{"type":"MODIFIED"`))))
			}
		})
		<-began
	}
	var took []time.Duration
	before := cpu(b)
	b.ResetTimer()
	for i := range b.N {
		at := time.Now()
		label(b, srv, i)
		took = append(took, time.Since(at))
	}
	if path == hosts {
		for seen.Load() < int64(n*b.N) {
			time.Sleep(time.Millisecond)
		}
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	srv.CloseClientConnections()
	readers.Wait()
}

// label makes one write, over a connection as any client has it.
func label(b *testing.B, srv *httptest.Server, i int) {
	b.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"metadata":{"labels":{"count":"%d"}}}`, i))
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPatch, srv.URL+hosts+"/node-0", body)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/merge-patch+json")
	res, err := srv.Client().Do(r)
	if err != nil {
		b.Fatal(err)
	}
	if _, err = io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Fatal(res.Status, err)
	}
	_ = res.Body.Close()
}

// cpu is the processor's time that this process has taken.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
