package wait

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Screen shows the progress of waiting: one line for each stage, and a bar for
// bytes when a person watches one node. schollz/progressbar draws the bar. The
// lines are our own: it draws none of several nodes, and none to a file, where
// each tenth of the bytes gets a line.
type Screen struct {
	mu   sync.Mutex
	w    io.Writer
	bars bool
	now  func() time.Time

	waiting bool // for a conductor that does not answer
}

// NewScreen makes a screen apart from the command's result: with -o json or yaml
// it is stderr.
func NewScreen(cmd *cobra.Command, output string, single bool) *Screen {
	w := cmd.OutOrStdout()
	if output != "table" {
		w = cmd.ErrOrStderr()
	}
	file, ok := w.(*os.File)
	return &Screen{w: w, bars: single && ok && term.IsTerminal(int(file.Fd())), now: time.Now}
}

// Line makes the line of a node, whose status before the request is known.
func (s *Screen) Line(node string, before nodeapi.Status) *Line {
	l := &Line{Screen: s, node: node, started: s.now()}
	for _, stage := range before.BootStages {
		l.shown = stage.At
	}
	return l
}

// Line is one node on the screen.
type Line struct {
	*Screen
	node    string
	started time.Time
	Last    string    // the last text
	shown   time.Time // of the last boot stage that is no news
	tenth   int64     // of the bytes, in the last line
	bar     *progressbar.ProgressBar
	barOf   string
}

// Show shows what is new in a status.
func (l *Line) Show(st nodeapi.Status) {
	for _, stage := range st.BootStages {
		if stage.At.After(l.shown) {
			l.shown = stage.At
			l.Say("boot: " + Join(stage.Name, stage.Detail))
		}
	}
	if text := describe(st); text != l.Last {
		l.EndBar()
		l.Last, l.tenth = text, 0
		l.Say(text)
	}
	if st.Progress != nil && st.Activity != "" {
		l.progress(*st.Progress)
	}
}

// describe is a status in one line.
func describe(st nodeapi.Status) string {
	text := st.State
	if st.Step != "" {
		text += fmt.Sprintf(": %s (%d of %d)", st.Step, st.Index+1, len(st.Steps))
	}
	if st.WaitingFor != "" {
		text += ", waits for " + st.WaitingFor
	}
	if !st.Until.IsZero() {
		text += ", until " + st.Until.Local().Format(time.TimeOnly)
	}
	return text
}

// Join joins two parts of a text, either of which may be empty.
func Join(name, detail string) string {
	if detail == "" {
		return name
	}
	return name + " " + detail
}

// Say prints a line with the time since the beginning.
func (l *Line) Say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bar != nil {
		l.ignore(0, l.bar.Clear())
	}
	l.ignore(fmt.Fprintf(l.w, "%s  %6.1f s  %s\n", l.node, l.now().Sub(l.started).Seconds(), output.Visible(text)))
}

// ignore drops the error of a write to the screen: the screen is the only place
// to show it, and the work goes on.
func (s *Screen) ignore(int, error) {}

// progress shows bytes: on a bar, or a line for every tenth.
func (l *Line) progress(p nodeapi.Progress) {
	what := output.Visible(Join(p.Step, p.Stage))
	if l.bars {
		if of := fmt.Sprint(what, p.Total); l.bar == nil || l.barOf != of {
			l.EndBar()
			l.bar, l.barOf = newBar(l.w, p, what), of
		}
		l.ignore(0, l.bar.Set64(p.Done))
		return
	}
	if p.Total <= 0 {
		return
	}
	if tenth := p.Done * 10 / p.Total; tenth > l.tenth {
		l.tenth = tenth
		l.Say(fmt.Sprintf("%s %d%%, %s of %s at %s/s", what, p.Done*100/p.Total, BytesText(p.Done), BytesText(p.Total),
			BytesText(int64(p.Rate))))
	}
}

func newBar(w io.Writer, p nodeapi.Progress, what string) *progressbar.ProgressBar {
	total := p.Total
	if total <= 0 {
		total = -1 // a spinner
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0)) // else a goroutine draws it for ever
}

// EndBar removes the progress bar.
func (l *Line) EndBar() {
	if l.bar != nil {
		l.ignore(0, l.bar.Clear())
		l.bar = nil
	}
}

// Close ends the line.
func (l *Line) Close() { l.EndBar() }

// finish says that the node is there.
func (l *Line) finish(text string) {
	l.EndBar()
	l.Say(text)
}

// Interrupted says that the conductor is waited for: once for all nodes, until it answers again.
func (s *Screen) Interrupted(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.waiting {
		s.waiting = true
		s.ignore(fmt.Fprintf(s.w, "ferrite: %s; waiting for it\n", output.Visible(strings.SplitN(err.Error(), "\n", 2)[0])))
	}
}

// Answered says that the conductor answers again, should it have been waited for.
func (s *Screen) Answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting {
		s.waiting = false
		s.ignore(fmt.Fprintln(s.w, "ferrite: the conductor answers again"))
	}
}

// locked says once that the node is waited for before anything is requested of it.
func (l *Line) locked() {
	const text = "waits until the conductor has finished its work on the node"
	if l.Last != text {
		l.Last = text
		l.Say(text)
	}
}

// SizeText is the size of a disk; nothing for an unknown one.
func SizeText(n int64) string {
	if n <= 0 {
		return ""
	}
	return BytesText(n)
}

// BytesText is a size in units of a thousand.
func BytesText(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	size, i := float64(n)/unit, 0
	for size >= unit && i < 4 {
		size, i = size/unit, i+1
	}
	return fmt.Sprintf("%.1f %cB", size, "kMGTP"[i])
}
