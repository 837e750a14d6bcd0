package host

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/completion"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

const metal3Help = `Take over the hosts of a Metal3: BareMetalHosts with their status, the Secrets that they name, and
HardwareData, DataImages, HostFirmwareSettings, HostFirmwareComponents and HostUpdatePolicies of the same names.
A provisioned host is adopted: nothing is done to its machine, no power change either, unless spec.online
says so. Annotations that request a reboot or an inspection are left out.

Pause the hosts in the cluster first, or stop Metal3: two controllers of one machine work against each other.
A paused host stays paused here until its annotation is removed; --unpause removes it. A detached host stays
detached. A host that Metal3 is working on is left out; import it again when that has ended.`

// Metal3Command is ferrite import metal3.
func Metal3Command(s *client.Session) *cobra.Command {
	var dry bool
	f := &fromMetal3{}
	cmd := &cobra.Command{
		Use: "metal3 FILE|-", Short: "Take over the hosts of a Metal3", Long: metal3Help,
		Example: `  ferrite import metal3 hosts.yaml --dry-run
  ferrite import metal3 hosts.yaml --unpause
  ferrite import metal3 -`,
		ValidArgsFunction: completion.Files,
	}
	namespace := namespaceFlag(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "let the conductor check the documents, and change nothing")
	cmd.Flags().BoolVar(&f.unpause, "unpause", false, "remove the annotation that pauses a host")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.take(readManifests(args, cmd.InOrStdin()))
		w := cmd.ErrOrStderr()
		for _, text := range f.notes {
			fmt.Fprintln(w, output.ScreenOf(w).Wrap("note: "+output.VisibleLine(text)))
		}
		for _, text := range f.left {
			fmt.Fprintln(w, output.ScreenOf(w).Wrap("left out: "+output.VisibleLine(text)))
		}
		a := applying{Session: s, cmd: cmd, namespace: *namespace, said: cmd.Flags().Changed("namespace"), dry: dry,
			validation: fieldValidation["warn"]}
		if err := a.known(f.keep); err != nil {
			return err
		}
		err := a.all(f.keep)
		if len(f.left) > 0 {
			err = errors.Join(err, exit.Is(exit.Refused, fmt.Errorf("%d documents are left out", len(f.left))))
		}
		return err
	}
	return cmd
}

// known takes the status from hosts that are here already: theirs is the newer one.
func (a *applying) known(all []manifest) error {
	for _, m := range all {
		if m.kind.Kind != hostapi.KindHost || m.placed(a.namespace, a.said) != nil {
			continue
		}
		var here hostapi.Host
		err := readDocument(a.cmd.Context(), a.Session, m.kind, m.namespace(), m.name(), &here)
		switch {
		case client.NotFound(err) && !client.Unserved(err):
			continue
		case err != nil:
			return err
		}
		delete(annotationsOf(m.object), hostapi.AnnotationStatus)
	}
	return nil
}
