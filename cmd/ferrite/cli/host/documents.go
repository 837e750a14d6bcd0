package host

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/completion"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/suggest"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Documents are spoken of as Kubernetes' API does: paths by group, version and
// kind, errors that are a Status, warnings in headers.

// kindPath is the path of all documents of a kind, in a namespace or, with "",
// in all.
func kindPath(k hostapi.Kind, namespace string) string {
	path := "/api/" + k.Version
	if k.Group != "" {
		path = "/apis/" + k.APIVersion()
	}
	if k.Namespaced && namespace != "" {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	return path + "/" + k.Plural
}

// documentPath is the path of one document.
func documentPath(k hostapi.Kind, namespace, name string) string {
	return kindPath(k, namespace) + "/" + url.PathEscape(name)
}

// kindLabel is the name of a kind in results: "baremetalhost.metal3.io".
func kindLabel(k hostapi.Kind) string {
	if k.Group == "" {
		return k.Singular
	}
	return k.Singular + "." + k.Group
}

// documentLabel is the name of a document in results, and an argument of get, describe and delete:
// "baremetalhost.metal3.io/worker-0".
func documentLabel(k hostapi.Kind, name string) string { return kindLabel(k) + "/" + name }

// kindNames returns every name of a kind. Help texts use the first.
func kindNames(k hostapi.Kind) []string {
	names := append([]string{k.Plural, k.Singular, kindLabel(k)}, k.Short...)
	if k.Group != "" {
		names = append(names, k.Plural+"."+k.Group)
	}
	if k.Kind == hostapi.KindHost {
		names = append([]string{hosts, "host"}, names...)
	}
	return names
}

// kindNamed finds a kind by one of its words.
func kindNamed(word string) (hostapi.Kind, error) {
	for _, k := range hostapi.Kinds() {
		if slices.Contains(kindNames(k), strings.ToLower(word)) {
			return k, nil
		}
	}
	if is := strings.TrimSuffix(strings.ToLower(word), "s"); is == "node" || is == "machine" { // a record, no document
		return hostapi.Kind{}, exit.Is(exit.BadUsage,
			fmt.Errorf("%s is no kind of document\n  try: ferrite node list", word))
	}
	return hostapi.Kind{}, fmt.Errorf("unknown kind %q: expected one of %s%s", word, knownKinds(),
		suggest.DidYouMean(word, "", kindWords()))
}

// kindWords is the first word for each kind.
func kindWords() (all []string) {
	for _, k := range hostapi.Kinds() {
		all = append(all, kindNames(k)[0])
	}
	return all
}

// knownKinds is kindWords in a sentence.
func knownKinds() string { return strings.Join(kindWords(), ", ") }

// hosts is the kind of documents without a KIND in the arguments.
const hosts = "hosts"

// documentArgs reads the arguments of get, describe and delete: KIND NAME..., KIND/NAME..., or NAME... for hosts.
func documentArgs(args []string) (k hostapi.Kind, names []string, err error) {
	if len(args) == 0 || isName(args[0]) {
		k, err = kindNamed(hosts)
		return k, args, err
	}
	word, name, joined := strings.Cut(args[0], "/")
	if k, err = kindNamed(word); err != nil || !joined {
		return k, args[1:], err
	}
	names = []string{name}
	for _, a := range args[1:] {
		word, name, joined := strings.Cut(a, "/")
		other, err := kindNamed(word)
		if err == nil && (!joined || other.Kind != k.Kind) {
			err = fmt.Errorf("%q: expected %s/NAME, as the first of them", a, args[0][:len(word)])
		}
		if err != nil {
			return k, nil, err
		}
		names = append(names, name)
	}
	return k, names, nil
}

// isName reports whether an argument is the name of a host: no kind, and no word for a node.
func isName(arg string) bool {
	_, err := kindNamed(arg)
	return err != nil && exit.Of(err) != exit.BadUsage && !strings.Contains(arg, "/")
}

// namespaceFlag is -n.
func namespaceFlag(cmd *cobra.Command) *string {
	return cmd.Flags().StringP("namespace", "n", hostapi.DefaultNamespace, "namespace of the documents")
}

// readDocument reads one document into out.
func readDocument(ctx context.Context, s *client.Session, k hostapi.Kind, namespace, name string, out any) error {
	return unkept(s.Client.Do(ctx, http.MethodGet, documentPath(k, namespace, name), nil, out))
}

// unkept explains why a server does not know the paths of documents: it is no Ferrite.
func unkept(err error) error {
	if client.Unserved(err) {
		return fmt.Errorf("this server has no documents of hosts: it is no Ferrite; is --url right? %w", err)
	}
	return err
}

// completeDocuments offers the names of hosts and kinds, or the names of documents, to a shell's completion.
func completeDocuments(s *client.Session, kinds ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return completion.Names(cmd, s, args, typed, func(ctx context.Context) ([]string, error) {
			k, _, err := documentArgs(args)
			if err != nil {
				return nil, err
			}
			var list struct {
				Items []struct {
					Metadata hostapi.ObjectMeta `json:"metadata"`
				} `json:"items"`
			}
			err = s.Client.Do(ctx, http.MethodGet, kindPath(k, cmd.Flag("namespace").Value.String()), nil, &list)
			names := make([]string, len(list.Items))
			for i, d := range list.Items {
				names[i] = d.Metadata.Name
			}
			if len(args) == 0 {
				names = append(names, kinds...)
			}
			return names, err
		})
	}
}

// documentList is documents as listed: whole, or as a table.
type documentList struct {
	Kind       string              `json:"kind"`
	APIVersion string              `json:"apiVersion"`
	Metadata   wait.ListMetadata   `json:"metadata"`
	Items      []json.RawMessage   `json:"items,omitempty"`
	Columns    []output.GridColumn `json:"columnDefinitions,omitempty"`
	Rows       []output.GridRow    `json:"rows,omitempty"`
}

// documents returns the metadata of all entries of a list.
func (l documentList) documents() (all []hostapi.ObjectMeta) {
	for _, r := range l.Rows {
		all = append(all, r.Object.Metadata)
	}
	for _, item := range l.Items {
		all = append(all, documentsIn(item)...)
	}
	return all
}

// documentsIn are the metadata of a document, or of the rows of a table.
func documentsIn(object json.RawMessage) []hostapi.ObjectMeta {
	var d struct {
		Metadata hostapi.ObjectMeta
		Rows     []output.GridRow
	}
	if json.Unmarshal(object, &d) != nil {
		return nil
	}
	if d.Rows == nil {
		return []hostapi.ObjectMeta{d.Metadata}
	}
	var all []hostapi.ObjectMeta
	for _, r := range d.Rows {
		all = append(all, r.Object.Metadata)
	}
	return all
}

// unknownField is how the server names a field that no document has.
var unknownField = regexp.MustCompile(`unknown field \\?"([^"\\]+)`)

// explainMisspelt names the field that was meant, and the ways on.
func explainMisspelt(err error, kind hostapi.Kind) error {
	near := ""
	if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
		path := strings.Split(m[1], ".")
		last := path[len(path)-1]
		path[len(path)-1] = ""
		known := map[string]bool{}
		for _, document := range []any{hostapi.Host{}, hostapi.DataImage{}, hostapi.HostFirmwareComponents{},
			hostapi.HostFirmwareSettings{}, hostapi.FirmwareSchema{}} {
			fieldNames(reflect.TypeOf(document), known)
		}
		near = suggest.DidYouMean(last, strings.Join(path, "."), output.Sorted(known))
	}
	return fmt.Errorf("%w%s\n  correct its name, or have it left out by --validate=warn; "+
		"ferrite host get %s -o yaml shows names that are known", err, near, kindNames(kind)[0])
}

// fieldNames adds the names of all fields of a type, also of those within.
func fieldNames(t reflect.Type, known map[string]bool) {
	if k := t.Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Map {
		fieldNames(t.Elem(), known)
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for f := range t.NumField() {
		field := t.Field(f)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if known[name] || !field.IsExported() {
			continue
		}
		if name != "" && name != "-" {
			known[name] = true
		}
		fieldNames(field.Type, known)
	}
}
