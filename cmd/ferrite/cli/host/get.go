package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// get is ferrite host get.
func get(s *client.Session) *cobra.Command {
	var g getting
	cmd := &cobra.Command{
		Use:   "get [KIND] [NAME...]",
		Short: "List the documents of hosts, and watch for changes",
		Long: `List documents with the columns that kubectl shows: hosts without a KIND. With -w, changes
are shown until the command is interrupted. A lost connection is made again, and no change
is missed. Kinds are:
` + knownKinds(),
		Example: `  ferrite host get
  ferrite host get -w
  ferrite host get -A -l rack=7 -o wide
  ferrite host get worker-0 -o yaml
  ferrite host get secrets`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeDocuments(s, kindWords()...),
		Annotations:       map[string]string{client.OnlyOutputs: "table,wide,name,json,yaml"},
	}
	namespace := namespaceFlag(cmd)
	f := cmd.Flags()
	f.BoolVarP(&g.watch, "watch", "w", false, "show changes as they come")
	f.BoolVarP(&g.everywhere, "all-namespaces", "A", false, "documents of all namespaces")
	f.StringVarP(&g.selector, "selector", "l", "", "only documents with these labels, like rack=7,row!=2")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		g.Session, g.namespace = s, *namespace
		g.out, g.err = cmd.OutOrStdout(), cmd.ErrOrStderr()
		var err error
		if g.kind, g.names, err = documentArgs(args); err != nil {
			return err
		}
		if err := g.check(f.Changed("namespace")); err != nil {
			return err
		}
		return g.run(cmd.Context())
	}
	return cmd
}

// getting is one get under way.
type getting struct {
	*client.Session
	kind              hostapi.Kind
	names             []string
	namespace         string // "" for all
	watch, everywhere bool
	selector          string
	out, err          io.Writer
	grid              output.Grid // the columns as they are shown so far
	shown             int         // documents, of the forms that have something between them
}

func (g *getting) check(namespaceSaid bool) error {
	if g.everywhere && namespaceSaid {
		return errors.New("--namespace and --all-namespaces exclude each other: leave one out")
	}
	if len(g.names) > 0 && (g.everywhere || g.selector != "") {
		return errors.New("a name is for one document: leave out --all-namespaces and --selector, or the name")
	}
	if g.watch && len(g.names) > 1 {
		return fmt.Errorf("--watch follows one document, or all: found %d names", len(g.names))
	}
	if g.everywhere || !g.kind.Namespaced {
		g.namespace = ""
	}
	g.grid = output.Grid{Wide: g.Output == "wide", Namespaces: g.everywhere && g.kind.Namespaced}
	return nil
}

// mediaTable asks for a table made by the server, else for the documents themselves.
const mediaTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// accept is the form that documents are asked for in.
func (g *getting) accept() string {
	if g.Output == "table" || g.Output == "wide" {
		return mediaTable
	}
	return client.MediaJSON
}

func (g *getting) run(ctx context.Context) error {
	if len(g.names) > 0 && !g.watch {
		return wait.Each(g.names, func(name string) error {
			reply, err := g.Client.Call(ctx,
				client.Request{Method: http.MethodGet, Path: documentPath(g.kind, g.namespace, name), Accept: g.accept()})
			if err != nil {
				return unkept(err)
			}
			return g.show(reply)
		})
	}
	first, err := g.list(ctx)
	if err != nil {
		return err
	}
	if err := g.showList(first); err != nil {
		return err
	}
	if !g.watch {
		return nil
	}
	seen := map[string]string{} // versions by document, as shown
	for _, d := range first.documents() {
		seen[d.Namespace+"/"+d.Name] = d.ResourceVersion
	}
	w := wait.Watcher{Session: g.Session, Path: g.listPath(nil), Accept: g.accept(), Err: g.err}
	w.OnChange = func(object json.RawMessage) error {
		for _, d := range documentsIn(object) {
			seen[d.Namespace+"/"+d.Name] = d.ResourceVersion
		}
		return g.show(object)
	}
	w.Again = func(ctx context.Context) (string, error) { return g.again(ctx, seen) }
	return w.Run(ctx, first.Metadata.ResourceVersion)
}

// listPath is the path of the list, and of its watch.
func (g *getting) listPath(more url.Values) string {
	q := url.Values{}
	if g.selector != "" {
		q.Set("labelSelector", g.selector)
	}
	if len(g.names) == 1 {
		q.Set("fieldSelector", "metadata.name="+g.names[0])
	}
	for key, values := range more {
		q[key] = values
	}
	return kindPath(g.kind, g.namespace) + "?" + q.Encode()
}

// pageSize is how many documents are asked for at a time.
const pageSize = "500"

// list reads all documents that are asked for.
func (g *getting) list(ctx context.Context) (whole documentList, err error) {
	more := url.Values{"limit": {pageSize}}
	for {
		reply, err := g.Client.Call(ctx, client.Request{Method: http.MethodGet, Path: g.listPath(more), Accept: g.accept()})
		if err != nil {
			return whole, unkept(err)
		}
		var page documentList
		if err := json.Unmarshal(reply, &page); err != nil {
			return whole, fmt.Errorf("list of %s: %w", g.kind.Plural, err)
		}
		page.Items, page.Rows = append(whole.Items, page.Items...), append(whole.Rows, page.Rows...)
		whole = page
		if page.Metadata.Continue == "" {
			return whole, g.missing(whole)
		}
		more.Set("continue", page.Metadata.Continue)
	}
}

// missing is the error of a list that was to have a document of a name.
func (g *getting) missing(l documentList) error {
	if len(g.names) == 0 || len(l.Items)+len(l.Rows) > 0 {
		return nil
	}
	return &nodeapi.Fault{Status: http.StatusNotFound, Text: fmt.Sprintf("%s %q not found", g.kind.Plural, g.names[0])}
}

// showList shows a list. A list of documents is printed as one document.
func (g *getting) showList(l documentList) error {
	if len(l.Items)+len(l.Rows) == 0 && (g.accept() == mediaTable || g.Output == "name") {
		where := ""
		if g.namespace != "" {
			where = " in namespace " + g.namespace
		}
		fmt.Fprintf(g.err, "no %s%s\n", kindNames(g.kind)[0], where)
		return nil
	}
	if g.accept() == mediaTable {
		return g.grid.Show(g.out, l.Columns, l.Rows)
	}
	if g.watch || g.Output == "name" {
		for _, item := range l.Items {
			if err := g.show(item); err != nil {
				return err
			}
		}
		return nil
	}
	return output.PrintAny(g.Session, g.out, struct {
		documentList
		Items []json.RawMessage `json:"items"` // there, if empty
	}{l, append([]json.RawMessage{}, l.Items...)}, nil)
}

// show shows one document, or the table of one.
func (g *getting) show(object json.RawMessage) error {
	switch g.Output {
	case "table", "wide":
		var t documentList
		if err := json.Unmarshal(object, &t); err != nil {
			return fmt.Errorf("the conductor's answer: %w", err)
		}
		return g.grid.Show(g.out, t.Columns, t.Rows)
	case "name":
		for _, d := range documentsIn(object) {
			fmt.Fprintln(g.out, documentLabel(g.kind, d.Name))
		}
		return nil
	case "yaml":
		text, err := yaml.JSONToYAML(object)
		if err != nil {
			return fmt.Errorf("the conductor's answer as YAML: %w", err)
		}
		if g.shown++; g.shown > 1 {
			text = append([]byte("---\n"), text...)
		}
		_, err = g.out.Write(text)
		return err
	}
	return output.PrintAny(g.Session, g.out, object, nil)
}

// again lists once more, after a gap in the watch, and shows only the documents that differ from the ones shown.
func (g *getting) again(ctx context.Context, seen map[string]string) (revision string, err error) {
	l, err := g.list(ctx)
	if client.NotFound(err) && len(g.names) == 1 {
		return l.Metadata.ResourceVersion, nil // it has gone, and may come back
	}
	if err != nil {
		return "", err
	}
	changed := documentList{Columns: l.Columns}
	fresh := func(d hostapi.ObjectMeta) bool {
		key := d.Namespace + "/" + d.Name
		was := seen[key]
		seen[key] = d.ResourceVersion
		return was != d.ResourceVersion
	}
	for _, r := range l.Rows {
		if fresh(r.Object.Metadata) {
			changed.Rows = append(changed.Rows, r)
		}
	}
	for _, item := range l.Items {
		if fresh(documentsIn(item)[0]) {
			if err := g.show(item); err != nil {
				return "", err
			}
		}
	}
	if len(changed.Rows) == 0 {
		return l.Metadata.ResourceVersion, nil
	}
	return l.Metadata.ResourceVersion, g.grid.Show(g.out, changed.Columns, changed.Rows)
}
