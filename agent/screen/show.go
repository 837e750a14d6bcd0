package screen

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Display reports whether a console, as /dev/tty0, is a display of the machine
// that can be drawn on. Others (ttyS0, hvc0) are lines to somewhere else.
func Display(console string) bool {
	return regexp.MustCompile(`^tty\d+$`).MatchString(filepath.Base(console))
}

// Console is one terminal that shows a Board, unless a user has taken it.
type Console struct {
	Out io.Writer
	// Size is how large the terminal is; nil for a terminal that only ever adds lines.
	Size func() (columns, rows int)

	mu    sync.Mutex
	taken bool
	freed chan struct{} // a place for the news that it is free again
	shown []string
}

// NewConsole makes an empty console.
func NewConsole(out io.Writer, size func() (columns, rows int)) *Console {
	return &Console{Out: out, Size: size, freed: make(chan struct{}, 1)}
}

// atMostEvery is how often a console is drawn at most: a log may say a hundred
// things a second.
const atMostEvery = 250 * time.Millisecond

// Show shows the board until ctx ends.
func (c *Console) Show(ctx context.Context, b *Board) {
	for {
		state, changed := b.look()
		c.show(state)
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-c.freed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(atMostEvery):
		}
	}
}

// The control sequences of ECMA-48 that the kernel's displays and all others
// know.
const (
	home       = "\x1b[H"
	toLineEnd  = "\x1b[K"
	toEnd      = "\x1b[J"
	reverse    = "\x1b[7m"
	plain      = "\x1b[m"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
)

// show draws the changes. A terminal that accepts nothing shows nothing.
func (c *Console) show(s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken {
		return
	}
	if c.Size == nil {
		if line := Line(s); s.Doing != "" && !slices.Equal(c.shown, []string{line}) {
			c.shown = []string{line}
			_, _ = io.WriteString(c.Out, line+"\n")
		}
		return
	}
	columns, rows := c.Size()
	lines := Render(s, columns, rows)
	if slices.Equal(lines, c.shown) {
		return
	}
	c.shown = lines
	_, _ = io.WriteString(c.Out, draw(lines, columns))
}

// draw writes every line anew, since the kernel may have written over any. The
// first stands out.
func draw(lines []string, columns int) string {
	var b strings.Builder
	b.WriteString(hideCursor + home)
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		} else {
			l = reverse + l + strings.Repeat(" ", max(0, columns-1-len([]rune(l)))) + plain
		}
		b.WriteString(l + toLineEnd)
	}
	return b.String() + toEnd
}

// Take leaves the terminal to a user until giveBack.
func (c *Console) Take() (giveBack func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken = true
	if c.Size != nil {
		_, _ = io.WriteString(c.Out, plain+home+toEnd+showCursor)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.taken, c.shown = false, nil
		select {
		case c.freed <- struct{}{}:
		default:
		}
	}
}
