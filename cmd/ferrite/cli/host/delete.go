package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// remove is ferrite host delete.
func remove(s *client.Session) *cobra.Command {
	var files []string
	d := deleting{Session: s, hosts: map[string]bool{}}
	cmd := &cobra.Command{
		Use:   "delete [KIND] NAME... | -f FILE",
		Short: "Delete documents of hosts; deprovision their machines",
		Long: `Delete documents. A host keeps its finalizer until its machine is deprovisioned: the workload
ends, the disks are cleaned, the machine is powered off, and its node is deleted. The command
shows this and waits until the document is gone; --wait=false does not wait.

A DataImage keeps its finalizer until its image is out of the drive, at the next reboot of
the host.

Hosts in files are deleted before their secrets, because deprovisioning needs these. Names without
a KIND are hosts. Kinds are:
` + knownKinds(),
		Example: `  ferrite host delete worker-0
  ferrite host delete -f hosts.yaml --timeout 20m`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeDocuments(s, kindWords()...),
	}
	namespace := namespaceFlag(cmd)
	f := cmd.Flags()
	f.StringSliceVarP(&files, "filename", "f", nil,
		"`file` of documents to delete, folder of such files, or - for standard input; repeat it")
	client.Must(cmd.MarkFlagFilename("filename", "yaml", "yml", "json"))
	f.BoolVar(&d.wait, "wait", true, "wait until the documents are gone")
	f.DurationVar(&d.timeout, "timeout", 0, "stop waiting after this time; without it, wait for ever")
	d.yes.Add(cmd)
	f.BoolVar(&d.ignore, "ignore-not-found", false, "a missing document is no error")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d.cmd = cmd
		switch {
		case len(files) > 0 && len(args) > 0:
			return errors.New("names and -f exclude each other: leave one out")
		case len(files) > 0:
			return d.listed(readManifests(files, cmd.InOrStdin()), *namespace, f.Changed("namespace"))
		case len(args) == 0:
			return errors.New("ferrite host delete needs a NAME, or a file with -f")
		}
		k, names, err := documentArgs(args)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return fmt.Errorf("a NAME is missing: expected %s NAME", args[0])
		}
		var all []doomed
		for _, name := range names {
			all = append(all, doomed{k, *namespace, name})
		}
		if err := d.checkNames(all); err != nil {
			return err
		}
		if err := d.ask(all); err != nil {
			return err
		}
		return d.all(all)
	}
	return cmd
}

// checkNames looks whether all documents are there, before the first is deleted. One alone need not be looked for.
func (d *deleting) checkNames(docs []doomed) error {
	if d.ignore || len(docs) < 2 {
		return nil
	}
	var missing []error
	for _, doc := range docs {
		var reply json.RawMessage
		err := readDocument(d.cmd.Context(), d.Session, doc.kind, doc.namespace, doc.name, &reply)
		if client.NotFound(err) {
			missing = append(missing, err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w\n  nothing was deleted", errors.Join(missing...))
}

// ask asks whether the machines of hosts may be erased.
func (d *deleting) ask(docs []doomed) error {
	if !d.yes.Asks(d.cmd) {
		return nil
	}
	var erased []string
	for _, doc := range docs {
		if doc.kind.Kind != hostapi.KindHost {
			continue
		}
		var h hostapi.Host
		err := readDocument(d.cmd.Context(), d.Session, doc.kind, doc.namespace, doc.name, &h)
		if err == nil && h.DeletionTimestamp == nil && losesData(h) { // any other fault is reported by the deletion
			erased = append(erased, doc.name)
		}
	}
	if len(erased) == 0 {
		return nil
	}
	return d.yes.Ask(d.cmd,
		caution.Question("This ends the workload of NAMES, erases the disks, and forgets the machines.",
			erased))
}

// losesData reports whether the deletion of a host erases the disks of its machine.
func losesData(h hostapi.Host) bool {
	if annotated(h, hostapi.AnnotationDetached) || h.Status.OperationalStatus == hostapi.StatusDetached {
		return false
	}
	return slices.Contains([]hostapi.State{hostapi.StateProvisioned, hostapi.StateProvisioning,
		hostapi.StateDeprovisioning},
		h.Status.Provisioning.State)
}

// deleting is one delete under way.
type deleting struct {
	*client.Session
	cmd          *cobra.Command
	wait, ignore bool
	yes          caution.Yes
	timeout      time.Duration
	hosts        map[string]bool // that were deleted before, by namespace and name
}

// doomed is a document to be deleted.
type doomed struct {
	kind            hostapi.Kind
	namespace, name string
}

// listed deletes the documents that files name: hosts first, while their secrets exist. When it waits, each kind is
// gone before the next one is deleted.
func (d *deleting) listed(docs []manifest, namespace string, said bool) error {
	var failed []error
	byKind := map[string][]doomed{}
	for _, m := range docs {
		if err := m.placed(namespace, said); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.label(), err))
			continue
		}
		byKind[m.kind.Kind] = append(byKind[m.kind.Kind], doomed{m.kind, m.namespace(), m.name()})
	}
	if err := d.ask(byKind[hostapi.KindHost]); err != nil {
		return errors.Join(append(failed, err)...)
	}
	for _, kind := range slices.Backward(applyOrder()) {
		if len(byKind[kind]) == 0 {
			continue
		}
		if err := d.all(byKind[kind]); err != nil { // the others may still need the documents that come later
			return errors.Join(append(failed, err, errors.New("the remaining documents are not deleted"))...)
		}
	}
	return errors.Join(failed...)
}

// all deletes documents, then waits for them all at a time.
func (d *deleting) all(docs []doomed) error {
	ctx := d.cmd.Context()
	if d.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d.timeout, fmt.Errorf("not gone after %s", d.timeout))
		defer cancel()
	}
	screen := wait.NewScreen(d.cmd, d.Session)
	held := map[string]doomedHost{} // by namespace and label
	var failed []error
	for _, doc := range docs {
		switch h, err := d.request(ctx, doc); {
		case err != nil:
			failed = append(failed, err)
		case h.UID != "":
			held[doc.namespace+" "+documentLabel(doc.kind, doc.name)] = doomedHost{doc, h}
		}
	}
	if d.wait {
		failed = append(failed,
			wait.All(output.Sorted(held), func(key string) error { return d.await(ctx, held[key], screen) }))
	}
	return errors.Join(failed...)
}

// doomedHost is a document that is held by finalizers.
type doomedHost struct {
	doomed
	hostapi.Host
}

// request asks for a deletion. It returns the document while that still exists. It reads all kinds as hosts, since it
// needs only the metadata, which all kinds share.
func (d *deleting) request(ctx context.Context, doc doomed) (held hostapi.Host, err error) {
	var reply json.RawMessage
	err = unkept(d.Client.Do(ctx, http.MethodDelete, documentPath(doc.kind, doc.namespace, doc.name), nil, &reply))
	if place := doc.namespace + "/" + doc.name; client.NotFound(err) &&
		(d.ignore || d.hosts[place] && doc.kind.Group == hostapi.Group) {
		return held, nil // or gone with its host
	} else if err == nil && doc.kind.Kind == hostapi.KindHost {
		d.hosts[place] = true
	}
	if err != nil {
		return held, err
	}
	var kind hostapi.TypeMeta
	if err := json.Unmarshal(reply, &kind); err != nil {
		return held, fmt.Errorf("the conductor's answer: %w", err)
	}
	if kind.Kind != doc.kind.Kind { // a Status: it is done
		_, err := fmt.Fprintf(d.cmd.OutOrStdout(), "%s deleted\n", documentLabel(doc.kind, doc.name))
		return held, err
	}
	if err := json.Unmarshal(reply, &held); err != nil {
		return held, fmt.Errorf("the conductor's answer: %w", err)
	}
	_, err = fmt.Fprintf(d.cmd.OutOrStdout(), "%s is being deleted; it is held by %s\n", documentLabel(doc.kind, doc.name),
		heldBy(held))
	return held, err
}

// heldBy explains which finalizers hold a deleted document, and how to release it.
func heldBy(h hostapi.Host) string {
	text := "its finalizer " + strings.Join(h.Finalizers, ", ")
	if len(h.Finalizers) > 1 {
		text = "its finalizers " + strings.Join(h.Finalizers, ", ")
	}
	switch {
	case slices.Contains(h.Finalizers, hostapi.DataImageFinalizer):
		return text + " until it is out of the drive: reboot its host"
	case slices.Equal(h.Finalizers, []string{hostapi.SecretFinalizer}):
		return text + " until no host needs it any more: those that do are deleted, or name another"
	case !slices.Contains(h.Finalizers, hostapi.Finalizer):
		return text + ", and goes when its owner removes it"
	case annotated(h, hostapi.AnnotationPaused):
		return text + ", and nothing is done about it while it has the annotation " + hostapi.AnnotationPaused
	case h.Status.OperationalStatus == hostapi.StatusDetached:
		return text + ", and it is detached: its future is in the annotation " + hostapi.AnnotationDetached
	case slices.Contains([]hostapi.State{hostapi.StateProvisioned, hostapi.StateProvisioning, hostapi.StateDeprovisioning},
		h.Status.Provisioning.State):
		return text + " until its workload has ended, its disks are cleaned and it is powered off"
	}
	return text + " until its machine is deprovisioned"
}

// await follows a document until it is gone.
func (d *deleting) await(ctx context.Context, doc doomedHost, screen *wait.Screen) error {
	if doc.kind.Kind != hostapi.KindHost {
		return d.awaitOther(ctx, doc)
	}
	l := &hostLine{Line: screen.Line(hostLabel(doc.Host), nodeOfHost(ctx, d.Session, doc.Host))}
	err := checkWaiting(ctx, d.Session, doc.Host, l, func(now hostapi.Host) (bool, error) {
		if now.UID != doc.UID {
			return false, errors.New("it was deleted, and there is a new one of the same name")
		}
		doc.Host = now
		return false, nil
	})
	if client.NotFound(err) {
		l.Say("deleted")
		return nil
	}
	if err != nil && context.Cause(ctx) != nil {
		return fmt.Errorf("%w\n  it is held by %s", err, heldBy(doc.Host))
	}
	return err
}

// awaitOther waits for the end of a document that shows no progress.
func (d *deleting) awaitOther(ctx context.Context, doc doomedHost) error {
	for {
		var now hostapi.Host
		err := readDocument(ctx, d.Session, doc.kind, doc.namespace, doc.name, &now)
		if client.NotFound(err) || err == nil && now.UID != doc.UID {
			_, err := fmt.Fprintf(d.cmd.OutOrStdout(), "%s deleted\n", documentLabel(doc.kind, doc.name))
			return err
		}
		if err == nil {
			if err = wait.Pause(ctx, wait.LastPoll); err == nil {
				continue
			}
		}
		if cause := context.Cause(ctx); cause != nil {
			return fmt.Errorf("%s: %w; it is held by %s", documentLabel(doc.kind, doc.name), cause, heldBy(doc.Host))
		}
		return err
	}
}
