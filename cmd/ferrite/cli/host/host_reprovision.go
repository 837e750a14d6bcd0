package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Reasons of a condition Healthy that is false, as the node was changed behind its host.
const (
	reasonLost    = "WorkloadLost"
	reasonForeign = "ForeignWorkload"
)

// healthyReason is the reason of the condition Healthy; "" for a host without.
func healthyReason(h hostapi.Host) string {
	for _, c := range h.Status.Conditions {
		if c.Type == hostapi.ConditionHealthy {
			return c.Reason
		}
	}
	return ""
}

func hostReprovision(s *client.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reprovision NAME...",
		Short: "Erase a machine that lost its workload, and write its image again",
		Long: `Erase a machine whose node was changed outside of its host, and write the image of the host
again. Such a host is in error, its condition Healthy is False with the reason WorkloadLost,
and nothing is written before this command. A host that runs its workload is refused: change
spec.image instead.

The command sets the annotation ` + hostapi.AnnotationReprovision + `, which kubectl annotate can do as well.`,
		Example: "  ferrite host reprovision worker-0",
		ValidArgsFunction: func(cmd *cobra.Command, names []string, typed string) ([]string, cobra.ShellCompDirective) {
			return completeDocuments(s)(cmd, append([]string{"host"}, names...), typed)
		},
	}
	namespace := namespaceFlag(cmd)
	var yes caution.Yes
	yes.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		k, _ := hostapi.KindOf(hostapi.KindHost)
		if err := checkLost(s, cmd, k, *namespace, names); err != nil {
			return err
		}
		if err := yes.Ask(cmd,
			caution.Question("This erases the disks of NAMES, and writes the image again.", names)); err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"annotations": map[string]string{hostapi.AnnotationReprovision: ""}}})
		if err != nil {
			return err
		}
		return wait.Each(names, func(name string) error {
			if _, err := s.Client.Call(cmd.Context(), client.Request{Method: http.MethodPatch,
				Path: documentPath(k, *namespace, name), Form: "application/merge-patch+json", Body: body}); err != nil {
				return unkept(err)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: reprovisioning requested; follow it with: ferrite host get -w\n",
				documentLabel(k, name))
			return err
		})
	}
	return cmd
}

// checkLost refuses hosts that are not there or run their workload, before the first is touched.
func checkLost(s *client.Session, cmd *cobra.Command, k hostapi.Kind, namespace string, names []string) error {
	var wrong []error
	for _, name := range names {
		var h hostapi.Host
		if err := readDocument(cmd.Context(), s, k, namespace, name, &h); err != nil {
			wrong = append(wrong, unkept(err))
			continue
		}
		if healthyReason(h) != reasonLost || h.Status.Provisioning.State != hostapi.StateProvisioned {
			wrong = append(wrong, fmt.Errorf("%s is %s, and its machine has lost nothing that the host wrote: to write an "+
				"image again, change spec.image", documentLabel(k, name), h.Status.Provisioning.State.Canonical()))
		}
	}
	return errors.Join(wrong...)
}
