package connlimit

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	// bodyTime is how long a body may keep us waiting. One longer than small earns
	// a second for each bodyRate of its bytes, and never has more than bodyTime: its
	// end must not be late because its beginning was quick.
	bodyTime = 10 * time.Second
	bodyRate = 32 << 10
	small    = 64 << 10
)

// SlowBodyError says that a request's body did not come in time.
type SlowBodyError struct {
	Bytes int64         // that came
	In    time.Duration // that we waited for them
}

func (e *SlowBodyError) Error() string {
	return fmt.Sprintf("%d bytes of the body came in %v: send up to 64 KiB within %v, and more at 32 KiB a "+
		"second or faster",
		e.Bytes, e.In.Round(time.Millisecond), bodyTime)
}

// body is the body of a request, for which we wait no longer than it is worth.
// Only the time within Read counts: a handler may take its own.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	ticket  *ticket
	large   bool // or of unknown length
	read    int64
	waited  time.Duration
	left    time.Duration // of its time
}

func newBody(w http.ResponseWriter, r *http.Request, t *ticket) *body {
	b := &body{ReadCloser: r.Body, control: http.NewResponseController(w), ticket: t, left: bodyTime,
		large: r.ContentLength < 0 || r.ContentLength > small}
	b.deadline(time.Now().Add(bodyTime)) // for net/http, which reads the rest after the handler
	return b
}

// Read waits for the peer.
func (b *body) Read(p []byte) (int, error) {
	defer b.ticket.read()()
	began := time.Now()
	b.deadline(began.Add(b.left))
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	took := time.Since(began)
	b.waited, b.left = b.waited+took, b.left-took
	if b.large {
		b.left = min(bodyTime, b.left+time.Duration(n)*time.Second/bodyRate)
	}
	switch {
	case errors.Is(err, io.EOF):
		// net/http goes on reading, to see the peer leave; were that to run into a
		// deadline, the request's context would end.
		b.deadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("%w (%w)", &SlowBodyError{Bytes: b.read, In: b.waited}, err)
	}
	return n, err
}

// skip reads a body that no handler wants.
func (b *body) skip() error {
	n, err := io.CopyN(io.Discard, b, small+1)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("a request of its kind has no body, found one of more than %d bytes: leave it out", n-1)
	}
	return err
}

// deadline sets one where there is a connection: in tests there may be none.
func (b *body) deadline(at time.Time) { _ = b.control.SetReadDeadline(at) }
