package wait

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Screen shows the progress of waiting: a line for each step and stage, which stays, and at a terminal below them a
// line for each node with its bytes, which is drawn anew at each reading. A file gets each tenth of the bytes.
type Screen struct {
	mu   sync.Mutex
	w    io.Writer
	size output.Screen
	now  func() time.Time

	lines   []*Line
	drawn   int  // lines below the others that will be drawn anew
	waiting bool // for a conductor that does not answer
}

// NewScreen makes a screen apart from the command's result: it is stderr unless people read that.
func NewScreen(cmd *cobra.Command, s *client.Session) *Screen {
	w := cmd.OutOrStdout()
	if !s.People() {
		w = cmd.ErrOrStderr()
	}
	return &Screen{w: w, size: output.ScreenOf(w), now: time.Now}
}

// Line makes the line of a node. before is the node's status before the request.
func (s *Screen) Line(node string, before nodeapi.Status) *Line {
	l := &Line{Screen: s, node: node, started: s.now()}
	for _, stage := range before.BootStages {
		l.stageAt = stage.At
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, l)
	return l
}

// print writes a line that stays, above those that are drawn anew.
func (s *Screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.ignore(fmt.Fprintln(s.w, s.size.Wrap(output.VisibleLine(text))))
	s.draw()
}

// erase removes the lines that are drawn anew.
func (s *Screen) erase() {
	if s.drawn > 0 { // up, and clear to the end of the screen
		s.ignore(fmt.Fprintf(s.w, "\x1b[%dA\r\x1b[J", s.drawn))
		s.drawn = 0
	}
}

// mostDrawn bounds the lines that are drawn anew, so that they never scroll.
const mostDrawn = 10

// draw shows the bytes of the nodes that have any.
func (s *Screen) draw() {
	for _, l := range s.lines {
		if l.bytes == "" || s.drawn == mostDrawn {
			continue
		}
		text := []rune(output.VisibleLine(l.node + "  " + l.bytes))
		s.ignore(fmt.Fprintln(s.w, string(text[:min(len(text), max(1, s.size.Columns-1))])))
		s.drawn++
	}
}

// set replaces the bytes of a line: the lines of other nodes are drawn from other goroutines.
func (l *Line) set(bytes string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes = bytes
}

// redraw draws the lines anew.
func (s *Screen) redraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.draw()
}

// ignore drops the error of a write to the screen: the screen is the only place
// to show it, and the work goes on.
func (s *Screen) ignore(int, error) {}

// Interrupted says that the conductor is waited for: once for all nodes, until it answers again.
func (s *Screen) Interrupted(err error) {
	if s.change(true) {
		s.print("ferrite: " + strings.SplitN(err.Error(), "\n", 2)[0] + "; waiting for it")
	}
}

// Answered says that the conductor answers again, should it have been waited for.
func (s *Screen) Answered() {
	if s.change(false) {
		s.print("ferrite: the conductor answers again")
	}
}

// change records whether the screen waits for the conductor, and reports whether that is new.
func (s *Screen) change(waiting bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.waiting != waiting
	s.waiting = waiting
	return changed
}
