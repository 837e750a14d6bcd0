package boot

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// width is the columns that a line has at most.
const width = 120

// row lays the columns of a line out. The last column takes the remaining width.
func row(at, who, where, asked, answer string) string {
	who, where, asked = output.VisibleLine(who), output.VisibleLine(where), output.VisibleLine(asked)
	line := fmt.Sprintf("%-8s %-17s %-15s %-18s %s", at, cut(who, 17), cut(where, 19), cut(asked, 24),
		output.VisibleLine(answer))
	return cut(strings.TrimRight(line, " "), width)
}

func title() string { return row("TIME", "MACHINE", "ADDRESS", "ASKED", "ANSWER") }

// cut shortens a text to some columns.
func cut(s string, columns int) string {
	if utf8.RuneCountInString(s) <= columns {
		return s
	}
	return string([]rune(s)[:columns-1]) + "…"
}

// lineText is a line of the answer for people.
func lineText(l nodeapi.BootLine) string {
	switch {
	case l.Event != nil:
		return eventText(*l.Event)
	case l.Server != nil:
		return serverText(*l.Server)
	}
	return fmt.Sprintf("%d events came too fast to be shown", l.Lost)
}

func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }

func eventText(e nodeapi.BootEvent) string {
	where := e.IP
	if where == "" && e.Relay != "" {
		where = "via " + e.Relay
	}
	var parts []string
	switch {
	case e.Answer != "":
		parts = append(parts, e.Answer)
	case e.Reason != "":
		parts = append(parts, "no answer")
	}
	if e.Why != "" {
		parts = append(parts, e.Why+": "+e.Try)
	}
	asked := e.Asked
	if e.Times > 1 {
		asked += fmt.Sprintf(" x%d", e.Times)
	}
	who := cmp.Or(e.NodeName, e.MAC, "-")
	return row(clock(e.At), who, cmp.Or(where, "-"), asked, strings.Join(parts, ", "))
}

// serverText is about another DHCP server. The advice has a line of its own.
func serverText(s nodeapi.BootServer) string {
	does := "gives addresses"
	if !s.Lends {
		does = "names boot files"
	}
	text := fmt.Sprintf("another DHCP server, %s, %s here, last at %s", s.Address, does, clock(s.Last))
	if s.BootFile != "" {
		text += ", boot file " + s.BootFile
	}
	if s.Expected {
		return cut(output.VisibleLine(text+"; it is expected"), width)
	}
	return cut(output.VisibleLine(text), width) +
		"\n  stop it, or start the conductor with --dhcp proxy or off, or --other-dhcp"
}
