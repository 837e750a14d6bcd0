// Package follow prints the events of a conductor as they come. It must not ask for anything else.
package follow

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxLine bounds one line of the answer.
const maxLine = 1 << 20

// reopen is the pause between two requests of a command that follows.
const reopen = time.Second

// Events prints the events of a query until the answer ends, or ctx ends. A query that follows asks again when the
// answer ends, or while the conductor is gone. It goes on after the last event that it printed.
func Events(ctx context.Context, s *client.Session, out io.Writer, q nodeapi.EventQuery) error {
	f := follower{s, out, q}
	for {
		err := f.once(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (!q.Follow || !client.Passing(err)):
			return s.Older(err, "keeps no events")
		case !q.Follow:
			return nil
		}
		if err := wait.Pause(ctx, reopen); err != nil {
			return err
		}
	}
}

// Stopped reports that the user ended a command that follows, by Ctrl-C.
func Stopped(err error) bool { return errors.Is(err, context.Canceled) }

type follower struct {
	session *client.Session
	out     io.Writer
	query   nodeapi.EventQuery
}

func (f *follower) once(ctx context.Context) error {
	path := nodeapi.FerriteRoot + "/events?" + f.query.Values().Encode()
	body, err := f.session.Client.Open(ctx, client.Request{Method: http.MethodGet, Path: path, Accept: nodeapi.MediaLines})
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e nodeapi.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("GET %s: the answer is not a conductor's: %w", path, err)
		}
		if e.Cursor != "" {
			f.query.After = e.Cursor
		}
		text := output.VisibleJSON(lines.Bytes())
		if f.session.Output != "json" {
			text = output.ScreenOf(f.out).Wrap(Text(e))
		}
		if _, err := fmt.Fprintln(f.out, text); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil && !f.query.Follow {
		return fmt.Errorf("GET %s: the answer ended early: %w", path, err)
	}
	return nil
}
