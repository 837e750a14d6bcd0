package node

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
)

// partCommands are the commands of all parts.
func partCommands(s *client.Session) (all []*cobra.Command) {
	for _, g := range partGroups {
		var below []*cobra.Command
		for _, r := range g.readings {
			below = append(below, r.command(s))
		}
		for _, c := range g.changes {
			below = append(below, c.command(s, g.name))
		}
		if len(g.changes) == 1 && g.changes[0].name == "" {
			all = append(all, below...)
			continue
		}
		all = append(all, client.Group(g.name, g.short, g.long, below...))
	}
	return all
}

func (r reading) command(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use: r.name + " " + r.use, Short: r.short, Args: cobra.ExactArgs(len(strings.Fields(r.use))),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := client.NodePath(args[0]) + partPath(r.part, args)
			var reply json.RawMessage
			if err := s.Client.Do(cmd.Context(), "GET", path, nil, &reply); err != nil {
				return err
			}
			if r.key == "" {
				return printPart(s, cmd, args, reply)
			}
			list, err := r.list(reply)
			if err != nil {
				return err
			}
			if r.columns == nil {
				return output.PrintAny(s, cmd.OutOrStdout(), list, textRows(list))
			}
			return output.PrintAny(s, cmd.OutOrStdout(), list, output.RowsOf(s, list, r.columns))
		},
	}
}

// list is the list of an answer.
func (r reading) list(reply json.RawMessage) (json.RawMessage, error) {
	if r.key == "[]" {
		return reply, nil
	}
	if r.key == "{}" {
		return byName(reply)
	}
	page := map[string]json.RawMessage{r.key: json.RawMessage("[]")}
	if err := json.Unmarshal(reply, &page); err != nil {
		return nil, fmt.Errorf("the conductor's answer: %w", err)
	}
	return page[r.key], nil
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

// printPart prints an object. An object that is wrapped under its own name is unwrapped.
func printPart(s *client.Session, cmd *cobra.Command, args []string, reply json.RawMessage) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(reply, &object); err != nil {
		return fmt.Errorf("the conductor's answer: %w", err)
	}
	delete(object, "links")
	if inner, ok := object[args[len(args)-1]]; ok && len(object) == 1 {
		reply = inner
	}
	return output.PrintAny(s, cmd.OutOrStdout(), reply, output.Fields(s, reply))
}

// textRows is a table of a list of texts.
func textRows(list json.RawMessage) func(t table.Writer) error {
	return func(t table.Writer) error {
		var texts []string
		if err := json.Unmarshal(list, &texts); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		t.AppendHeader(table.Row{"uuid"})
		for _, text := range texts {
			t.AppendRow(table.Row{text})
		}
		return nil
	}
}

// partPath is the part of a path below a node, with the argument after the node in the place of {}.
func partPath(part string, args []string) string {
	if strings.Contains(part, "{}") {
		part = strings.ReplaceAll(part, "{}", url.PathEscape(args[1]))
	}
	if strings.HasPrefix(part, "?") {
		return part
	}
	return "/" + part
}

func (c change) command(s *client.Session, group string) *cobra.Command {
	name, several := c.name, strings.HasPrefix(c.use, "NODE...")
	if name == "" {
		name = group
	}
	values := map[string]*string{}
	cmd := &cobra.Command{Use: name + " " + c.use, Short: c.short, Example: c.example, Args: cobra.MinimumNArgs(1)}
	for _, f := range c.flags {
		values[f.flag] = cmd.Flags().String(f.flag, "", f.help)
		if f.required {
			client.Must(cmd.MarkFlagRequired(f.flag))
		}
	}
	if several {
		caution.Care{}.Add(s, cmd)
	} else {
		cmd.Args = cobra.ExactArgs(1 + strings.Count(c.part, "{}"))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := c.request(values)
		if err != nil {
			return err
		}
		nodes := args
		if !several {
			nodes = args[:1]
		}
		return wait.Each(nodes, func(node string) error { return r.send(s, cmd, node, args) })
	}
	return cmd
}

// partRequest is the request for a change.
type partRequest struct {
	method, part string
	body         any
}

// request builds the request from the flags.
func (c change) request(values map[string]*string) (r partRequest, err error) {
	r = partRequest{c.method, c.part, nil}
	body, query := map[string]any{}, url.Values{}
	maps.Copy(body, c.body)
	for _, f := range c.flags {
		value := *values[f.flag]
		switch {
		case value == "":
		case f.flag == "http-method":
			r.method = strings.ToUpper(value)
		case f.json:
			if body, err = flags.ReadObject(f.flag, value); err != nil {
				return r, err
			}
		case c.method == http.MethodDelete:
			query.Set(f.field, value)
		default:
			body[f.field] = value
		}
	}
	if len(query) > 0 {
		r.part += "?" + query.Encode()
	}
	if r.method != http.MethodDelete && r.method != http.MethodGet {
		r.body = body
	}
	return r, nil
}

// send asks for the change of one node, and says so, or prints the answer if there is one.
func (r partRequest) send(s *client.Session, cmd *cobra.Command, node string, args []string) error {
	path := client.NodePath(node) + partPath(r.part, args)
	var reply json.RawMessage
	err := wait.Unlocked(cmd.Context(), node, func(ctx context.Context, _ string) error {
		return s.Client.Do(ctx, r.method, path, r.body, &reply)
	})
	if err != nil {
		return refused(cmd.Context(), s, cmd, node, err)
	}
	if len(reply) > 0 && string(reply) != "null" {
		return output.PrintAny(s, cmd.OutOrStdout(), reply, output.Fields(s, reply))
	}
	return output.Say(s, cmd, "%s: %s done\n", node, typed(cmd))
}
