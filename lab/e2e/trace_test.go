package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces/tracestest"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// collectorAt is where the collector of a site listens, inside the lab's network.
const collectorAt = "127.0.0.1:4318"

// collector takes the traces of a site's conductor until end.
func collector(s *site.Site) (spans *tracestest.Receiver, end func() error, err error) {
	listener, err := s.Network.Listen("tcp", collectorAt)
	if err != nil {
		return nil, nil, err
	}
	spans = &tracestest.Receiver{}
	server := &http.Server{Handler: spans, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	return spans, func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}

// variable matches the parts of span names that differ from run to run.
var variable = regexp.MustCompile(`/(Sessions|Systems|Managers)/[^/]+`)

// traced wants the trace of a machine's deploy to be the golden tree.
func traced(b *bed, spans *tracestest.Receiver, name string) error {
	all, err := spans.Await(time.Minute, name, "deploy")
	if err != nil {
		return err
	}
	got, err := tracestest.Tree(all, func(s tracestest.Span) string {
		return variable.ReplaceAllString(s.Name, "/$1/{id}")
	})
	if err != nil {
		return fmt.Errorf("the trace of the deploy: %w", err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "deploy_trace.txt"))
	if err != nil {
		return err
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		return errors.Join(fmt.Errorf("the trace of the deploy is not testdata/deploy_trace.txt (-want +got):\n%s", diff),
			os.WriteFile(filepath.Join(b.dir, "deploy_trace.txt"), []byte(got), 0o600))
	}
	return nil
}
