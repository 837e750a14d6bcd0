package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// hostLine is one host on the screen, with the node behind it.
type hostLine struct {
	*wait.Line
	state string // the host's state as shown last
}

// show writes a host's new state, and its node's progress.
func (l *hostLine) show(h hostapi.Host, node nodeapi.Status) {
	if text := hostText(h); text != l.state {
		l.state = text
		l.Say(text)
	}
	if node.Node != "" && (node.Activity != "" || node.WaitingFor != "") {
		l.Show(node)
	}
}

// hostText is a host in one line.
func hostText(h hostapi.Host) string {
	st := h.Status
	text := orNone(st.Provisioning.State)
	switch st.OperationalStatus {
	case hostapi.StatusOK, "":
	case hostapi.StatusDelayed:
		text += ", delayed: as many other hosts are at work as may be"
	case hostapi.StatusError:
		if st.ErrorType == "" { // it waits for a conductor
			return text + ", " + st.ErrorMessage
		}
		text += fmt.Sprintf(", %s: %s", st.ErrorType, st.ErrorMessage)
	default:
		text += ", " + string(st.OperationalStatus)
	}
	return text
}

// nodeOfHost returns the status of a host's node; the zero value where there is no node, or no answer from the server.
// While a host is registering, its status does not name its node yet, so the node is found by its name.
func nodeOfHost(ctx context.Context, s *client.Session, h hostapi.Host) nodeapi.Status {
	id := h.Status.Provisioning.ID
	if id == "" && h.Status.Provisioning.State == hostapi.StateRegistering && h.Status.ErrorType == "" {
		id = hostapi.NodeName(h.Namespace, h.Name)
	}
	if id == "" {
		return nodeapi.Status{}
	}
	st, err := wait.ReadStatus(ctx, s, id)
	if err != nil {
		return nodeapi.Status{} // the host's own status shows the trouble
	}
	return st
}

// checkWaiting shows a host's progress until done returns true. For a host that no longer exists it returns an error
// that notFound recognizes.
func checkWaiting(ctx context.Context, s *client.Session, h hostapi.Host, l *hostLine,
	done func(hostapi.Host) (bool, error)) error {
	defer l.Close()
	for poll := wait.FirstPoll; ; poll = min(poll*3/2, wait.LastPoll) {
		var now hostapi.Host
		err := readDocument(ctx, s, hostKind(), h.Namespace, h.Name, &now)
		if client.Passing(err) {
			l.Interrupted(err)
			if err := wait.Pause(ctx, poll); err != nil {
				return hostTimedOut(ctx, h, l, err)
			}
			continue
		}
		if err != nil {
			return hostTimedOut(ctx, h, l, err)
		}
		l.Answered()
		l.show(now, nodeOfHost(ctx, s, now))
		there, err := done(now)
		if err != nil {
			return fmt.Errorf("host %s: %w", hostLabel(h), err)
		}
		if there {
			l.Say(fmt.Sprintf("%s is %s", hostLabel(h), orNone(now.Status.Provisioning.State)))
			return nil
		}
		if err := wait.Pause(ctx, poll); err != nil {
			return hostTimedOut(ctx, h, l, err)
		}
	}
}

// hostTimedOut says where a host stood when patience ended.
func hostTimedOut(ctx context.Context, h hostapi.Host, l *hostLine, err error) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	was := cmp.Or(l.state, "not heard of")
	if l.Last != "" {
		was += " (node: " + l.Last + ")"
	}
	return exit.Is(wait.Stopped(ctx), fmt.Errorf("host %s: %w; it was %s\n  the conductor continues: "+
		"ferrite host describe %s%s", hostLabel(h), context.Cause(ctx), was, h.Name, inNamespace(h)))
}

// inNamespace is the flag that a command for a host needs.
func inNamespace(h hostapi.Host) string {
	if h.Namespace == hostapi.DefaultNamespace {
		return ""
	}
	return " -n " + h.Namespace
}

func hostKind() hostapi.Kind {
	k, _ := hostapi.KindOf(hostapi.KindHost)
	return k
}

// hostError is the host's error, with advice.
func hostError(h hostapi.Host) error {
	return fmt.Errorf("%s: %s\n  try: %s", h.Status.ErrorType, h.Status.ErrorMessage, hostAdvice(h))
}

// hostAdvice is the next step for an operator after an error.
func hostAdvice(h hostapi.Host) string {
	node := "ferrite node status " + h.Status.Provisioning.ID
	if h.Status.Provisioning.ID == "" {
		node = "ferrite host describe " + h.Name + inNamespace(h)
	}
	switch h.Status.ErrorType {
	case hostapi.RegistrationError:
		if h.Spec.BMC.CredentialsName == "" || h.Status.TriedCredentials.Reference == nil {
			return "correct the cause that the error names; the next try follows at once. The BMC has not been called yet"
		}
		return fmt.Sprintf("see that spec.bmc.address %s is right and its controller is reached, and that secret %s has "+
			"its username and password; "+
			"a correction is tried at once", h.Spec.BMC.Address, h.Spec.BMC.CredentialsName)
	case hostapi.ProvisionedRegistrationError:
		if reason := healthyReason(h); reason == reasonLost || reason == reasonForeign {
			return "nothing is erased or written until then; see: ferrite docs hosts/changed-nodes"
		}
		return "see that the BMC answers with the credentials of secret " + h.Spec.BMC.CredentialsName +
			"; the machine itself runs on"
	case hostapi.InspectionError:
		return node + " and ferrite node logs " + cmp.Or(h.Status.Provisioning.ID, "NODE") +
			" show how far the ramdisk came; it is tried again by itself"
	case hostapi.PreparationError:
		return node + " names the step that failed; change spec.raid or the firmware documents, or repair the machine"
	case hostapi.ProvisioningError:
		return node + " names the step that failed; check the image and its checksum, " +
			"and rootDeviceHints match a disk (without any it has to be /dev/sda)"
	case hostapi.PowerManagementError:
		return "see that the BMC answers, and switches the machine when asked to; it is tried again by itself"
	case hostapi.DetachError:
		return "detaching needs a host at rest, or force in the annotation " + hostapi.AnnotationDetached
	case hostapi.ServicingError:
		return node +
			" names the step that failed; it is tried again, and ends when the firmware documents ask for nothing"
	}
	return node
}
