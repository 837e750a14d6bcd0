package noun

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// print prints an answer in the form that was asked for.
func (c call) print(cmd *cobra.Command, args []string, reply json.RawMessage) (err error) {
	columns := c.verb.Columns
	if columns == nil {
		columns = c.Columns
	}
	var t *output.Table
	switch {
	case c.verb.Rows != nil:
		t, err = c.verb.Rows(c.Session, reply)
	case c.verb.Key == "":
		reply = unwrapped(reply, args)
		t = output.Fields(c.Session, reply)
	case len(columns) == 1:
		t = textRows(columns[0].Field, reply)
	case c.verb.Key == "{}":
		reply, err = byName(reply)
	}
	if err != nil {
		return err
	}
	if t == nil {
		t = output.RowsOf(c.Session, reply, nodes.NameColumns(cmd.Context(), c.Session, columns))
	}
	return output.PrintAny(c.Session, cmd.OutOrStdout(), reply, t)
}

// Rows is the table of an answer of type T.
func Rows[T any](table func(*client.Session, T) *output.Table) func(*client.Session, json.RawMessage) (*output.Table,
	error) {
	return func(s *client.Session, reply json.RawMessage) (*output.Table, error) {
		var answer T
		if err := json.Unmarshal(reply, &answer); err != nil {
			return nil, fmt.Errorf("the conductor's answer: %w", err)
		}
		return table(s, answer), nil
	}
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

// textRows is a table of a list of texts; nil for a list of records.
func textRows(head string, list json.RawMessage) *output.Table {
	var texts []string
	if json.Unmarshal(list, &texts) != nil {
		return nil
	}
	t := output.NewTable(head)
	for _, text := range texts {
		t.Row(text)
	}
	return t
}
