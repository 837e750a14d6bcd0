package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeList(s *client.Session) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List machines, with their states and problems",
		Long: `List machines. The column problem has maintenance, a fault, or the beginning of the last error;
ferrite node status NODE has all of it. -o wide adds MAC and IP addresses, and more. -o json
has the API's short form of each machine; --long has all fields.

--selector has conditions on fields, with commas between them: FIELD=PATTERN or FIELD!=PATTERN.
A pattern may contain *. Short names are state, power, class, trait, group, instance and error.`,
		Example: `  ferrite node list --provision-state available
  ferrite node list --name 'web-*' --trait CUSTOM_GPU -o wide
  ferrite node list -l state!=active,extra.rack=7 -o name
  ferrite node list --fields name,driver,last_error
  ferrite node list --watch`,
	}
	f := cmd.Flags()
	flags := noun.AddFlags(cmd, "GET", listFields())
	f.StringVar(&o.name, "name", "", "only machines with a name of this `pattern`, like web-*")
	f.StringVar(&o.trait, "trait", "", "only machines with this trait")
	f.StringVarP(&o.selector, "selector", "l", "", nodes.SelectorHelp)
	f.BoolVar(&o.long, "long", false, "all fields")
	f.StringVar(&o.fields, "fields", "", "fields to show, separated by commas")
	f.IntVar(&o.limit, "limit", 0, "largest number of machines; 0 for all")
	f.StringVar(&o.sort, "sort", "", "FIELD or FIELD:desc")
	f.BoolVarP(&o.watch, "watch", "w", false, "list changed machines again, until Ctrl-C")
	cmd.MarkFlagsMutuallyExclusive("long", "fields")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		given, err := flags.Read(cmd, s)
		if err != nil {
			return err
		}
		o.filters = given.Query()
		if err := o.check(); err != nil {
			return err
		}
		if o.watch {
			return watchNodes(s, cmd, o)
		}
		return listNodes(s, cmd, o)
	}
	return cmd
}

// listFields are the filters of the API.
func listFields() []noun.Field {
	all := []noun.Field{
		{Name: "marker", Help: "UUID of the last node of the previous page"},
		{Name: "maintenance", Value: false, Help: "only machines in maintenance; --maintenance=false for the others"},
		{Name: "associated", Value: false, Help: "only machines with an instance; --associated=false for the others"},
		{Name: "retired", Value: false, Help: "only retired machines; --retired=false for the others"},
		{Name: "sharded", Value: false, Help: "only machines with a shard; --sharded=false for the others"},
		{Name: "description_contains", Help: "only machines with this text in their description"},
		{Name: "include_children", Value: false, Help: "also machines that are parts of others"},
		{Name: "parent_node", Kind: noun.Node, Help: "only parts of this machine"},
		{Name: "chassis_uuid", Flag: "chassis", Help: "only machines in the chassis with this UUID"},
		{Name: "conductor", Help: "only machines that this conductor looks after"},
	}
	for _, of := range nodeapi.NodeFields() {
		f := noun.Field{Name: of.Name, Flag: of.FlagName(), Help: of.List}
		if of.Name == "instance_uuid" {
			f.Flag = "instance"
		}
		if of.List != "" {
			all = append(all, f)
		}
	}
	return all
}

type listOptions struct {
	filters                             url.Values
	long, watch                         bool
	fields, sort, name, trait, selector string
	limit                               int

	chosen nodes.Selector
}

// check reads the conditions that are looked at here, and refuses states that do not exist.
func (o *listOptions) check() (err error) {
	if state := o.filters.Get("provision_state"); state != "" {
		if err := nodes.CheckState(state); err != nil {
			return exit.Usage(fmt.Errorf("--provision-state: %w", err))
		}
	}
	var conditions []string
	for _, c := range []struct{ text, value string }{{"name=", o.name}, {"traits=", o.trait}, {"", o.selector}} {
		if c.value != "" {
			conditions = append(conditions, c.text+c.value)
		}
	}
	if len(conditions) > 0 {
		o.chosen, err = nodes.ParseSelector(strings.Join(conditions, ","))
	}
	return err
}

// query is the options as the API has them.
func (o listOptions) query(s *client.Session) url.Values {
	q := maps.Clone(o.filters)
	var fields []string
	switch {
	case o.long:
		q.Set("detail", "True")
	case o.fields != "":
		fields = strings.Split(o.fields, ",")
	case s.People():
		fields = peopleFields(s.Wide())
	case len(o.chosen) > 0:
		fields = []string{"uuid", "name", "instance_uuid", "power_state", "provision_state", "maintenance"}
	}
	if len(fields) > 0 {
		fields = append(append(fields, "uuid"), o.chosen.Fields()...) // the next page begins after a UUID
		slices.Sort(fields)
		q.Set("fields", strings.Join(slices.Compact(fields), ","))
	}
	if o.limit > 0 && len(o.chosen) == 0 {
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

// read lists the nodes that are chosen, as the API has them.
func (o listOptions) read(ctx context.Context, s *client.Session, q url.Values) ([]json.RawMessage, error) {
	limit := o.limit
	if len(o.chosen) > 0 {
		limit = 0
	}
	all, err := s.Client.Pages(ctx, "nodes", q, limit)
	var f *nodeapi.Fault
	if errors.As(err, &f) && f.Status == http.StatusNotAcceptable && o.fields == "" {
		q.Del("fields") // an older server lacks some of our fields
		all, err = s.Client.Pages(ctx, "nodes", q, limit)
	}
	if err != nil {
		return nil, err
	}
	chosen := make([]json.RawMessage, 0, len(all))
	for _, raw := range all {
		if o.limit > 0 && len(chosen) == o.limit {
			break
		}
		var n map[string]any
		if err := json.Unmarshal(raw, &n); err != nil {
			return nil, fmt.Errorf("the conductor's answer: %w", err)
		}
		if !o.chosen.Match(n) {
			continue
		}
		if o.fields != "" {
			if raw, err = only(n, strings.Split(o.fields, ",")); err != nil {
				return nil, err
			}
		}
		chosen = append(chosen, raw)
	}
	return chosen, nil
}

// only is a record with the fields that were asked for.
func only(record map[string]any, fields []string) (json.RawMessage, error) {
	for field := range record {
		if !slices.Contains(fields, field) {
			delete(record, field)
		}
	}
	return json.Marshal(record)
}

func listNodes(s *client.Session, cmd *cobra.Command, o listOptions) error {
	all, err := o.read(cmd.Context(), s, o.query(s))
	if err != nil {
		return err
	}
	reply, err := json.Marshal(all)
	if err != nil {
		return err
	}
	columns := output.Columns(strings.Split(o.fields, ",")...)
	if o.fields == "" {
		columns = nodeColumns(cmd.Context(), s)
	}
	return output.PrintAny(s, cmd.OutOrStdout(), reply, output.RowsOf(s, reply, columns))
}
