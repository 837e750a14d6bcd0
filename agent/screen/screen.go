// Package screen shows the state of the agent on the machine's consoles: the node, the conductor, the current activity
// and the last error. A display gets a screen. A serial line often ends in a file, so it gets a line for each change.
//
// The text is a pure function of a State; only Show touches a terminal. It must not hide the kernel's own messages:
// nothing is drawn unless something changes, so that a panic, which ends all change, stays.
package screen

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// State is all that is shown. Fields that are empty are not known yet.
type State struct {
	Version   string // of the agent
	Node      string // UUID
	Name      string // of the node
	Machine   string // maker and product
	Serial    string // number of the machine
	Cards     []Card
	Conductor string    // URL
	Heartbeat time.Time // when the last heartbeat was answered
	Doing     string    // an activity, or the step: "deploy.write_image"
	Stage     string    // of the step: "write"
	Done      int64     // bytes
	Total     int64     // bytes; 0 when that is not known
	Err       string    // the last error
	Network   []string  // failed checks of the network, and what to do
	Shell     string    // how to get a shell, or why there is none
	Log       []string  // its last lines, newest last
}

// Card is one network interface.
type Card struct {
	Name, MAC string
	Carrier   bool
	Addresses []netip.Addr
}

// keepLines is how much of the log is kept for screens: more rows than consoles
// have.
const keepLines = 128

// Board is the current State. It signals each change to the consoles. It is safe for
// several goroutines. A nil Board accepts changes and shows nothing.
type Board struct {
	mu      sync.Mutex
	state   State
	changed chan struct{} // closed by the next change
}

// NewBoard makes an empty one.
func NewBoard() *Board { return &Board{changed: make(chan struct{})} }

// Set changes the state.
func (b *Board) Set(change func(*State)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.state)
	close(b.changed)
	b.changed = make(chan struct{})
}

// Doing sets the agent's activity from now on, and ends the progress of a step.
func (b *Board) Doing(what string) {
	b.Set(func(s *State) { s.Doing, s.Stage, s.Done, s.Total = what, "", 0, 0 })
}

// Failed keeps the last error.
func (b *Board) Failed(err error) {
	if err != nil {
		b.Set(func(s *State) { s.Err = err.Error() })
	}
}

// Write takes lines of the log; it never fails.
func (b *Board) Write(p []byte) (int, error) {
	b.Set(func(s *State) {
		for line := range strings.Lines(string(p)) {
			s.Log = append(s.Log, strings.TrimRight(line, "\n"))
		}
		if extra := len(s.Log) - keepLines; extra > 0 {
			s.Log = slices.Delete(s.Log, 0, extra)
		}
	})
	return len(p), nil
}

// State is the current state.
func (b *Board) State() State {
	s, _ := b.look()
	return s
}

// look is the current state, and a channel that is closed when it has changed.
func (b *Board) look() (State, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	s.Log, s.Cards, s.Network = slices.Clone(s.Log), slices.Clone(s.Cards), slices.Clone(s.Network)
	return s, b.changed
}
