package wait

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Watcher follows documents, also over lost connections.
type Watcher struct {
	*client.Session
	Path     string // of the list, with its query
	Accept   string
	Err      io.Writer
	OnChange func(object json.RawMessage) error                     // takes every change
	Again    func(ctx context.Context) (revision string, err error) // catches up after changes that are no longer kept
}

// watchEvent is one line of a watch.
type watchEvent struct {
	Type   string          `json:"type"` // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR
	Object json.RawMessage `json:"object"`
}

// errNotReported is a change that could not be shown.
var errNotReported = errors.New("the output is closed")

// Run follows from a revision on, until ctx ends. A server that was there once is
// waited for.
func (w *Watcher) Run(ctx context.Context, revision string) error {
	waiting := false // and said so
	for idle := 0; ; idle++ {
		next, err := w.once(ctx, revision)
		if next != revision {
			revision, idle, waiting = next, 0, false
		}
		var fault *nodeapi.Fault
		if errors.As(err, &fault) && fault.Status == http.StatusGone {
			revision, err = w.Again(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return nil // it was interrupted
		case errors.Is(err, errNotReported), errors.As(err, &fault) && fault.Status < http.StatusInternalServerError &&
			fault.Status != http.StatusTooManyRequests:
			return err
		case err != nil && !waiting:
			waiting = true
			fmt.Fprintf(w.Err, "ferrite: %s; waiting for it\n", strings.SplitN(err.Error(), "\n", 2)[0])
		}
		// not at all after news, longer and longer without
		if Pause(ctx, min(time.Duration(idle)*FirstPoll, 10*LastPoll)) != nil {
			return nil
		}
	}
}

// once follows over one connection, and returns the revision to go on from.
func (w *Watcher) once(ctx context.Context, revision string) (string, error) {
	body, err := w.Client.Open(ctx, client.Request{
		Method: http.MethodGet, Accept: w.Accept,
		Path: w.Path + "&watch=true&allowWatchBookmarks=true&resourceVersion=" + revision,
	})
	if err != nil {
		return revision, err
	}
	defer body.Close()
	for dec := json.NewDecoder(body); ; {
		var e watchEvent
		if err := dec.Decode(&e); err != nil {
			if errors.Is(err, io.EOF) { // its time was over
				return revision, nil
			}
			return revision, fmt.Errorf("the connection was lost: %w", err)
		}
		if e.Type == "ERROR" {
			return revision, w.Client.Failed(e.Object)
		}
		if e.Type != "BOOKMARK" {
			if err := w.OnChange(e.Object); err != nil {
				return revision, fmt.Errorf("%w: %w", errNotReported, err)
			}
		}
		var seen struct{ Metadata ListMetadata }
		if json.Unmarshal(e.Object, &seen) == nil && seen.Metadata.ResourceVersion != "" {
			revision = seen.Metadata.ResourceVersion
		}
	}
}

// ListMetadata is the metadata of a list of documents.
type ListMetadata struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue,omitempty"`
}
