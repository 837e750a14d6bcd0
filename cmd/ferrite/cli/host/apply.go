package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/completion"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const applyHelp = `Create or change documents to match files. Fields that an earlier apply set, and that the file no
longer has, are removed. Fields that others set stay. kubectl apply keeps the same record in
the same place, so both can be used for one document.

A file has YAML documents between lines of ---, JSON, or a List. Of a folder, all .yaml, .yml
and .json files are applied. Kinds are BareMetalHost, Secret, Namespace, HardwareData, DataImage,
HostFirmwareSettings, HostFirmwareComponents, HostUpdatePolicy, FirmwareSchema, HostClaim,
HostDeployPolicy, BMCEventSubscription, PreprovisioningImage, HostNetworkAttachment and BareMetalSwitch.

Namespaces, Secrets and other documents of a host are applied before the host, in any order
of the files. If one document is refused, the others are still applied, except a host whose Secret
is refused.

A file whose name ends in .csv makes nodes, a line for each, or changes those of the same name. Its
first line has the names of fields: name, driver, mac (one or more), those that node create has flags for,
keys of driver_info, properties.KEY and extra.KEY. An empty cell sets nothing. All lines are checked
before anything is changed.

A document with an unknown field is refused, as by kubectl, because the field is usually
misspelt. --validate=warn drops fields that another release has, with a warning.

With --wait, hosts are followed until they reach the state that their documents ask for:
provisioned with an image, externally provisioned, available without an image, or unmanaged
without a BMC. --for names another state.`

// apply is ferrite host apply.
func apply(s *client.Session) *cobra.Command {
	var files []string
	var dry bool
	var validate string
	var w hostWait
	cmd := &cobra.Command{
		Use:   "apply -f FILE|-|FOLDER...",
		Short: "Create or change hosts to match documents in files",
		Long:  applyHelp,
		Example: `  ferrite host apply -f hosts.yaml
  ferrite host apply -f hosts.yaml --wait --timeout 30m
  ferrite host apply -f machines.csv --dry-run
  ferrite host import m1 | ferrite host apply --dry-run -f -`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completion.Files,
	}
	namespace := namespaceFlag(cmd)
	f := cmd.Flags()
	f.StringSliceVarP(&files, "filename", "f", nil,
		"file of documents, .csv file of nodes, folder of documents, or - for standard input; repeat it")
	f.BoolVar(&dry, "dry-run", false, "let the conductor check the documents, and change nothing")
	f.StringVar(&validate, "validate", "strict",
		"documents with unknown fields: strict refuses them, warn drops the fields with a warning, ignore drops "+
			"them silently")
	w.add(cmd)
	client.Must(cmd.MarkFlagFilename("filename", "yaml", "yml", "json", "csv"))
	cmd.MarkFlagsMutuallyExclusive("dry-run", "wait")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if files = append(files, args...); len(files) == 0 {
			return errors.New("ferrite host apply needs files or folders with -f, or - for standard input")
		}
		if err := w.check(); err != nil {
			return err
		}
		validation, known := fieldValidation[validate]
		if !known {
			return fmt.Errorf("--validate %q: expected strict, warn or ignore", validate)
		}
		tables, documents := apart(files)
		if len(tables) > 0 && w.On {
			return errors.New("--wait is for documents of hosts; wait for nodes with: ferrite node manage NODE")
		}
		if len(tables) > 0 {
			if err := applyNodes(s, cmd, tables, dry); err != nil || len(documents) == 0 {
				return err
			}
		}
		a := applying{Session: s, cmd: cmd, namespace: *namespace, said: f.Changed("namespace"), dry: dry,
			validation: validation}
		failed := a.all(readManifests(documents, cmd.InOrStdin()))
		if w.On {
			failed = errors.Join(failed, w.follow(s, cmd, a.hosts))
		}
		return failed
	}
	return cmd
}

// fieldValidation maps the values of --validate onto the values of the query parameter fieldValidation.
var fieldValidation = map[string]string{"strict": "Strict", "warn": "Warn", "ignore": "Ignore"}

// applying is one apply under way.
type applying struct {
	*client.Session
	cmd        *cobra.Command
	namespace  string
	said       bool // on the command line
	dry        bool
	validation string    // how the server treats unknown fields
	hosts      []awaited // the applied hosts
	changed    bool      // true once a document has changed
}

// applyOrder is the order that kinds need: a namespace before its documents, credentials before the host that needs
// them.
func applyOrder() []string {
	return []string{
		hostapi.KindNamespace, hostapi.KindSecret, hostapi.KindHardwareData, hostapi.KindDataImage,
		hostapi.KindFirmwareSchema,
		hostapi.KindFirmwareSettings, hostapi.KindFirmwareComponents, hostapi.KindUpdatePolicy,
		hostapi.KindSwitch, hostapi.KindNetworkAttachment, hostapi.KindPreprovisioningImage, hostapi.KindDeployPolicy,
		hostapi.KindHost, hostapi.KindSubscription, hostapi.KindClaim,
	}
}

// inOrder sorts documents by kind, and otherwise leaves them as they came.
func inOrder(all []manifest, kinds []string) []manifest {
	slices.SortStableFunc(all, func(a, b manifest) int {
		return slices.Index(kinds, a.kind.Kind) - slices.Index(kinds, b.kind.Kind)
	})
	return all
}

// all applies one document after the other, and reports all that failed.
func (a *applying) all(docs []manifest) error {
	var failed []error
	refused := map[string]bool{} // Secrets
	for _, m := range inOrder(docs, applyOrder()) {
		err := m.placed(a.namespace, a.said)
		if login := m.login(); err == nil && refused[login] {
			err = fmt.Errorf("it is not applied without its Secret %s, which was refused", login)
		}
		if err == nil {
			err = filledIn(m)
		}
		if err == nil {
			err = a.one(a.cmd.Context(), m)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.label(), err))
		}
		if err != nil && m.kind.Kind == hostapi.KindSecret {
			refused[m.namespace()+"/"+m.name()] = true
		}
	}
	for i := range a.hosts {
		a.hosts[i].changed = a.changed
	}
	return errors.Join(failed...)
}

// login is the Secret with which a host logs in to its BMC, as namespace/name; "" for none.
func (m manifest) login() string {
	spec, _ := m.object["spec"].(map[string]any)
	bmc, _ := spec["bmc"].(map[string]any)
	name, _ := bmc["credentialsName"].(string)
	if m.kind.Kind != hostapi.KindHost || name == "" {
		return ""
	}
	return m.namespace() + "/" + name
}

// one applies a document. Another client may create the document between the read and the creation: then one starts
// over.
func (a *applying) one(ctx context.Context, m manifest) error {
	if err := annotate(m.object); err != nil {
		return err
	}
	before, result, after, err := a.written(ctx, m)
	if conflicts(err) && before == nil {
		before, result, after, err = a.written(ctx, m)
	}
	if err != nil {
		return err
	}
	a.changed = a.changed || result != "unchanged"
	if m.kind.Kind == hostapi.KindHost {
		h, err := awaitedHost(before, after)
		if err != nil {
			return err
		}
		a.hosts = append(a.hosts, h)
	}
	if a.dry {
		result += " (dry run)"
	}
	_, err = fmt.Fprintf(a.cmd.OutOrStdout(), "%s %s\n", documentLabel(m.kind, m.name()), result)
	return err
}

// written sends a document to the conductor. It returns the document as it was before (nil for a new one), the outcome
// in a word, and the document as it is after.
func (a *applying) written(ctx context.Context,
	m manifest) (before map[string]any, result string, after []byte, err error) {
	var reply json.RawMessage
	err = readDocument(ctx, a.Session, m.kind, m.namespace(), m.name(), &reply)
	if client.NotFound(err) && !client.Unserved(err) {
		after, err = a.send(ctx, client.Request{Method: http.MethodPost, Path: kindPath(m.kind, m.namespace())}, m, m.object)
		return nil, "created", after, err
	}
	if err != nil {
		return nil, "", nil, err
	}
	if before, err = parseObject(reply); err != nil {
		return nil, "", nil, err
	}
	original, known, err := appliedBefore(before)
	if err != nil {
		return nil, "", nil, err
	}
	if !known {
		a.warn(m, "it was not made by apply: its fields that the file does not name stay")
	}
	patch := threeWay(original, m.object, before)
	if len(patch) == 0 {
		return before, "unchanged", reply, nil
	}
	change := client.Request{Method: http.MethodPatch, Path: documentPath(m.kind, m.namespace(), m.name()),
		Form: "application/merge-patch+json"}
	after, err = a.send(ctx, change, m, patch)
	if err != nil {
		return before, "", nil, err
	}
	now, err := parseObject(after)
	if err != nil {
		return before, "", nil, err
	}
	if same(before, now) {
		return before, "unchanged", after, nil
	}
	return before, "configured", after, nil
}

// send writes a document, and shows the conductor's warnings.
func (a *applying) send(ctx context.Context, r client.Request, m manifest, body any) ([]byte, error) {
	var err error
	if r.Body, err = json.Marshal(body); err != nil {
		return nil, err
	}
	q := url.Values{"fieldValidation": {a.validation}}
	if a.dry {
		q.Set("dryRun", "All")
	}
	r.Path += "?" + q.Encode()
	r.Warn = func(text string) { a.warn(m, text) }
	reply, err := a.Client.Call(ctx, r)
	if misspelt(err) {
		err = explainMisspelt(err, m.kind)
	}
	return reply, err
}

// misspelt reports whether a document was refused for its unknown fields, in the
// words that Kubernetes has for that.
func misspelt(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusBadRequest && strings.Contains(f.Text, "strict decoding error")
}

func (a *applying) warn(m manifest, text string) {
	fmt.Fprintf(a.cmd.ErrOrStderr(), "warning: %s: %s\n", m.label(), text)
}

// same reports whether a document is as it was, but for the version it is
// of: a Secret's stringData is never shown, and so always sent.
func same(before, now map[string]any) bool {
	plain := func(object map[string]any) string {
		object = maps.Clone(object)
		if meta, ok := object["metadata"].(map[string]any); ok {
			meta = maps.Clone(meta)
			delete(meta, "resourceVersion")
			object["metadata"] = meta
		}
		return output.Cell(object)
	}
	return plain(before) == plain(now)
}

// conflicts reports whether another client changed the document first.
func conflicts(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusConflict
}
