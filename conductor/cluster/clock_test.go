package cluster

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestClockOfAnother: a member with another clock than the database's logs that at its start and once a minute, and its
// /readyz has the database's time.
func TestClockOfAnother(t *testing.T) {
	for off, want := range map[time.Duration]int{0: 0, 30 * time.Second: 0, 8 * 24 * time.Hour: 3, -time.Hour: 3} {
		synctest.Test(t, func(t *testing.T) {
			r, said := newRows(), &bytes.Buffer{}
			r.off = off
			c, err := Join(t.Context(), Config{Rows: rowsOf{r, "c1"}, Log: slog.New(slog.NewTextHandler(said, nil)),
				Self: store.Member{Name: "c1"}, Lead: func(ctx context.Context, _ *Term) error { <-ctx.Done(); return nil }})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
			defer cancel()
			if err := c.Run(ctx); err != nil {
				t.Error(err)
			}
			if lines := strings.Count(said.String(), "is not the database's"); lines != want {
				t.Errorf("off by %s: %d lines in 150 s, want %d: %s", off, lines, want, said)
			}
			w := httptest.NewRecorder()
			(&Front{cluster: c}).readiness(w)
			at, err := time.Parse(time.RFC3339, w.Header().Get(nodeapi.HeaderDatabaseClock))
			if d := at.Sub(time.Now().Add(off)); err != nil || d.Abs() > time.Second {
				t.Errorf("off by %s: /readyz has a time that is %s from the database's, %v", off, d, err)
			}
		})
	}
}
