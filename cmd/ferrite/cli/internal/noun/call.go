package noun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/completion"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
)

// call is a verb of a noun as a command.
type call struct {
	*client.Session
	Noun
	verb Verb
	also After
}

func (c call) command() *cobra.Command {
	v := &c.verb
	fill := strings.NewReplacer("{noun}", cmp.Or(c.Name, c.Noun.Use), "{arg}", c.Arg, "{path}", path.Base(c.Path)).Replace
	v.Use, v.Short, v.Done, v.Key = fill(v.Use), fill(v.Short), fill(v.Done), fill(v.Key)
	v.Method = cmp.Or(v.Method, http.MethodGet)
	cmd := &cobra.Command{Use: v.Use, Short: v.Short, Long: v.Long, Example: v.Example}
	number, repeats := completion.Arguments(v.Use)
	flags := AddFlags(cmd, v.Method, c.fields())
	if strings.Contains(v.Use, " NODE...") {
		v.Care.Add(c.Session, cmd)
	}
	if v.Also != nil {
		c.also = v.Also(c.Session, cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		g, err := flags.Read(cmd, c.Session)
		if err != nil {
			return err
		}
		if columns := g.columns(); columns != nil {
			c.verb.Columns = columns
		}
		if !repeats {
			return c.carryOut(cmd, args, g)
		}
		before, each := args[:number-1], args[number-1:]
		return wait.Each(each, func(arg string) error {
			return c.carryOut(cmd, append(before[:len(before):len(before)], arg), g)
		})
	}
	return cmd
}

// fields are the fields that a verb has flags for: the noun's for a verb that makes or changes a record.
func (c call) fields() []Field {
	if c.verb.Removes {
		return removals(c.Fields)
	}
	if c.verb.Method == http.MethodPatch || c.verb.Method == http.MethodPost && c.verb.Path == "" {
		return append(c.verb.Fields, c.Fields...)
	}
	return c.verb.Fields
}

// carryOut makes one request, and prints the answer or says that it is done.
func (c call) carryOut(cmd *cobra.Command, args []string, g Given) error {
	reply, err := c.request(cmd, args, g)
	if err == nil && c.also != nil {
		reply, err = c.also(cmd, args, reply)
	}
	switch {
	case err != nil && c.Lacks != "":
		return c.Older(err, c.Lacks)
	case err != nil && c.Refused != nil && c.verb.Method != http.MethodGet:
		return c.Refused(cmd.Context(), c.Session, cmd, args[0], err)
	case err != nil:
		return err
	case len(reply) == 0 || string(reply) == "null":
		return output.Say(c.Session, cmd, "%s\n", filled(cmp.Or(c.verb.Done, "{0}: {verb} done"), cmd, args, plainArg))
	}
	return c.print(cmd, args, reply)
}

// request makes the request, and reads a list to its end.
func (c call) request(cmd *cobra.Command, args []string, g Given) (reply json.RawMessage, err error) {
	method := cmp.Or(g.method, c.verb.Method)
	at, query, _ := strings.Cut(cmp.Or(c.verb.Of, c.Path)+filled(c.verb.Path, cmd, args, url.PathEscape), "?")
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	var body any
	switch method {
	case http.MethodGet, http.MethodDelete:
		maps.Copy(q, g.Query())
		if q.Has("fields") { // instead of all
			q.Del("detail")
		}
		if g.limit() == 0 {
			q.Del("limit")
		}
	case http.MethodPatch:
		if body, err = g.Patch(); err != nil {
			return nil, err
		}
	default:
		body = g.Body(c.fixed(cmd, args))
	}
	if c.verb.Key != "" && !strings.ContainsAny(c.verb.Key, "[{") {
		all, err := c.Client.PagesAt(cmd.Context(), at, c.verb.Key, q, g.limit())
		if err != nil {
			return nil, err
		}
		if limit := g.limit(); limit > 0 {
			all = all[:min(limit, len(all))]
		}
		return json.Marshal(all)
	}
	if len(q) > 0 {
		at += "?" + q.Encode()
	}
	if method == http.MethodGet {
		err = c.Client.Do(cmd.Context(), method, at, nil, &reply)
	} else {
		err = wait.Do(cmd.Context(), c.Session, method, at, body, &reply)
	}
	return reply, err
}

// fixed are the fields that a verb has without flags.
func (c call) fixed(cmd *cobra.Command, args []string) map[string]any {
	body := map[string]any{}
	for field, value := range c.verb.Body {
		if text, ok := value.(string); ok {
			value = filled(text, cmd, args, plainArg)
		}
		body[field] = value
	}
	return body
}

func plainArg(arg string) string { return arg }

// filled puts the arguments of a command, and its words below the noun, into a text.
func filled(text string, cmd *cobra.Command, args []string, form func(string) string) string {
	pairs := make([]string, 0, 2*len(args)+2)
	for i, arg := range args {
		pairs = append(pairs, fmt.Sprintf("{%d}", i), form(arg))
	}
	words := strings.SplitN(cmd.CommandPath(), " ", 3)
	return strings.NewReplacer(append(pairs, "{verb}", words[len(words)-1])...).Replace(text)
}
