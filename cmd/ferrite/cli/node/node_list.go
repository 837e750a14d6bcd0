package node

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

func nodeList(s *client.Session) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List machines",
		Example: "  ferrite node list --provision-state available\n  ferrite node list --fields name,driver,last_error",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listNodes(s, cmd, o)
		},
	}
	f := cmd.Flags()
	for _, t := range []struct{ flag, param, help string }{
		{"provision-state", "provision_state", `only machines in this state, like "available"`},
		{"driver", "driver", "only machines of this hardware type"},
		{"resource-class", "resource_class", "only machines of this resource class"},
		{"instance", "instance_uuid", "only the machine with this instance UUID"},
		{"owner", "owner", "only machines of this owner"},
		{"lessee", "lessee", "only machines of this lessee"},
		{"fault", "fault", `only machines with this fault, like "clean failure"`},
		{"marker", "marker", "UUID of the last node of the previous page"},
	} {
		v := new(string)
		f.StringVar(v, t.flag, "", t.help)
		o.texts = append(o.texts, param{t.param, v})
	}
	f.BoolVar(&o.maintenance, "maintenance", false, "only machines in maintenance; --maintenance=false for the others")
	f.BoolVar(&o.associated, "associated", false, "only machines with an instance; --associated=false for the others")
	f.BoolVar(&o.long, "long", false, "all fields")
	f.StringVar(&o.fields, "fields", "", "fields to show, separated by commas")
	f.IntVar(&o.limit, "limit", 0, "largest number of machines; 0 for all")
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

func listNodes(s *client.Session, cmd *cobra.Command, o listOptions) error {
	nodes, err := s.Client.Pages(cmd.Context(), "nodes", o.query(cmd), o.limit)
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
	return output.PrintAny(s, cmd.OutOrStdout(), reply, output.RowsOf(reply, columns))
}
