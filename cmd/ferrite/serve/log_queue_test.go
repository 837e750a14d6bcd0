package serve

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestLogOfAStuckReader: a caller that logs goes on while the log is not read. Once it is read again, each line is
// there or is counted in the gap, and all lines from then on are there.
func TestLogOfAStuckReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, flush := queued(w, "text")
	log, err := logger("info", "text", out)
	if err != nil {
		t.Fatal(err)
	}
	const lines = 30_000
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		for i := range lines {
			log.Info("request", "number", i, "path", "/v1/nodes")
		}
	}()
	select {
	case <-logged:
	case <-time.After(20 * time.Second):
		t.Fatal("who logs waits for the reader of the log")
	}
	seen, lost := make(chan int), 0
	go func() {
		n := 0
		for s := bufio.NewScanner(r); s.Scan(); {
			var number, count int
			if _, after, _ := strings.Cut(s.Text(), "number="); after != "" {
				if _, err := fmt.Sscan(after, &number); err != nil || number != n+lost {
					t.Errorf("line %d comes after %d lines and %d lost ones, %v", number, n, lost, err)
				}
				n++
			} else if _, after, _ := strings.Cut(s.Text(), "did not keep up\" count="); after != "" {
				if _, err := fmt.Sscan(after, &count); err != nil {
					t.Error(err)
				}
				lost += count
			}
		}
		seen <- n
	}()
	time.Sleep(50 * time.Millisecond) // the gap is written
	for i := range 1000 {
		log.Info("request", "number", lines+i, "path", "/v1/nodes")
	}
	flush()
	w.Close()
	if n := <-seen; lost == 0 || n+lost != lines+1000 || n < mostWaiting/100 {
		t.Errorf("%d lines and %d lost ones, want %d in all", n, lost, lines+1000)
	}
}
