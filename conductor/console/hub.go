package console

import (
	"errors"
	"fmt"
	"sync"
)

// Bounds of one console, in bytes.
const (
	ringSize   = 64 << 10  // kept for newcomers
	viewerSize = 256 << 10 // waiting for one viewer
	maxInput   = 4 << 10   // of one write
	maxNotices = 64        // waiting for one viewer
)

// The ends of a viewer.
var (
	ErrSlow  = errors.New("too slow: output came faster than it was read; open the console again")
	ErrEnded = errors.New("the console was closed")
)

// hub is what the viewers of one console share.
type hub struct {
	mu      sync.Mutex
	ring    []byte
	total   int64 // bytes that ever came
	logged  int64 // of them those given to the log of a boot
	viewers map[*Viewer]struct{}
	writer  *Viewer
	input   chan []byte // to the line
	state   string      // the last notice of the line
	closed  error       // why nobody can view it any more
}

func newHub() *hub { return &hub{viewers: map[*Viewer]struct{}{}, input: make(chan []byte, 16)} }

// output gives what the machine wrote to everybody.
func (h *hub) output(data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total += int64(len(data))
	h.ring = append(h.ring, data...)
	if len(h.ring) > 2*ringSize { // not at every byte
		h.ring = append(h.ring[:0], h.ring[len(h.ring)-ringSize:]...)
	}
	for v := range h.viewers {
		if len(v.data)+len(data) > viewerSize {
			h.drop(v, ErrSlow)
			continue
		}
		v.data = append(v.data, data...)
		v.signal()
	}
}

// kept is the last output, at most ringSize.
func (h *hub) kept() []byte { return h.ring[max(0, len(h.ring)-ringSize):] }

// say tells everybody about the line.
func (h *hub) say(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = text
	for v := range h.viewers {
		v.note(Notice{Text: text})
	}
}

// end ends all viewers.
func (h *hub) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for v := range h.viewers {
		h.drop(v, err)
	}
}

// close ends all viewers, and those to come.
func (h *hub) close(err error) {
	h.mu.Lock()
	h.closed = err
	h.mu.Unlock()
	h.end(err)
}

// drop ends one viewer; mu is held.
func (h *hub) drop(v *Viewer, err error) {
	delete(h.viewers, v)
	if h.writer == v {
		h.writer = nil
	}
	if v.err == nil {
		v.err = err
	}
	v.signal()
}

// add lets a viewer in. It writes when it wants to and nobody else does, or when it takes
// the place of who does.
func (h *hub) add(v *Viewer, write, take bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed != nil {
		v.err = h.closed
		return
	}
	h.viewers[v] = struct{}{}
	v.data = append([]byte{}, h.kept()...)
	if h.state != "" {
		v.note(Notice{Text: h.state})
	}
	switch was := h.writer; {
	case !write:
		v.note(Notice{Role: Reader})
	case was != nil && !take:
		v.note(Notice{Role: Reader, Holder: was.user,
			Text: fmt.Sprintf("%s is writing: you read alone. Take over with --take.", was.user)})
	default:
		if was != nil {
			was.note(Notice{Role: Reader, Holder: v.user,
				Text: v.user + " has taken over: you read alone. Take it back with --take."})
		}
		h.writer = v
		v.note(Notice{Role: Writer})
	}
	v.signal()
}

// bootOutput is the output since the log of the last boot was begun.
func (h *hub) bootOutput() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := h.kept()
	if fresh := h.total - h.logged; fresh < int64(len(text)) {
		text = text[int64(len(text))-fresh:]
	}
	h.logged = h.total
	return append([]byte{}, text...)
}
