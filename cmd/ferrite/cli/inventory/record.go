package inventory

import (
	"encoding/json"
	"maps"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// record describes a noun to the commands list, show and delete. Its objects are found by UUID, or by name where they
// have one.
type record struct {
	session *client.Session
	noun    string          // deploy template
	arg     string          // TEMPLATE
	kind    string          // in paths: deploy_templates
	columns []output.Column // columns of a list
}

// named are the columns of records that have a name: it, or the UUID of a record without, and these fields.
func named(fields ...string) []output.Column {
	return append(append([]output.Column{output.Label()}, output.Columns(fields...)...),
		output.Column{Field: "uuid", Wide: true})
}

// path of one of them, or of a part of it.
func (r record) path(ref string, parts ...string) string {
	path := nodeapi.Root + "/" + r.kind + "/" + url.PathEscape(ref)
	for _, p := range parts {
		path += "/" + p
	}
	return path
}

func (r record) list() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List every " + r.noun,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.listed(cmd, url.Values{"detail": {"True"}})
		},
	}
}

// listOf is list, of all machines or of one.
func (r record) listOf() *cobra.Command {
	cmd := r.list()
	cmd.Use += " [--node NODE]"
	node := cmd.Flags().String("node", "", "only records of this machine")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q := url.Values{"detail": {"True"}}
		if *node != "" {
			q.Set("node", *node)
		}
		return r.listed(cmd, q)
	}
	return cmd
}

// listed prints a list to its end.
func (r record) listed(cmd *cobra.Command, q url.Values) error {
	all, err := r.session.Client.Pages(cmd.Context(), r.kind, q, 0)
	if err != nil {
		return err
	}
	reply, err := json.Marshal(all)
	if err != nil {
		return err
	}
	columns := nodes.NameColumns(cmd.Context(), r.session, r.columns)
	return output.PrintAny(r.session, cmd.OutOrStdout(), reply, output.RowsOf(r.session, reply, columns))
}

func (r record) show() *cobra.Command {
	return &cobra.Command{
		Use:   "show " + r.arg,
		Short: "Show one " + r.noun,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return output.ShowPath(r.session, cmd, r.path(args[0]))
		},
	}
}

func (r record) delete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete " + r.arg + "...",
		Short: "Delete one or more, by UUID or name",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wait.Each(args, func(ref string) error {
				if err := wait.Do(cmd.Context(), r.session, "DELETE", r.path(ref), nil, nil); err != nil {
					return err
				}
				return output.Say(r.session, cmd, "deleted %s %s\n", r.noun, ref)
			})
		},
	}
}

// set changes an object as the flags ask.
func (r record) set(f *recordFlags, cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plain, objects, err := f.given(cmd)
		if err != nil {
			return err
		}
		var ops []nodeapi.Patch
		for _, field := range output.Sorted(plain) {
			ops = append(ops, nodeapi.Patch{Op: "add", Path: "/" + field, Value: plain[field]})
		}
		for _, field := range output.Sorted(objects) {
			for _, key := range output.Sorted(objects[field]) {
				ops = append(ops,
					nodeapi.Patch{Op: "add", Path: "/" + field + "/" + output.Pointer(key), Value: objects[field][key]})
			}
		}
		return nodes.SendPatch(r.session, cmd, r.path(args[0]), ops)
	}
	return cmd
}

// create makes an object of the flags and the fields of besides, and returns it.
func (r record) create(cmd *cobra.Command, f *recordFlags, besides map[string]any) (json.RawMessage, error) {
	body, objects, err := f.given(cmd)
	if err != nil {
		return nil, err
	}
	for field, object := range objects {
		body[field] = object
	}
	maps.Copy(body, besides)
	var reply json.RawMessage
	err = wait.Do(cmd.Context(), r.session, "POST", nodeapi.Root+"/"+r.kind, body, &reply)
	return reply, err
}

// created is create, and prints the new object.
func (r record) created(cmd *cobra.Command, f *recordFlags, besides map[string]any) error {
	reply, err := r.create(cmd, f, besides)
	if err != nil {
		return err
	}
	return output.PrintAny(r.session, cmd.OutOrStdout(), reply, output.Fields(r.session, reply))
}

// createOf makes a new one of a machine, named by its flag, and prints it.
func (r record) createOf(f *recordFlags, cmd *cobra.Command) *cobra.Command {
	node := cmd.Flags().String("node", "", "machine that it belongs to")
	client.Must(cmd.MarkFlagRequired("node"))
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		n, err := nodes.GetNode(cmd.Context(), r.session, *node, "uuid")
		if err != nil {
			return err
		}
		return r.created(cmd, f, map[string]any{"node_uuid": n.UUID})
	}
	return cmd
}

// recordFlags are the fields that create and set have flags for. Maps but the
// last are by flag, which is the field with dashes.
type recordFlags struct {
	steps string
	// complete adds the required fields that people may omit to a step. place is the step's index from 0.
	complete func(place int, step map[string]any)
	texts    map[string]*string
	bools    map[string]*bool
	numbers  map[string]*int
	lists    map[string]*string           // JSON, or a file of JSON or YAML
	objects  map[string]*flags.ObjectFlag // by field
}

// object adds a flag for the keys of a field that is an object.
func (f *recordFlags) object(cmd *cobra.Command, flag, field, help string) {
	if f.objects == nil {
		f.objects = map[string]*flags.ObjectFlag{}
	}
	o := &flags.ObjectFlag{Flag: flag, Read: output.JsonOrText}
	cmd.Flags().StringArrayVar(&o.Args, flag, nil, help)
	f.objects[field] = o
}

// extra adds the flag that nearly every record has.
func (f *recordFlags) extra(cmd *cobra.Command) {
	f.object(cmd, "extra", "extra", "KEY=VALUE for your own use; repeat it")
}

// given returns the fields of the flags in use; objects are by key.
func (f *recordFlags) given(cmd *cobra.Command) (plain map[string]any, objects map[string]map[string]any, err error) {
	plain, objects = map[string]any{}, map[string]map[string]any{}
	given(cmd, f.texts, plain)
	given(cmd, f.bools, plain)
	given(cmd, f.numbers, plain)
	for flag, what := range f.lists {
		if !cmd.Flags().Changed(flag) {
			continue
		}
		if plain[output.FieldOf(flag)], err = flags.ReadList(flag, *what); err != nil {
			return nil, nil, err
		}
	}
	if f.steps != "" {
		if plain["steps"], err = f.completed(); err != nil {
			return nil, nil, err
		}
	}
	for field, o := range f.objects {
		if len(o.Args) == 0 {
			continue
		}
		if objects[field], err = output.Pairs(o.Flag, o.Args, o.Read); err != nil {
			return nil, nil, err
		}
	}
	return plain, objects, nil
}

// given adds the used flags of a type to plain.
func given[T any](cmd *cobra.Command, flags map[string]*T, plain map[string]any) {
	for flag, value := range flags {
		if cmd.Flags().Changed(flag) {
			plain[output.FieldOf(flag)] = *value
		}
	}
}

// completed returns the steps with the fields that the API requires.
func (f *recordFlags) completed() ([]any, error) {
	steps, err := flags.ReadList("steps", f.steps)
	for i, s := range steps {
		if step, ok := s.(map[string]any); ok {
			f.complete(i, step)
		}
	}
	return steps, err
}
