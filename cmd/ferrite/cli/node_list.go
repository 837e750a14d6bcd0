package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeList(s *session) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List machines",
		Example: "  ferrite node list --provision-state available\n  ferrite node list --fields name,driver,last_error",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.listNodes(cmd, o)
		},
	}
	f := cmd.Flags()
	for _, t := range []struct{ flag, param, help string }{
		{"provision-state", "provision_state", `only those in this state, like "available"`},
		{"driver", "driver", "only those of this hardware type"},
		{"resource-class", "resource_class", "only those of this resource class"},
		{"instance", "instance_uuid", "only the one that runs this instance"},
		{"owner", "owner", "only those of this owner"},
		{"lessee", "lessee", "only those on loan to this lessee"},
		{"fault", "fault", `only those with this fault, like "clean failure"`},
		{"marker", "marker", "UUID of the last node of the page before"},
	} {
		v := new(string)
		f.StringVar(v, t.flag, "", t.help)
		o.texts = append(o.texts, param{t.param, v})
	}
	f.BoolVar(&o.maintenance, "maintenance", false, "only those in maintenance; --maintenance=false for the others")
	f.BoolVar(&o.associated, "associated", false, "only those with an instance; --associated=false for the others")
	f.BoolVar(&o.long, "long", false, "all fields")
	f.StringVar(&o.fields, "fields", "", "these fields, between commas")
	f.IntVar(&o.limit, "limit", 0, "at most so many; 0 for all")
	f.StringVar(&o.sort, "sort", "", "FIELD or FIELD:desc")
	cmd.MarkFlagsMutuallyExclusive("long", "fields")
	return cmd
}

type param struct {
	name  string
	value *string
}

type listOptions struct {
	texts                         []param
	maintenance, associated, long bool
	fields, sort                  string
	limit                         int
}

// query is the options as the API has them.
func (o listOptions) query(cmd *cobra.Command) url.Values {
	q := url.Values{}
	for _, t := range o.texts {
		if *t.value != "" {
			q.Set(t.name, *t.value)
		}
	}
	for flag, value := range map[string]bool{"maintenance": o.maintenance, "associated": o.associated} {
		if cmd.Flags().Changed(flag) {
			q.Set(flag, strconv.FormatBool(value))
		}
	}
	switch {
	case o.long:
		q.Set("detail", "True")
	case o.fields != "":
		q.Set("fields", o.fields)
	}
	if o.limit > 0 {
		q.Set("limit", strconv.Itoa(o.limit))
	}
	if key, dir, _ := strings.Cut(o.sort, ":"); key != "" {
		q.Set("sort_key", key)
		if dir != "" {
			q.Set("sort_dir", dir)
		}
	}
	return q
}

func (s *session) listNodes(cmd *cobra.Command, o listOptions) error {
	nodes, err := s.pages(cmd, "nodes", o.query(cmd), o.limit)
	if err != nil {
		return err
	}
	reply, err := json.Marshal(nodes)
	if err != nil {
		return err
	}
	columns := []string{"uuid", "name", "instance_uuid", "power_state", "provision_state", "maintenance"}
	if o.fields != "" {
		columns = strings.Split(o.fields, ",")
	}
	return s.print(cmd.OutOrStdout(), reply, rowsOf(reply, columns))
}

// rowsOf is a table of a list of objects, with these columns.
func rowsOf(reply json.RawMessage, columns []string) func(t table.Writer) error {
	return func(t table.Writer) error {
		var items []map[string]any
		if err := json.Unmarshal(reply, &items); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		header := make(table.Row, len(columns))
		for i, c := range columns {
			header[i] = strings.ReplaceAll(c, "_", " ")
		}
		t.AppendHeader(header)
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

// pages reads a list to its end, or until limit items are there.
func (s *session) pages(cmd *cobra.Command, kind string, q url.Values, limit int) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	for {
		var page map[string]json.RawMessage
		if err := s.client.do(cmd.Context(), "GET", nodeapi.Root+"/"+kind+"?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		var some []json.RawMessage
		if err := json.Unmarshal(page[kind], &some); err != nil {
			return nil, fmt.Errorf("list of %s: %w", kind, err)
		}
		items = append(items, some...)
		if len(page["next"]) == 0 || len(some) == 0 || limit > 0 && len(items) >= limit {
			return items, nil
		}
		var last struct {
			UUID string `json:"uuid"`
		}
		if err := json.Unmarshal(some[len(some)-1], &last); err != nil || last.UUID == "" {
			return nil, fmt.Errorf("there are more %s, but these fields do not tell where to go on: add uuid to --fields", kind)
		}
		q.Set("marker", last.UUID)
	}
}
