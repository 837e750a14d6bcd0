package noun

import (
	"encoding/json"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// print prints an answer in the form that was asked for.
func (c call) print(cmd *cobra.Command, args []string, reply json.RawMessage) (err error) {
	columns := c.verb.Columns
	if columns == nil {
		columns = c.Columns
	}
	var rows func(table.Writer) error
	switch {
	case c.verb.Rows != nil:
		rows = c.verb.Rows(reply)
	case c.verb.Key == "":
		reply = unwrapped(reply, args)
		rows = output.Fields(c.Session, reply)
	case len(columns) == 1 && columns[0].Text == nil && isTexts(reply):
		rows = textRows(columns[0].Field, reply)
	default:
		if c.verb.Key == "{}" {
			if reply, err = byName(reply); err != nil {
				return err
			}
		}
		rows = output.RowsOf(c.Session, reply, nodes.NameColumns(cmd.Context(), c.Session, columns))
	}
	return output.PrintAny(c.Session, cmd.OutOrStdout(), reply, rows)
}

// unwrapped is an object; the one within where it is wrapped under the name that was asked for.
func unwrapped(reply json.RawMessage, args []string) json.RawMessage {
	var object map[string]json.RawMessage
	if len(args) == 0 || json.Unmarshal(reply, &object) != nil {
		return reply
	}
	delete(object, "links")
	if inner, ok := object[args[len(args)-1]]; ok && len(object) == 1 {
		return inner
	}
	return reply
}

// byName is a list of the objects that an answer has by their names.
func byName(reply json.RawMessage) (json.RawMessage, error) {
	var objects map[string]map[string]any
	if err := json.Unmarshal(reply, &objects); err != nil {
		return nil, fmt.Errorf("the conductor's answer: %w", err)
	}
	list := []map[string]any{}
	for _, name := range output.Sorted(objects) {
		objects[name]["name"] = name
		list = append(list, objects[name])
	}
	return json.Marshal(list)
}

// isTexts reports whether a list has texts in place of records.
func isTexts(reply json.RawMessage) bool {
	var texts []string
	return json.Unmarshal(reply, &texts) == nil
}

// textRows is a table of a list of texts.
func textRows(head string, list json.RawMessage) func(t table.Writer) error {
	return func(t table.Writer) error {
		var texts []string
		if err := json.Unmarshal(list, &texts); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		t.AppendHeader(table.Row{head})
		for _, text := range texts {
			t.AppendRow(table.Row{text})
		}
		return nil
	}
}
