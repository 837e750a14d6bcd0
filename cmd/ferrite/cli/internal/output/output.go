// Package output prints answers as table, JSON or YAML. Text of machines is shown, and
// never obeyed, by the terminal.
package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// PrintAny writes an answer in the form that was asked for. t is its form for people; nil for none.
func PrintAny(s *client.Session, w io.Writer, answer any, t *Table) error {
	reply, err := raw(answer)
	if err != nil {
		return err
	}
	switch {
	case s.Output == "json", s.Output == "yaml":
		return printDocument(s, w, reply)
	case s.Output == "name":
		return printNames(w, reply)
	case s.Template() != "":
		return printTemplate(w, s.Template(), reply)
	case t.err != nil:
		return t.err
	}
	text := t.render(ScreenOf(w))
	if text == "" {
		text = "nothing is set"
	}
	_, err = fmt.Fprintln(w, text)
	return err
}

// raw is an answer as JSON. Bytes are as they came.
func raw(answer any) (json.RawMessage, error) {
	switch answer := answer.(type) {
	case json.RawMessage:
		return answer, nil
	case []byte:
		return answer, nil
	}
	return json.Marshal(answer)
}

// PrintSome writes the replies of several requests as PrintAny does for programs: one as it is, more as a list.
func PrintSome(s *client.Session, cmd *cobra.Command, asked int, replies []json.RawMessage) error {
	if asked == 1 && len(replies) == 1 {
		return PrintAny(s, cmd.OutOrStdout(), replies[0], nil)
	}
	if replies == nil {
		replies = []json.RawMessage{}
	}
	return PrintAny(s, cmd.OutOrStdout(), replies, nil)
}

// Say prints a sentence about the outcome: on stdout for people, else on stderr, since a program reads stdout.
func Say(s *client.Session, cmd *cobra.Command, format string, args ...any) error {
	w := cmd.OutOrStdout()
	if !s.People() {
		w = cmd.ErrOrStderr()
	}
	_, err := io.WriteString(w, ScreenOf(w).Wrap(Visible(fmt.Sprintf(format, args...))))
	return err
}

// printDocument writes a reply as JSON or YAML.
func printDocument(s *client.Session, w io.Writer, reply json.RawMessage) error {
	write := plainJSON
	if s.Output == "yaml" {
		write = plainYAML
	}
	doc, err := write(reply)
	if err != nil {
		return fmt.Errorf("the conductor's answer: %w", err)
	}
	_, err = w.Write(doc)
	return err
}

// plainJSON writes a document anew, with as few escapes as JSON allows: Ironic escapes all characters outside ASCII,
// some of them in a way that YAML does not know.
func plainJSON(reply json.RawMessage) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(reply))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(visibleJSON(b.String())), nil
}

// decoded reads an answer for a table.
func (t *Table) decoded(reply json.RawMessage, into any) *Table {
	if err := json.Unmarshal(reply, into); err != nil {
		t.err = fmt.Errorf("the conductor's answer: %w", err)
	}
	return t
}

// Fields is a table of one object: a row for each of its fields that has a value, and for all with -o wide.
func Fields(s *client.Session, reply json.RawMessage) *Table {
	var object map[string]any
	t := NewTable().decoded(reply, &object)
	var value any
	if t.err != nil && json.Unmarshal(reply, &value) == nil { // it is no object: a number, a text
		t = NewTable()
		t.Row(Cell(value))
	}
	for _, name := range Sorted(object) {
		text := FieldText(name, object[name])
		if slices.Contains([]string{"links", "ports", "states", "portgroups", "volume"}, name) ||
			text == "" && !s.Wide() {
			continue
		}
		t.Row(name, text)
	}
	return t
}

// Named is a table of the fields of one object that were asked for, in that order, also those without a value.
func Named(reply json.RawMessage, fields []string) *Table {
	var object map[string]any
	t := NewTable().decoded(reply, &object)
	for _, name := range fields {
		t.Row(name, FieldText(name, object[name]))
	}
	return t
}

// Column is a column of a list.
type Column struct {
	Field string
	Head  string // Field when empty
	Wide  bool   // with -o wide alone
	// Text is the cell's text for an item. Nil: its field.
	Text func(item map[string]any) string
}

// Label is the column of names; a record without has its UUID there.
func Label() Column {
	return Column{Field: "name", Text: func(item map[string]any) string {
		return cmp.Or(Cell(item["name"]), Cell(item["uuid"]))
	}}
}

// Columns makes columns of fields.
func Columns(fields ...string) []Column {
	all := make([]Column, len(fields))
	for i, f := range fields {
		all[i].Field = f
	}
	return all
}

// RowsOf is a table of a list of objects. Columns that are empty in every row are left out.
func RowsOf(s *client.Session, reply json.RawMessage, columns []Column) *Table {
	var items []map[string]any
	t := (&Table{sparse: true}).decoded(reply, &items)
	shown := slices.DeleteFunc(slices.Clone(columns), func(c Column) bool { return c.Wide && !s.Wide() })
	for _, c := range shown {
		t.head = append(t.head, c.head())
	}
	for _, item := range items {
		row := make([]string, len(shown))
		for i, c := range shown {
			row[i] = c.text(item)
		}
		t.Row(row...)
	}
	return t
}

func (c Column) head() string { return strings.ReplaceAll(cmp.Or(c.Head, c.Field), "_", " ") }

func (c Column) text(item map[string]any) string {
	if c.Text != nil {
		return c.Text(item)
	}
	return FieldText(c.Field, item[c.Field])
}

// Sorted returns the keys of a map in order.
func Sorted[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
