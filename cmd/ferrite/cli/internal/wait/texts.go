package wait

import (
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Clock is a time with its distance from now.
func Clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := time.Until(t).Round(time.Second)
	switch {
	case d == 0:
		return t.Local().Format(time.DateTime) + " (now)"
	case d < 0:
		return fmt.Sprintf("%s (%s ago)", t.Local().Format(time.DateTime), -d)
	}
	return fmt.Sprintf("%s (in %s)", t.Local().Format(time.DateTime), d)
}

// ProgressText says how far a step is: bytes, share, rate and time left.
func ProgressText(p nodeapi.Progress) string {
	text := Join(p.Step, p.Stage) + " " + BytesText(p.Done)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %s, %d%%", BytesText(p.Total), p.Done*100/p.Total)
	}
	if p.Rate > 0 {
		text += fmt.Sprintf(", %s/s", BytesText(int64(p.Rate)))
	}
	if p.ETA > 0 {
		text += fmt.Sprintf(", %s left", time.Duration(p.ETA*float64(time.Second)).Round(time.Second))
	}
	return text
}
