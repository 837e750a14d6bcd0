package kube

import (
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// column is one column of a table: -o wide shows all; without it, priority 0 alone shows.
type column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
	cell        func(d hostapi.Document, now time.Time) any
}

// row is one document.
type row struct {
	Cells  []any `json:"cells"`
	Object any   `json:"object,omitempty"`
}

// table is documents as people see them.
type table struct {
	hostapi.TypeMeta
	Metadata listMeta `json:"metadata"`
	Columns  []column `json:"columnDefinitions"`
	Rows     []row    `json:"rows"`
}

// table is a document as people see it. A list takes its row.
func (s *Server) table(c *call, d hostapi.Document) table {
	t := table{
		TypeMeta: hostapi.TypeMeta{Kind: "Table", APIVersion: metaGroup + "/v1"},
		Metadata: listMeta{ResourceVersion: d.Meta().ResourceVersion}, Columns: columnsOf(c.kind.Kind),
	}
	r := row{Cells: make([]any, len(t.Columns))}
	for i, col := range t.Columns {
		r.Cells[i] = col.cell(d, s.now())
	}
	switch c.arg("includeObject") {
	case "None":
	case "Object":
		r.Object = d
	default:
		r.Object = partial(d)
	}
	t.Rows = []row{r}
	return t
}

// columnsOf is the columns of a kind: Metal3's, in their order.
func columnsOf(kind string) []column {
	name := column{Name: "Name", Type: "string", Format: "name",
		Description: "Name of the document, unique in its namespace and kind.",
		cell:        func(d hostapi.Document, _ time.Time) any { return d.Meta().Name }}
	aged := column{Name: "Age", Type: "date", Description: "How long ago the document was made",
		cell: func(d hostapi.Document, now time.Time) any { return age(d.Meta().CreationTimestamp.Time, now) }}
	switch kind {
	case hostapi.KindHost:
		return append(append([]column{name}, hostColumns()...), aged)
	case hostapi.KindEvent:
		return eventColumns()
	case hostapi.KindSecret:
		return []column{
			name,
			{Name: "Type", Type: "string", Description: "What the secret is for",
				cell: secretCell(func(s *hostapi.Secret) any { return s.Type })},
			{Name: "Data", Type: "string", Description: "How many values it has",
				cell: secretCell(func(s *hostapi.Secret) any { return strconv.Itoa(len(s.Data)) })},
			aged,
		}
	case hostapi.KindNamespace:
		return []column{
			name,
			{Name: "Status", Type: "string", Description: "The state of the namespace",
				cell: func(hostapi.Document, time.Time) any { return hostapi.NamespaceActive }},
			aged,
		}
	}
	columns := append([]column{name}, furtherColumns(kind)...)
	if unaged[kind] {
		return columns
	}
	return append(columns, aged)
}

func secretCell(f func(*hostapi.Secret) any) func(hostapi.Document, time.Time) any {
	return func(d hostapi.Document, _ time.Time) any {
		if s, ok := d.(*hostapi.Secret); ok {
			return f(s)
		}
		return nil
	}
}

func hostColumns() []column {
	col := func(name, what string, priority int, f func(h *hostapi.Host) string) column {
		return column{Name: name, Type: "string", Description: what, Priority: priority,
			cell: func(d hostapi.Document, _ time.Time) any {
				if h, ok := d.(*hostapi.Host); ok {
					return f(h)
				}
				return ""
			}}
	}
	return []column{
		col("Status", "Operational status", 1, func(h *hostapi.Host) string { return string(h.Status.OperationalStatus) }),
		col("State", "State of provisioning", 0, func(h *hostapi.Host) string { return string(h.Status.Provisioning.State) }),
		col("Consumer", "Who uses the host", 0, func(h *hostapi.Host) string {
			if h.Spec.ConsumerRef == nil {
				return ""
			}
			return h.Spec.ConsumerRef.Name
		}),
		col("BMC", "Address of the machine's controller", 1, func(h *hostapi.Host) string { return h.Spec.BMC.Address }),
		col("Online", "Whether the host is to be powered on", 0, func(h *hostapi.Host) string {
			return strconv.FormatBool(h.Spec.Online)
		}),
		col("Error", "Type of the newest error", 0, func(h *hostapi.Host) string { return string(h.Status.ErrorType) }),
	}
}

// age is a duration as kubectl shows it: two units at the most, and the second
// only while the first is small.
func age(from, now time.Time) string {
	if from.IsZero() {
		return "<unknown>"
	}
	const day = 24 * time.Hour
	d := max(now.Sub(from), 0)
	num := func(n time.Duration) string { return strconv.FormatInt(int64(n), 10) }
	pair := func(a time.Duration, au string, b time.Duration, bu string) string {
		if b == 0 {
			return num(a) + au
		}
		return num(a) + au + num(b) + bu
	}
	switch {
	case d < 2*time.Minute:
		return num(d/time.Second) + "s"
	case d < 10*time.Minute:
		return pair(d/time.Minute, "m", d/time.Second%60, "s")
	case d < 3*time.Hour:
		return num(d/time.Minute) + "m"
	case d < 8*time.Hour:
		return pair(d/time.Hour, "h", d/time.Minute%60, "m")
	case d < 2*day:
		return num(d/time.Hour) + "h"
	case d < 8*day:
		return pair(d/day, "d", d/time.Hour%24, "h")
	case d < 2*365*day:
		return num(d/day) + "d"
	case d < 8*365*day:
		return pair(d/day/365, "y", d/day%365, "d")
	}
	return num(d/day/365) + "y"
}
