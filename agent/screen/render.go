package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// mostCards is how many network interfaces are shown; a machine may have dozens.
const mostCards = 6

// Render is the state on a display of so many columns and rows: exactly rows
// lines, none longer than columns, without control characters.
func Render(s State, columns, rows int) []string {
	lines := []string{strings.TrimRight("Ferrite agent "+s.Version, " "), ""}
	row := func(name, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("%-10s %s", name, text))
		}
	}
	row("node", cmp.Or(nodeLabel(s), "not known yet"))
	row("machine", join(", ", s.Machine, prefixed("serial number ", s.Serial)))
	for _, c := range shownCards(s.Cards) {
		row(c.Name, cardText(c))
	}
	if more := len(s.Cards) - mostCards; more > 0 {
		row("", fmt.Sprintf("and %d more network interfaces", more))
	}
	row("conductor", join(", ", s.Conductor, heartbeatText(s.Heartbeat)))
	for i, part := range networkRows(s.Network, columns) {
		row([]string{"network", ""}[min(i, 1)], part)
	}
	row("doing", join(": ", s.Doing, s.Stage))
	row("", progressText(s, columns))
	for i, part := range pieces(s.Err, columns-len("last error  ")-1) {
		row([]string{"last error", "", ""}[i], part)
	}
	lines = append(lines, "")
	room := rows - len(lines) - 2 // for an empty line and the last one
	log := s.Log[max(0, len(s.Log)-max(0, room)):]
	lines = append(lines, log...)
	for len(lines) < rows-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(0, rows-1)], s.Shell)
	for i, l := range lines {
		lines[i] = fit(l, columns)
	}
	return lines
}

// Line is the text for a terminal that only appends lines. It has neither figures,
// which change all the time, nor text that the log has anyway.
func Line(s State) string {
	return fit("ferrite: "+join("; ",
		"node "+cmp.Or(nodeLabel(s), "not known yet"), prefixed("conductor ", s.Conductor), join(": ", s.Doing,
			s.Stage), prefixed("network: ", first(s.Network)), prefixed("last error: ", s.Err)), maxLine)
}

func first(all []string) string { return append(all, "")[0] }

// maxLine bounds a line of a serial terminal.
const maxLine = 400

// nodeLabel is the node's name and UUID.
func nodeLabel(s State) string {
	if s.Name == "" || s.Node == "" {
		return join("", s.Name, s.Node)
	}
	return s.Name + " (" + s.Node + ")"
}

// shownCards has those first that have an address, then those with a cable.
func shownCards(cards []Card) []Card {
	rank := func(c Card) int {
		switch {
		case len(c.Addresses) > 0:
			return 0
		case c.Carrier:
			return 1
		}
		return 2
	}
	sorted := slices.SortedStableFunc(slices.Values(cards), func(a, b Card) int { return rank(a) - rank(b) })
	return sorted[:min(len(sorted), mostCards)]
}

func cardText(c Card) string {
	parts := []string{c.MAC}
	for _, a := range c.Addresses {
		parts = append(parts, a.String())
	}
	if !c.Carrier {
		parts = append(parts, "no carrier")
	}
	return strings.Join(parts, "  ")
}

// heartbeatText has the time of day, as the machine knows it: how long ago that is
// would be another picture every second.
func heartbeatText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "heartbeat answered at " + at.UTC().Format("15:04:05") + " UTC"
}

// progressText is a bar where the end is known, else the amount done.
func progressText(s State, columns int) string {
	switch {
	case s.Done <= 0 && s.Total <= 0:
		return ""
	case s.Total <= 0:
		return size(s.Done)
	}
	const besides = 45 // columns of the text beside the bar
	width := min(max(columns-besides, 4), 40)
	part := min(max(float64(s.Done)/float64(s.Total), 0), 1)
	full := int(part * float64(width))
	return fmt.Sprintf("[%s%s] %3d %% of %s", strings.Repeat("#", full), strings.Repeat(".", width-full), int(part*100),
		size(s.Total))
}

func size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n)/unit, 0
	for ; v >= unit && i < 4; i++ {
		v /= unit
	}
	return fmt.Sprintf("%.1f %cB", v, "kMGTP"[i])
}

// fit makes a line harmless to a terminal, and no longer than it is wide. The
// last column stays free: a display would begin a new line behind it.
func fit(line string, columns int) string {
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ReplaceAll(strings.ReplaceAll(line, "\t", " "), "\n", " "))
	runes := []rune(line)
	if len(runes) < columns {
		return line
	}
	const more = "..."
	if columns <= len(more)+1 {
		return string(runes[:max(0, columns-1)])
	}
	return string(runes[:columns-1-len(more)]) + more
}

// mostChecks is how many failing checks are shown: the first one explains most others.
const mostChecks = 2

// networkRows are the failing checks of the network.
func networkRows(checks []string, columns int) []string {
	var out []string
	for _, c := range checks[:min(len(checks), mostChecks)] {
		out = append(out, pieces(c, columns-len("network     ")-1)...)
	}
	return out
}

// mostPieces is how many rows an error may take.
const mostPieces = 3

// pieces cuts text into rows of so many columns. The remainder goes into the last row,
// which is cut where it is shown.
func pieces(text string, columns int) []string {
	var out []string
	runes := []rune(text)
	for columns > 0 && len(out) < mostPieces-1 && len(runes) > columns {
		out, runes = append(out, string(runes[:columns])), runes[columns:]
	}
	return append(out, string(runes))
}

// join joins the parts that are not empty.
func join(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), between)
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
