package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestDrain: a request that does not end by itself is cut off and answers 503 on a
// connection that is closed, through the handlers' own answers to errors.
func TestDrain(t *testing.T) {
	requests, cutOff := context.WithCancel(t.Context())
	begun := make(chan struct{})
	mounts := func(*engine.Engine) map[string]api.Handler {
		return map[string]api.Handler{"/hangs": func(_ http.ResponseWriter, r *http.Request) error {
			close(begun)
			<-r.Context().Done()
			return fmt.Errorf("wait for the device: %w", r.Context().Err())
		}}
	}
	face := apitest.Start(t, mem.New(), mounts).Config.Handler
	srv := api.NewServer(requests, face, slog.New(slog.DiscardHandler))
	l, err := net.Listen("tcp", servetest.AnyPort)
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(l)
	answered := make(chan *http.Response, 1)
	go func() {
		res, err := http.Get("http://" + l.Addr().String() + "/hangs")
		if err != nil {
			t.Error(err)
		}
		answered <- res
	}()
	<-begun
	if err := drain(srv, 10*time.Millisecond, cutOff); err == nil {
		t.Error("nothing is said of the request that was cut off")
	}
	res := <-answered
	if res == nil {
		return
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusServiceUnavailable || !res.Close ||
		!strings.Contains(string(text), "may not have been carried out") {
		t.Errorf("%d, close %t, %q, %v; want 503, a closed connection and the reason", res.StatusCode, res.Close, text, err)
	}
}
