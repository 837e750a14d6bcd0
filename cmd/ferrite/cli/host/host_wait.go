package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// hostWait holds the flags of commands that wait for hosts.
type hostWait struct {
	wait.Flag
	state   string
	timeout time.Duration
}

func (w *hostWait) add(cmd *cobra.Command) {
	w.Add(cmd)
	f := cmd.Flags()
	f.StringVar(&w.state, "for", "", "with --wait: wait for this state, like "+string(hostapi.StateProvisioned)+
		", instead of the state that the document asks for")
	f.DurationVar(&w.timeout, "timeout", 0, "with --wait: give up after this time, like --wait=TIME")
	client.Must(cmd.RegisterFlagCompletionFunc("for",
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return restingStates(), cobra.ShellCompDirectiveNoFileComp
		}))
}

// check sees that the flags go together.
func (w *hostWait) check() error {
	switch {
	case w.timeout < 0:
		return fmt.Errorf("--timeout %s: expected a time like 10m", w.timeout)
	case !w.On && (w.state != "" || w.timeout != 0):
		return errors.New("--for and --timeout need --wait")
	case w.timeout > 0:
		w.Limit = w.timeout
	}
	if w.state != "" && !slices.Contains(restingStates(), w.state) {
		return fmt.Errorf("--for %q: expected a state that hosts stay in: %s", w.state, strings.Join(restingStates(), ", "))
	}
	return nil
}

// restingStates are the states that a host stays in.
func restingStates() []string {
	var all []string
	for _, s := range []hostapi.State{hostapi.StateUnmanaged, hostapi.StateAvailable, hostapi.StateProvisioned,
		hostapi.StateExternallyProvisioned} {
		all = append(all, string(s))
	}
	return all
}

// awaited is a host that is to reach the state that its document asks for.
type awaited struct {
	hostapi.Host                    // as it is after the apply
	before       hostapi.HostStatus // as it was
	changed      bool               // true if the apply changed the host or one of its documents
}

// awaitedHost is a host as it was before an apply, perhaps not at all, and as it
// is after it.
func awaitedHost(before map[string]any, after []byte) (a awaited, err error) {
	if err := json.Unmarshal(after, &a.Host); err != nil {
		return a, fmt.Errorf("the conductor's answer: %w", err)
	}
	text, err := json.Marshal(before["status"])
	if err == nil && before["status"] != nil {
		err = json.Unmarshal(text, &a.before)
	}
	return a, err
}

// goal is the state that a document asks for.
func (a awaited) goal() hostapi.State {
	switch s := a.Spec; {
	case s.BMC.Address == "" && s.BMC.CredentialsName == "":
		return hostapi.StateUnmanaged
	case s.ExternallyProvisioned:
		return hostapi.StateExternallyProvisioned
	case (s.Image != nil || s.CustomDeploy != nil) &&
		(s.Online || a.Status.Provisioning.State == hostapi.StateProvisioned):
		return hostapi.StateProvisioned
	}
	return hostapi.StateAvailable
}

// why says why an image that the document asks for is not the goal.
func (a awaited) why(goal hostapi.State) string {
	if goal == hostapi.StateAvailable && (a.Spec.Image != nil || a.Spec.CustomDeploy != nil) {
		return ": spec.online is false, so spec.image is not written"
	}
	return ""
}

// there reports whether a host is in a state, with nothing left to do about its
// document; the error says why it will never be.
func (a awaited) there(h hostapi.Host, state hostapi.State) (bool, error) {
	st := h.Status
	switch {
	case h.UID != a.UID:
		return false, errors.New("it was deleted, and there is a new one of the same name")
	case h.DeletionTimestamp != nil:
		return false, errors.New("it is being deleted")
	case annotated(h, hostapi.AnnotationPaused):
		return false, fmt.Errorf("it is paused while it has the annotation %s", hostapi.AnnotationPaused)
	case !seen(h, a.Generation):
		return false, nil
	case st.ErrorType != "" && !a.stale(st):
		return false, hostError(h)
	case st.ErrorType != "":
		return false, nil
	case st.OperationalStatus == hostapi.StatusDetached && annotated(h, hostapi.AnnotationDetached):
		return false, fmt.Errorf("it is detached, and %s; remove the annotation %s to continue",
			orNone(st.Provisioning.State), hostapi.AnnotationDetached)
	}
	return st.Provisioning.State.Canonical() == state && a.asSpecified(st) && !underWay(h), nil
}

// underWay reports whether a host is about to be attached again, or rebooted: until then the power in its status is out
// of date. The annotation for one reboot goes away when the machine is off. On a host without a BMC it has no effect.
func underWay(h hostapi.Host) bool {
	return h.Status.OperationalStatus == hostapi.StatusDetached ||
		annotated(h, hostapi.AnnotationReboot) && h.Status.Provisioning.State != hostapi.StateUnmanaged
}

// seen reports whether the conductor has processed a generation of the document. A host without conditions passes once
// it has a status.
func seen(h hostapi.Host, generation int64) bool {
	for _, c := range h.Status.Conditions {
		if c.ObservedGeneration != 0 && c.ObservedGeneration < generation {
			return false
		}
	}
	return h.Status.OperationalStatus != ""
}

// stale reports whether an error is the one from before an apply that may have
// mended it.
func (a awaited) stale(st hostapi.HostStatus) bool {
	return a.changed && st.ErrorType == a.before.ErrorType && st.ErrorCount == a.before.ErrorCount &&
		st.ErrorMessage == a.before.ErrorMessage
}

// asSpecified compares the details that a state alone does not show: the image on the machine, or the step that has set
// it up, and its power.
func (a awaited) asSpecified(st hostapi.HostStatus) bool {
	switch st.Provisioning.State {
	case hostapi.StateProvisioned:
		want, have := a.Spec.Image, st.Provisioning.Image
		if want != nil && (have == nil || have.URL != want.URL) {
			return false
		}
		if step, did := a.Spec.CustomDeploy, st.Provisioning.CustomDeploy; step != nil &&
			(did == nil || did.Method != step.Method) {
			return false
		}
		return st.PoweredOn == a.Spec.Online
	case hostapi.StateExternallyProvisioned:
		return st.PoweredOn == a.Spec.Online
	default:
		return true
	}
}

func annotated(h hostapi.Host, name string) bool {
	_, ok := h.Annotations[name]
	return ok
}

func orNone(s hostapi.State) string {
	if s == hostapi.StateNone {
		return "in no state yet"
	}
	return string(s)
}

// follow shows the progress of hosts until all have reached their states.
func (w *hostWait) follow(s *client.Session, cmd *cobra.Command, hosts []awaited) error {
	ctx, cancel := wait.Context(cmd.Context(), w.Limit)
	defer cancel()
	screen := wait.NewScreen(cmd, s)
	byName := map[string]awaited{} // the last entry of a host that is applied twice
	for _, h := range hosts {
		byName[hostLabel(h.Host)] = h
	}
	return wait.All(output.Sorted(byName), func(name string) error {
		h := byName[name]
		state := h.goal()
		if w.state != "" {
			state = hostapi.State(w.state)
		}
		l := &hostLine{Line: screen.Line(name, nodeOfHost(ctx, s, h.Host))}
		l.Say(fmt.Sprintf("is to be %s%s", state, h.why(state)))
		return checkWaiting(ctx, s, h.Host, l, func(now hostapi.Host) (bool, error) { return h.there(now, state) })
	})
}

// hostLabel is a host's name in output that can mix namespaces.
func hostLabel(h hostapi.Host) string {
	if h.Namespace == hostapi.DefaultNamespace {
		return h.Name
	}
	return h.Namespace + "/" + h.Name
}
