// Package librarytest makes image libraries for tests.
//
// It is for tests alone; nothing that ships imports it.
package librarytest

import (
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagelibrary"
)

// New makes a library with a folder of its own, for images of at most 64 MiB, until the test ends.
func New(tb testing.TB, records imagelibrary.Records) *imagelibrary.Library {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	bytes, err := imagestore.Open(imagestore.Config{Dir: tb.TempDir(), Log: log})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	l := imagelibrary.New(ctx, imagelibrary.Config{Records: records, Bytes: bytes, Client: http.DefaultClient,
		Conductor: "conductor-1", MaxSize: 64 << 20, Log: log})
	tb.Cleanup(func() {
		stop()
		l.Wait()
		if err := bytes.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l
}
