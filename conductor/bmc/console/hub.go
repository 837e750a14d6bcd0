package console

import (
	"errors"
	"fmt"
	"sync"
)

// Bounds of one console, in bytes.
const (
	ringSize   = 64 << 10  // kept for newcomers
	viewerSize = 256 << 10 // waiting for the slowest viewer: all share it
	pieceSize  = 32 << 10  // given to a viewer at a time
	maxInput   = 4 << 10   // of one write
	maxNotices = 64        // waiting for one viewer
)

// The ends of a viewer.
var (
	ErrSlow  = errors.New("too slow: output came faster than it was read; open the console again")
	ErrEnded = errors.New("the console was closed")
)

// hub is shared by the viewers of one console.
type hub struct {
	mu      sync.Mutex
	ring    []byte // the end of the output: for new viewers, and for bytes that viewers have not read
	total   int64  // bytes that ever came
	logged  int64  // of them those given to the log of a boot
	viewers map[*Viewer]struct{}
	writer  *Viewer
	input   chan []byte // to the line
	state   string      // the last notice of the line
	closed  error       // the reason why the console ended; nil while it can be viewed
}

func newHub() *hub { return &hub{viewers: map[*Viewer]struct{}{}, input: make(chan []byte, 16)} }

// output passes the machine's output to all viewers. Viewers share one copy, and none waits for another.
func (h *hub) output(data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total += int64(len(data))
	h.ring = append(h.ring, data...)
	needed := int64(ringSize)
	for v := range h.viewers {
		behind := h.total - v.position
		if behind > viewerSize {
			v.position = h.total // nothing more
			h.drop(v, ErrSlow)
			continue
		}
		needed = max(needed, behind)
		v.signal()
	}
	if spare := len(h.ring) - int(needed); spare > ringSize { // not at every byte
		n := copy(h.ring, h.ring[spare:])
		h.ring = h.ring[:n]
		if cap(h.ring) > 4*max(n, ringSize) { // no viewer is far behind any more
			h.ring = append(make([]byte, 0, 2*max(n, ringSize)), h.ring...)
		}
	}
}

// next is the output at a viewer's position, up to pieceSize; mu is held.
func (h *hub) next(v *Viewer) []byte {
	end := h.total
	if v.err != nil {
		end = min(end, v.end)
	}
	first := h.total - int64(len(h.ring)) // position of ring[0]
	if v.position < first || v.position >= end {
		return nil // all read, or gone since the viewer ended
	}
	piece := h.ring[v.position-first : min(v.position+pieceSize, end)-first]
	v.position += int64(len(piece))
	return append([]byte{}, piece...)
}

// kept is the last output, at most ringSize.
func (h *hub) kept() []byte { return h.ring[max(0, len(h.ring)-ringSize):] }

// say sends every viewer a notice about the line.
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
		v.err, v.end = err, h.total
	}
	v.signal()
}

// add lets a viewer in. With write set it writes if the console has no writer. With take set too, it replaces the
// present writer.
func (h *hub) add(v *Viewer, write, take bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed != nil {
		v.err = h.closed
		return
	}
	h.viewers[v] = struct{}{}
	v.position = h.total - int64(len(h.kept()))
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
