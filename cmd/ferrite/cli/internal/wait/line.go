package wait

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Line is one node on the screen.
type Line struct {
	*Screen
	node    string
	started time.Time
	Last    string    // text of the last line that was printed
	stageAt time.Time // of the newest boot stage that was printed
	bytes   string    // how far a step is, drawn anew each time
	tenth   int64     // of the bytes, in the last line that was printed
	stage   string    // of a step without bytes, in the last line that was printed
	warned  []string  // the warnings that were shown

	steps []string // of the activity that was seen last
	index int      // of its step
}

// Show shows the changes in a status.
func (l *Line) Show(st nodeapi.Status) {
	for _, stage := range st.BootStages {
		if stage.At.After(l.stageAt) {
			l.stageAt = stage.At
			l.Say("boot: " + Join(stage.Name, stage.Detail))
		}
	}
	for _, w := range st.Warnings {
		if !slices.Contains(l.warned, w) {
			l.warned = append(l.warned, w)
			l.Say("warning: " + w)
		}
	}
	l.passed(st)
	if rests, err := Wherever(st); rests && err == nil {
		l.passRest()
	}
	if text := describe(st); text != l.Last {
		l.Last, l.tenth = text, 0
		l.set("")
		if text != st.State || Waiting(st.State) { // the end has a line of its own
			l.Say(text)
		}
	}
	if st.Progress != nil && st.Activity != "" && stepOf(st) == st.Progress.Step {
		l.progress(*st.Progress)
	}
}

// stepOf is the name of the step, as progress has it.
func stepOf(st nodeapi.Status) string {
	_, name, ok := strings.Cut(st.Step, ".")
	if !ok || st.Progress == nil || st.Progress.Step == st.Step {
		return st.Step
	}
	return name
}

// passed shows the steps that were begun and done between two readings.
func (l *Line) passed(st nodeapi.Status) {
	if st.Step == "" {
		return
	}
	if len(l.steps) > 0 && (st.Index < l.index || !slices.Equal(l.steps[:min(l.index+1, len(l.steps))],
		st.Steps[:min(l.index+1, len(st.Steps))])) {
		l.passRest() // another activity: that one is over
	}
	from := 0
	if len(l.steps) > 0 {
		from = l.index + 1
	}
	for i := from; i < min(st.Index, len(st.Steps)); i++ {
		l.Say(fmt.Sprintf("done: %s (%d of %d)", st.Steps[i], i+1, len(st.Steps)))
	}
	l.steps, l.index = st.Steps, st.Index
}

// passRest shows the steps after the last that was seen, of an activity that has ended well.
func (l *Line) passRest() {
	for i := l.index + 1; i < len(l.steps); i++ {
		l.Say(fmt.Sprintf("done: %s (%d of %d)", l.steps[i], i+1, len(l.steps)))
	}
	l.steps, l.index = nil, 0
}

// describe is a status in one line.
func describe(st nodeapi.Status) string {
	text := st.State
	if st.Step != "" {
		text += fmt.Sprintf(": %s (%d of %d)", st.Step, st.Index+1, len(st.Steps))
	}
	if st.WaitingFor != "" && st.WaitingFor != st.Step+" to be done" {
		text += ", waits for " + st.WaitingFor
	}
	if !st.Until.IsZero() {
		text += ", until " + st.Until.Local().Format("15:04:05 MST")
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
	l.print(fmt.Sprintf("%s  %6.1f s  %s", l.node, l.now().Sub(l.started).Seconds(), text))
}

// Bytes shows the progress of a transfer that no status reports.
func (l *Line) Bytes(p nodeapi.Progress) { l.progress(p) }

// progress shows bytes: at a terminal at each reading, else every tenth.
func (l *Line) progress(p nodeapi.Progress) {
	if p.Done == 0 && p.Total == 0 { // nothing to draw: it says why there are no bytes
		if l.set(""); p.Stage != "" && p.Stage != l.stage {
			l.stage = p.Stage
			l.Say(ProgressText(p))
		}
		return
	}
	if l.size.Columns > 0 {
		l.set(l.fitting(p))
		l.redraw()
		return
	}
	if p.Total <= 0 {
		return
	}
	if tenth := p.Done * 10 / p.Total; tenth > l.tenth {
		l.tenth = tenth
		l.Say(ProgressText(p))
	}
}

// fitting is how far a step is, with as much of it as the screen has room for.
func (l *Line) fitting(p nodeapi.Progress) string {
	short := p
	short.Stage = ""
	for _, text := range []string{bar(p) + ProgressText(p), bar(p) + ProgressText(short)} {
		if len([]rune(l.node+"  "+text)) < l.size.Columns {
			return text
		}
	}
	return ProgressText(short)
}

// bar is a drawing of how far a step is.
func bar(p nodeapi.Progress) string {
	const width = 10
	if p.Total <= 0 {
		return ""
	}
	full := int(min(width, max(0, p.Done*width/p.Total)))
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", width-full) + "] "
}

// Close ends the line.
func (l *Line) Close() {
	l.set("")
	l.redraw()
}

// finish says that the node is there.
func (l *Line) finish(text string) {
	l.set("")
	l.Say(text)
}

// locked says once that the node is waited for before anything is requested of it.
func (l *Line) locked() {
	const text = "waits until the conductor has finished its work on the node"
	if l.Last != text {
		l.Last = text
		l.Say(text)
	}
}
