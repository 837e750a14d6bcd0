package wait

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
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
		return output.Time(t) + " (now)"
	case d < 0:
		return fmt.Sprintf("%s (%s ago)", output.Time(t), -d)
	}
	return fmt.Sprintf("%s (in %s)", output.Time(t), d)
}

// leastBytes is the size of a sector. A step with a smaller total counts other things, such as disks.
const leastBytes = 512

// ProgressText says how far a step is: bytes, share, rate and time left.
func ProgressText(p nodeapi.Progress) string {
	text := Join(p.Step, p.Stage)
	if p.Done == 0 && p.Total == 0 {
		return text
	}
	if 0 < p.Total && p.Total < leastBytes {
		return text + fmt.Sprintf(" %d of %d", p.Done, p.Total)
	}
	text += " " + BytesText(p.Done)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %s, %d%%", BytesText(p.Total), p.Done*100/p.Total)
	}
	if p.Rate >= 1 {
		text += fmt.Sprintf(", %s/s", BytesText(int64(p.Rate)))
	}
	if p.ETA >= 1 {
		text += fmt.Sprintf(", %s left", time.Duration(p.ETA*float64(time.Second)).Round(time.Second))
	}
	return text
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

// indented is a text of a machine within an error of ours: its further lines cannot look like other errors.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }
