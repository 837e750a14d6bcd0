package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// PrintAny writes a reply in the form that was asked for; rows says how it looks
// as a table.
func PrintAny(s *client.Session, w io.Writer, reply json.RawMessage, rows func(t table.Writer) error) error {
	if s.Output == "json" || s.Output == "yaml" {
		return printDocument(s, w, reply)
	}
	t := visibleTable{table.NewWriter()}
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	if err := rows(t); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

// printDocument writes a reply as JSON or YAML.
func printDocument(s *client.Session, w io.Writer, reply json.RawMessage) error {
	doc, err := plainJSON(reply)
	if err != nil {
		return fmt.Errorf("the conductor's answer: %w", err)
	}
	if s.Output == "yaml" {
		// It takes no control characters, and escapes those that come escaped. Marks
		// of direction it writes as they are.
		if doc, err = yaml.JSONToYAML(doc); err != nil {
			return fmt.Errorf("the conductor's answer as YAML: %w", err)
		}
	}
	_, err = w.Write(doc)
	return err
}

// plainJSON writes a document anew, with nothing escaped that need not be: Ironic
// escapes whatever is not ASCII, some of it in a way that YAML does not know.
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

// ShowPath reads one object and prints it.
func ShowPath(s *client.Session, cmd *cobra.Command, path string) error {
	var reply json.RawMessage
	if err := s.Client.Do(cmd.Context(), "GET", path, nil, &reply); err != nil {
		return err
	}
	return PrintAny(s, cmd.OutOrStdout(), reply, Fields(reply))
}

// Wide is how many characters of one value a table shows on a line.
const Wide = 100

// Fields is a table of one object: a row for each of its fields but links.
func Fields(reply json.RawMessage) func(t table.Writer) error {
	return func(t table.Writer) error {
		var object map[string]any
		if err := json.Unmarshal(reply, &object); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		t.AppendHeader(table.Row{"Field", "Value"})
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: Wide}})
		for _, name := range Sorted(object) {
			if !slices.Contains([]string{"links", "ports", "states", "portgroups", "volume"}, name) {
				t.AppendRow(table.Row{name, Cell(object[name])})
			}
		}
		return nil
	}
}

// RowsOf is a table of a list of objects, with these columns.
func RowsOf(reply json.RawMessage, columns []string) func(t table.Writer) error {
	return func(t table.Writer) error {
		var items []map[string]any
		if err := json.Unmarshal(reply, &items); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		header, widths := make(table.Row, len(columns)), make([]table.ColumnConfig, len(columns))
		for i, c := range columns {
			widths[i] = table.ColumnConfig{Number: i + 1, WidthMax: Wide}
			header[i] = strings.ReplaceAll(c, "_", " ")
		}
		t.AppendHeader(header)
		t.SetColumnConfigs(widths)
		for _, item := range items {
			row := make(table.Row, len(columns))
			for i, c := range columns {
				row[i] = Cell(item[c])
			}
			t.AppendRow(row)
		}
		return nil
	}
}

// Cell is a value as people read it: nothing for null.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return fmt.Sprint(v)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
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
