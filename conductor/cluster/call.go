package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// leaderHeader has the epoch and the group of the leader that calls another one: "7 rack-a.".
const leaderHeader = "Ferrite-Leader"

// maxCall bounds a call from one leader to another, and its answer, in bytes.
const maxCall = 16 << 20

// Caller has a leader call the leaders of other groups.
type Caller struct {
	cluster *Cluster
	client  *http.Client
}

// NewCaller makes a caller.
func NewCaller(c *Cluster, id Identity) *Caller { return &Caller{c, id.Client()} }

// readTime is how long the body of a call may be on its way.
const readTime = 10 * time.Second

// Call posts a body to a path below MemberPaths of the leader of a group, for the leader that holds a lease. It ends
// when another member leads either group, or when either group has no leader. After an error the call may have been
// carried out, except after an *http.MaxBytesError: such a body is not sent.
func (c *Caller) Call(ctx context.Context, from *Lease, group, path string, body []byte) (answer []byte, err error) {
	if len(body) > maxCall {
		return nil, fmt.Errorf("a call of %d bytes, expected %d at most: %w", len(body), maxCall,
			&http.MaxBytesError{Limit: maxCall})
	}
	leader, epoch, ok := c.cluster.View().Leader(group)
	if !ok { // it may have begun since the last look
		leader, epoch, ok = c.cluster.LookAgain(ctx).Leader(group)
	}
	if !ok || leader.Address == "" {
		return nil, fmt.Errorf("no conductor leads the conductor group %q", group)
	}
	ctx, cancel := c.cluster.while(ctx, group, epoch, errNotLed)
	defer cancel(nil)
	defer context.AfterFunc(from.Context(), func() { cancel(ErrNotLeading) })()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+leader.Address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set(groupHeader, group+".")                                             // an empty header would be none
	q.Header.Set(leaderHeader, strconv.FormatInt(from.Epoch, 10)+" "+from.Group+".") // a blank at the end would be lost
	if err := from.Check(); err != nil {
		return nil, err
	}
	answer, err = c.post(q)
	if cause := context.Cause(ctx); cause != nil { // an answer amid it may be an empty one, to a caller that left
		err = cause
	}
	if err != nil {
		return nil, fmt.Errorf("conductor %s, which leads the conductor group %q: %w", leader.Name, group, err)
	}
	return answer, nil
}

func (c *Caller) post(q *http.Request) (answer []byte, err error) {
	res, err := c.client.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	answer, err = io.ReadAll(http.MaxBytesReader(nil, res.Body, maxCall))
	if err == nil && res.StatusCode != http.StatusOK {
		err = &statusError{res.Status, string(bytes.TrimSpace(answer[:min(len(answer), 1000)]))}
	}
	return answer, err
}

// statusError is an answer to a call other than 200: the member does not lead the group (yet), or refuses the call.
type statusError struct{ status, text string }

func (e *statusError) Error() string { return e.status + ": " + e.text }

// Unserved reports whether the error of a call proves that the leader is there, or was until just now: it answered, or
// the leadership of either group ended meanwhile.
func Unserved(err error) bool {
	var status *statusError
	return errors.As(err, &status) || errors.Is(err, errLeaderChanged) || errors.Is(err, errNotLed) ||
		errors.Is(err, ErrNotLeading)
}

// CalledBy reads a call. It refuses one of a conductor that does not lead the group which it calls for (any longer).
func (c *Cluster) CalledBy(w http.ResponseWriter, r *http.Request, group string) (body []byte, err error) {
	epoch, of, ok := strings.Cut(r.Header.Get(leaderHeader), " ")
	if !ok || of != group+"." {
		return nil, fmt.Errorf("the call is not from the leader of the conductor group %q", group)
	}
	if body, err = readCall(w, r); err != nil {
		return nil, fmt.Errorf("the body of the call: %w", err)
	}
	now, err := c.Look(r.Context()) // after the body: it may have been on its way for long
	if err != nil {
		return nil, err
	}
	if _, is, led := now.Leader(group); !led || strconv.FormatInt(is, 10) != epoch {
		return nil, fmt.Errorf("%w %q", ErrNotLeading, group)
	}
	return body, nil
}

// readCall reads the body of a call. It gives up on a body that stops midway.
func readCall(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(readTime)); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
	if err != nil {
		return nil, err
	}
	return body, control.SetReadDeadline(time.Time{}) // else the call would end with it
}

// errNotLed ends a call: its answer may never come.
var errNotLed = errors.New("no conductor leads the group any longer")

// while is a context that ends, too, when a member leads the group in another epoch. If notLed is not nil, the context
// also ends with it when the group has no leader.
func (c *Cluster) while(ctx context.Context, group string, epoch int64, notLed error) (context.Context,
	context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for {
			changed := c.Looked()
			switch _, now, ok := c.View().Leader(group); {
			case ok && now != epoch:
				cancel(errLeaderChanged)
				return
			case !ok && notLed != nil:
				cancel(notLed)
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}
