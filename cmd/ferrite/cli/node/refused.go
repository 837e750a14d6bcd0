package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var (
	// the beginning says so
	deployed = regexp.MustCompile(`^([Nn]ode \S+ cannot be deployed|Cannot (clean|service|deploy) node \S+): `)
	nodeUUID = regexp.MustCompile(`[Nn]ode "?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"?`)
)

// refused words a refusal of a verb: the verb as typed, the node as named, the reason and the next command. The
// conductor answers in Ironic's words, which have the UUID, and the verb's name in the API.
func refused(ctx context.Context, s *client.Session, cmd *cobra.Command, node string, err error) error {
	var changed *notRestored
	if errors.As(err, &changed) {
		return errors.Join(refused(ctx, s, cmd, node, changed.refusal), changed.left)
	}
	var f *nodeapi.Fault
	if !errors.As(err, &f) || f.Status < http.StatusBadRequest || f.Status >= http.StatusInternalServerError ||
		f.Status == http.StatusNotFound || f.Status == http.StatusUnauthorized {
		return err
	}
	verb := typed(cmd)
	reason, try := deployed.ReplaceAllString(strings.TrimSuffix(f.Text, "."), ""), ""
	switch {
	case strings.Contains(f.Text, "can not be performed on node") && strings.Contains(f.Text, "in state"):
		st, statusErr := wait.ReadStatus(ctx, s, node)
		if statusErr != nil || allowed(verb, st.State) {
			break // the state has changed since, or is not to be known
		}
		reason, try = inState(verb, st)
	case client.Locked(err):
		reason = "the conductor is at work on it"
		try = "the same command again; ferrite node status NODE shows the current step"
	case strings.Contains(f.Text, " belongs to BareMetalHost "):
		reason, try = ofHost(f.Text)
	case strings.Contains(f.Text, " is protected "):
		reason, try = "it is protected"+protectedFor(ctx, s, node), "ferrite node set NODE --protected=false"
	case strings.Contains(f.Text, " is retired"):
		reason, try = "it is retired", "ferrite node set NODE --retired=false"
	}
	reason = nodeUUID.ReplaceAllString(reason, "node "+node)
	action := verb
	if strings.Contains(verb, " ") && !strings.HasPrefix(verb, "power ") || verb == "nmi" { // it is no verb of English
		action = fmt.Sprintf("do %q for", verb)
	}
	err = &refusal{text: fmt.Sprintf("cannot %s node %s: %s", action, node, reason), cause: err}
	if try != "" {
		return fmt.Errorf("%w\n  try: %s", err, strings.ReplaceAll(try, "NODE", node))
	}
	return err
}

// protectedFor is the reason for a node's protection, in brackets; "" for no reason.
func protectedFor(ctx context.Context, s *client.Session, node string) string {
	var n struct {
		Reason string `json:"protected_reason"`
	}
	if s.Client.Do(ctx, "GET", client.NodePath(node)+"?fields=protected_reason", nil, &n) != nil || n.Reason == "" {
		return ""
	}
	return " (" + n.Reason + ")"
}

// ofHost is the reason of a refusal as a host has the node, and the ways to do it by the host or by force.
func ofHost(text string) (reason, try string) {
	reason, ways, _ := strings.Cut(text, ". To do it by the host: ")
	way, _, _ := strings.Cut(ways, ". To do it all the same")
	_, reason, _ = strings.Cut(reason, " belongs to ")
	return "it belongs to " + reason, way + "; or the same command with --force"
}

// inState is the reason of a refusal for the node's state, and the next command.
func inState(verb string, st nodeapi.Status) (reason, try string) {
	why, try := advice(verb, st.State)
	reason = "it is in state " + st.State + why
	if strings.HasPrefix(verb, "power ") && strings.HasPrefix(st.State, "clean") {
		reason += ", and a power change could leave a disk half wiped"
	}
	if st.LastError != "" && (strings.HasSuffix(st.State, " failed") || st.State == "enroll" || st.State == "error") {
		reason += " (" + strings.TrimSuffix(st.LastError, ".") + ")"
	}
	return reason, try
}

// refusal is a refusal in other words than the conductor's.
type refusal struct {
	text  string
	cause error
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.cause }

// typed is the command below "node" as the operator typed it, such as "power reboot".
func typed(cmd *cobra.Command) string {
	_, verb, _ := strings.Cut(cmd.CommandPath(), " node ")
	return verb
}
