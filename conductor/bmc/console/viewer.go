package console

import (
	"context"
	"errors"
)

// Role is a viewer's permission.
type Role string

// The roles.
const (
	Writer Role = "writer"
	Reader Role = "reader"
)

// Notice is a message to a viewer beside the machine's output.
type Notice struct {
	Role   Role   // the viewer's from now on; "" when it has not changed
	Holder string // user that writes instead, "" for none
	Text   string // one sentence for people, "" for none
}

// Viewer is one reader of a console, and perhaps its writer. One goroutine may call Next, and another Write.
type Viewer struct {
	user  string
	hub   *hub
	leave func()

	// The hub's mutex holds these.
	position int64 // of the next byte for it, counted from the first that ever came
	notices  []Notice
	err      error // why it ended
	end      int64 // the position after its last byte, once err is set
	wake     chan struct{}
}

// ErrReader refuses input of a viewer that is not the writer.
var ErrReader = errors.New("input is refused: another viewer writes")

// signal wakes Next.
func (v *Viewer) signal() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// note queues a notice; a viewer that reads none of many is dropped by its output anyway.
func (v *Viewer) note(n Notice) {
	if len(v.notices) == maxNotices {
		v.notices = v.notices[1:]
	}
	v.notices = append(v.notices, n)
	v.signal()
}

// Next waits for output or notices. Notices come before the output that is returned with
// them. The error is why the viewer ended, after all output.
func (v *Viewer) Next(ctx context.Context) ([]byte, []Notice, error) {
	for {
		v.hub.mu.Lock()
		data, notices, err := v.hub.next(v), v.notices, v.err
		v.notices = nil
		v.hub.mu.Unlock()
		if len(data)+len(notices) > 0 {
			return data, notices, nil
		}
		if err != nil {
			return nil, nil, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-v.wake:
		}
	}
}

// Write sends input to the machine, if the viewer is the writer.
func (v *Viewer) Write(ctx context.Context, data []byte) error {
	v.hub.mu.Lock()
	writer := v.hub.writer == v
	v.hub.mu.Unlock()
	if !writer {
		return ErrReader
	}
	for len(data) > 0 {
		piece := data[:min(len(data), maxInput)]
		data = data[len(piece):]
		select {
		case v.hub.input <- append([]byte{}, piece...):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close gives the viewer's place back.
func (v *Viewer) Close() {
	v.hub.mu.Lock()
	v.hub.drop(v, ErrEnded)
	v.hub.mu.Unlock()
	v.leave()
}
