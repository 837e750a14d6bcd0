package connlimit

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// failing is a listener of a process without descriptors.
type failing struct{ net.Listener }

func (failing) Accept() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

type buffer struct {
	sync.Mutex
	strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Builder.Write(p)
}

func (b *buffer) text() string {
	b.Lock()
	defer b.Unlock()
	return b.String()
}

// TestAcceptErrors: a listener that cannot accept is reported once a minute; net/http retries without a word.
func TestAcceptErrors(t *testing.T) {
	var text buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	l, err := Listen("127.0.0.1:0", 4, 2, nil, log)
	if err != nil {
		t.Fatal(err)
	}
	of, ok := l.(*limited)
	if !ok {
		t.Fatalf("listening gave a %T", l)
	}
	of.Listener = failing{of.Listener}
	srv := NewServer(http.NotFoundHandler(), log)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	time.Sleep(50 * time.Millisecond) // net/http tries again after 5, 10, 20 ms
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if got := text.text(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "too many open files") {
		t.Errorf("the log has %q, expected one line about descriptors", got)
	}
}
