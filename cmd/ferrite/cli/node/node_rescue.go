package node

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func nodeRescue(s *client.Session) (cmd *cobra.Command) {
	v := verb{
		name: "rescue", goal: wait.ProvisionGoal("rescue"), args: " [--password-file FILE]",
		short: "Boot a machine into a rescue ramdisk with a login",
		long: `Boot a machine into a ramdisk to which the user rescue can log in over SSH. The disks are not
touched. The command prompts for the password, or reads it from a file (- is standard input).
The conductor keeps only a hash of it, until the ramdisk has received it.

The machine must be active. The rescue ends with: ferrite node unrescue NODE`,
		flags: func(_ *client.Session, cmd *cobra.Command) body {
			file := cmd.Flags().String("password-file", "",
				"`file` whose first line is the password; - is standard input")
			return func(cmd *cobra.Command, _ []string) (any, error) {
				password, err := readPassword(cmd, *file)
				return nodeapi.Provision{Target: "rescue", RescuePassword: password}, err
			}
		},
	}
	v.goal.Then = func(node string, say func(string)) { say(rescueLogin(cmd.Context(), s, node)) }
	cmd = v.command(s)
	return cmd
}

// readPassword asks for a password on the terminal, or takes the first line of
// a file. On the command line it would be everybody's to see.
func readPassword(cmd *cobra.Command, file string) (string, error) {
	switch {
	case file == "" && term.IsTerminal(int(os.Stdin.Fd())):
		fmt.Fprint(cmd.ErrOrStderr(), "Password for user rescue: ")
		typed, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		return string(typed), err
	case file == "":
		return "", errors.New("there is no terminal to ask for the password: use --password-file")
	}
	return secret.FirstLine(cmd.InOrStdin(), "--password-file", file)
}

// hostKey is how the agent logs the key of its SSH server.
var hostKey = regexp.MustCompile(`host_key=(SHA256:[A-Za-z0-9+/=]+)`)

// rescueLogin is the command to log in with, and the key that the machine then shows.
func rescueLogin(ctx context.Context, s *client.Session, node string) string {
	var log tail
	key := "not known here: see ferrite node logs " + node
	path := client.FerritePath(node, "logs?"+nodeapi.LogQuery{}.Values().Encode())
	if s.Client.Stream(ctx, path, &log) == nil {
		if all := hostKey.FindAllSubmatch(log.end, -1); len(all) > 0 {
			key = string(all[len(all)-1][1])
		}
	}
	address := rescueAddress(ctx, s, node)
	if address == "" {
		return "the address is not known here: see ferrite lease list; log in as rescue, host key " + key
	}
	return "ssh rescue@" + address + ", host key " + key
}

// tail keeps the end of the bytes written to it.
type tail struct{ end []byte }

// mostTail bounds the kept end of a log.
const mostTail = 1 << 20

func (t *tail) Write(b []byte) (int, error) {
	t.end = append(t.end, b...)
	if over := len(t.end) - mostTail; over > 0 {
		t.end = bytes.Clone(t.end[over:])
	}
	return len(b), nil
}

// withAddress is the next command for a node, with the address to log in at where the conductor's advice has none.
func withAddress(ctx context.Context, s *client.Session, st nodeapi.Status) string {
	text := wait.Next(st)
	if strings.Contains(text, "rescue@ADDRESS") {
		text = strings.Replace(text, "ADDRESS", cmp.Or(rescueAddress(ctx, s, st.Node), "ADDRESS"), 1)
	}
	return text
}

// rescueAddress is the address of the node's agent, else the address of its lease.
func rescueAddress(ctx context.Context, s *client.Session, node string) string {
	var n struct {
		UUID     string
		Internal struct {
			AgentURL string `json:"agent_url"`
		} `json:"driver_internal_info"`
	}
	if s.Client.Do(ctx, "GET", client.NodePath(node)+"?fields=uuid,driver_internal_info", nil, &n) != nil {
		return ""
	}
	if u, err := url.Parse(n.Internal.AgentURL); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return nodes.Addresses(ctx, s)[n.UUID].IP
}
