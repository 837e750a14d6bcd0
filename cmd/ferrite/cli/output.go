package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// print writes a reply in the form that was asked for; rows says how it looks
// as a table.
func (s *session) print(w io.Writer, reply json.RawMessage, rows func(t table.Writer) error) error {
	if s.output == "json" || s.output == "yaml" {
		return s.printDocument(w, reply)
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
func (s *session) printDocument(w io.Writer, reply json.RawMessage) error {
	doc, err := plainJSON(reply)
	if err != nil {
		return fmt.Errorf("the conductor's answer: %w", err)
	}
	if s.output == "yaml" {
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

// show reads one object and prints it.
func (s *session) show(cmd *cobra.Command, path string) error {
	var reply json.RawMessage
	if err := s.client.do(cmd.Context(), "GET", path, nil, &reply); err != nil {
		return err
	}
	return s.print(cmd.OutOrStdout(), reply, fields(reply))
}

// wide is how many characters of one value a table shows on a line.
const wide = 100

// fields is a table of one object: a row for each of its fields but links.
func fields(reply json.RawMessage) func(t table.Writer) error {
	return func(t table.Writer) error {
		var object map[string]any
		if err := json.Unmarshal(reply, &object); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		t.AppendHeader(table.Row{"Field", "Value"})
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: wide}})
		for _, name := range sorted(object) {
			if !slices.Contains([]string{"links", "ports", "states", "portgroups", "volume"}, name) {
				t.AppendRow(table.Row{name, cell(object[name])})
			}
		}
		return nil
	}
}

// rowsOf is a table of a list of objects, with these columns.
func rowsOf(reply json.RawMessage, columns []string) func(t table.Writer) error {
	return func(t table.Writer) error {
		var items []map[string]any
		if err := json.Unmarshal(reply, &items); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		header, widths := make(table.Row, len(columns)), make([]table.ColumnConfig, len(columns))
		for i, c := range columns {
			widths[i] = table.ColumnConfig{Number: i + 1, WidthMax: wide}
			header[i] = strings.ReplaceAll(c, "_", " ")
		}
		t.AppendHeader(header)
		t.SetColumnConfigs(widths)
		for _, item := range items {
			row := make(table.Row, len(columns))
			for i, c := range columns {
				row[i] = cell(item[c])
			}
			t.AppendRow(row)
		}
		return nil
	}
}

// cell is a value as people read it: nothing for null.
func cell(v any) string {
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

func sorted[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
