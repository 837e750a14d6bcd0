package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

type passedRight struct{ writeRight }

func (passedRight) over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (passedRight) superseded() error { return ErrSuperseded }

// TestUncertain: a write of unknown outcome is not reported as unwritten, even if the right to write has passed since.
// A client gets one of the two errors.
func TestUncertain(t *testing.T) {
	for _, c := range []struct {
		try, want, not error
	}{
		{fmt.Errorf("%w: %w", ErrUncertain, io.EOF), ErrUncertain, ErrSuperseded},
		{io.EOF, ErrSuperseded, ErrUncertain},
	} {
		err := (&postgresWriter{lead: passedRight{}}).patiently(t.Context(), func() error { return c.try })
		fault := nodeapi.Unavailable(fmt.Errorf("save: %w", err))
		if !errors.Is(err, c.want) || errors.Is(err, c.not) || fault == nil ||
			fault.Status != http.StatusServiceUnavailable ||
			!strings.Contains(fault.Text, c.want.Error()) {
			t.Errorf("%v becomes %v, and %v", c.try, err, fault)
		}
	}
}
