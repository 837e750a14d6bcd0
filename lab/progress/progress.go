// Package progress shows how far long work is. On a terminal it redraws one line; elsewhere it writes a line every
// ten seconds, so that a log stays short.
//
// It must not know the work.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	// pipeEvery is the longest silence on a pipe.
	pipeEvery = 10 * time.Second
	// drawEvery counts the seconds on a terminal.
	drawEvery = time.Second
	// drawPause keeps fast work from spending its time on the terminal.
	drawPause = 100 * time.Millisecond
)

// A Line is the state of some work, shown until End. Its methods may be called by several goroutines.
type Line struct {
	out     io.Writer
	columns func() int // of the terminal; 0 on a pipe
	show    func(text string) string
	ticker  *time.Ticker
	done    chan struct{}

	mu    sync.Mutex
	text  string
	drawn time.Time // last time on a terminal; zero while the line is not there
}

// New starts a line on out. show makes the whole line of a text each time that it is written, as the seconds in it
// change. An empty text shows nothing.
func New(out io.Writer, show func(text string) string) *Line {
	columns := func() int { return 0 }
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		columns = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil || width <= 0 {
				return 80 // a terminal that hides its size
			}
			return width
		}
	}
	return start(out, columns, show)
}

// Labelled is New for work with a name: "NAME: TEXT (12 s)".
func Labelled(out io.Writer, name string) *Line {
	began := time.Now()
	return New(out, func(text string) string {
		return fmt.Sprintf("%s: %s (%.0f s)", name, text, time.Since(began).Seconds())
	})
}

func start(out io.Writer, columns func() int, show func(string) string) *Line {
	every := pipeEvery
	if columns() > 0 {
		every = drawEvery
	}
	l := &Line{out: out, columns: columns, show: show, ticker: time.NewTicker(every), done: make(chan struct{})}
	go func() {
		for {
			select {
			case <-l.done:
				return
			case <-l.ticker.C:
				l.tick()
			}
		}
	}()
	return l
}

// Set changes the text of the line.
func (l *Line) Set(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = fmt.Sprintf(format, args...)
	switch {
	case l.columns() == 0:
	case l.text == "":
		l.clear()
	case time.Since(l.drawn) >= drawPause:
		l.draw()
	}
}

// Print writes a line that stays, above the changing one.
func (l *Line) Print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	fmt.Fprintln(l.out, text)
	if l.columns() == 0 {
		l.ticker.Reset(pipeEvery)
	}
}

// End removes the line. It is called once.
func (l *Line) End() {
	l.ticker.Stop()
	close(l.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.text = ""
}

func (l *Line) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.text == "":
	case l.columns() > 0:
		l.draw()
	default:
		fmt.Fprintln(l.out, l.show(l.text))
	}
}

// draw writes the line over itself. A line that wraps could not be removed again.
func (l *Line) draw() {
	line := []rune(strings.ReplaceAll(l.show(l.text), "\t", " "))
	fmt.Fprintf(l.out, "\r\x1b[K%s", string(line[:min(len(line), l.columns()-1)]))
	l.drawn = time.Now()
}

func (l *Line) clear() {
	if !l.drawn.IsZero() {
		fmt.Fprint(l.out, "\r\x1b[K") // ECMA-48, 8.3.41: erase to the end of the line
		l.drawn = time.Time{}
	}
}
