package cli

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// record is a noun whose objects belong to no machine and are found by name or
// UUID: what list, show and delete have to know of it.
type record struct {
	session *session
	noun    string   // deploy template
	arg     string   // TEMPLATE
	kind    string   // in paths: deploy_templates
	columns []string // of a list
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

// listed prints a list to its end.
func (r record) listed(cmd *cobra.Command, q url.Values) error {
	all, err := r.session.client.pages(cmd.Context(), r.kind, q, 0)
	if err != nil {
		return err
	}
	reply, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return r.session.print(cmd.OutOrStdout(), reply, rowsOf(reply, r.columns))
}

func (r record) show() *cobra.Command {
	return &cobra.Command{
		Use:   "show " + r.arg,
		Short: "Show one " + r.noun,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.session.show(cmd, r.path(args[0]))
		},
	}
}

func (r record) delete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete " + r.arg + "...",
		Short: "Forget one or more of them",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return each(args, func(ref string) error {
				if err := r.session.client.do(cmd.Context(), "DELETE", r.path(ref), nil, nil); err != nil {
					return err
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "deleted %s %s\n", r.noun, ref)
				return err
			})
		},
	}
}

// set changes one by what the flags say; --name gives it another name.
func (r record) set(f *recordFlags, cmd *cobra.Command) *cobra.Command {
	name := cmd.Flags().String("name", "", "its new name")
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plain, extra, err := f.given(cmd)
		if err != nil {
			return err
		}
		if *name != "" {
			plain["name"] = *name
		}
		var ops []nodeapi.Patch
		for _, field := range sorted(plain) {
			ops = append(ops, nodeapi.Patch{Op: "add", Path: "/" + field, Value: plain[field]})
		}
		for _, key := range sorted(extra) {
			ops = append(ops, nodeapi.Patch{Op: "add", Path: "/extra/" + pointer(key), Value: extra[key]})
		}
		return r.session.patch(cmd, r.path(args[0]), ops)
	}
	return cmd
}

// create makes a new one of what the flags say, and returns it.
func (r record) create(cmd *cobra.Command, name string, f *recordFlags) (json.RawMessage, error) {
	body, extra, err := f.given(cmd)
	if err != nil {
		return nil, err
	}
	body["name"] = name
	if len(extra) > 0 {
		body["extra"] = extra
	}
	var reply json.RawMessage
	err = r.session.client.do(cmd.Context(), "POST", nodeapi.Root+"/"+r.kind, body, &reply)
	return reply, err
}

// recordFlags are the fields that create and set have flags for.
type recordFlags struct {
	steps string
	// complete adds to a step, by its place from 0 on, what the API insists on and
	// people need not say.
	complete func(place int, step map[string]any)
	extra    []string
	texts    map[string]*string // by flag, which is the field with dashes
	bools    map[string]*bool
}

// given is the fields whose flags were used, but extra, which is by key.
func (f *recordFlags) given(cmd *cobra.Command) (plain, extra map[string]any, err error) {
	plain = map[string]any{}
	for flag, value := range f.texts {
		if cmd.Flags().Changed(flag) {
			plain[fieldOf(flag)] = *value
		}
	}
	for flag, value := range f.bools {
		if cmd.Flags().Changed(flag) {
			plain[fieldOf(flag)] = *value
		}
	}
	if f.steps != "" {
		steps, err := readSteps(f.steps)
		if err != nil {
			return nil, nil, err
		}
		for i, s := range steps {
			if step, ok := s.(map[string]any); ok {
				f.complete(i, step)
			}
		}
		plain["steps"] = steps
	}
	extra, err = pairs("extra", f.extra, jsonOrText)
	return plain, extra, err
}
