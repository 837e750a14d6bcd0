package bmc

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/ferrite-metal/ferrite/conductor/bmc/doctor"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
)

// detailWidth is how many characters of a finding stand on a line.
const detailWidth = 76

// show prints a report for people.
func show(w io.Writer, r doctor.Report) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, value)
		}
	}
	line("address", r.Address)
	line("protocol", r.Protocol)
	machine := "the BMC names no maker and no model"
	if !lookedAt(r) {
		machine = "not known"
	}
	line("machine", cmp.Or(r.Machine, machine))
	line("BMC", r.BMC)
	if c := r.Certificate; c != nil {
		line("certificate", fmt.Sprintf("%s, of %s, until %s", c.TLS, cmp.Or(strings.Join(c.Names, ", "), c.Subject),
			c.Expires.Format(time.DateOnly)))
		for _, p := range c.Problems {
			line("", p)
		}
	}
	b.WriteString(operations(r.Findings) + "\n")
	if !lookedAt(r) {
		b.WriteString("the other operations were not checked\n")
	}
	if len(r.Sessions) > 0 {
		fmt.Fprintf(&b, "\nsessions of others: %d\n", len(r.Sessions))
		for _, line := range sessions(r.Sessions) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if len(r.Odd) > 0 {
		b.WriteString("\nodd:\n")
		for _, o := range r.Odd {
			fmt.Fprintf(&b, "  %s\n", o)
		}
	}
	if len(r.Notes) > 0 {
		b.WriteString("\nnotes:\n")
		for _, note := range r.Notes {
			fmt.Fprintf(&b, "  %s\n", note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lookedAt reports whether more than the login was tried.
func lookedAt(r doctor.Report) bool { return r.Findings[len(r.Findings)-1].Verdict != doctor.Skipped }

// sessions has a line for each user and client, with the number of sessions that they have open.
func sessions(all []redfish.OpenSession) (lines []string) {
	counts := map[string]int{}
	for _, s := range all {
		line := strings.TrimSpace(s.User + " " + s.Client)
		if counts[line]++; counts[line] == 1 {
			lines = append(lines, line)
		}
	}
	for i, line := range lines {
		if n := counts[line]; n > 1 {
			lines[i] = fmt.Sprintf("%s, %d times", line, n)
		}
	}
	return lines
}

func operations(all []doctor.Finding) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 4, Align: text.AlignRight}, {Number: 5, WidthMax: detailWidth,
		WidthMaxEnforcer: text.WrapSoft}})
	t.AppendHeader(table.Row{"operation", "needed", "found", "time", "detail"})
	for _, f := range all {
		if f.Verdict == doctor.Skipped {
			continue
		}
		detail := f.Detail
		if len(f.Quirks) > 0 {
			detail += "; way around: " + strings.Join(f.Quirks, ", ")
		}
		t.AppendRow(table.Row{f.Operation, f.Need, f.Verdict, took(f), detail})
	}
	return t.Render()
}

// took is the time of an operation, and of its slowest request where there were several.
func took(f doctor.Finding) string {
	if f.Requests == 0 && f.Took < time.Millisecond { // read with the operation before
		return ""
	}
	out := f.Took.Round(time.Millisecond).String()
	if f.Requests > 1 {
		out += fmt.Sprintf(" (%d requests)", f.Requests)
	}
	return out
}
