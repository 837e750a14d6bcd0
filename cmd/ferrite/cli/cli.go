// Package cli is the ferrite command: nodes, ports and portgroups, chassis,
// volumes, templates, runbooks, inspection rules, allocations, leases, erase
// reports and drivers of a conductor, and the documents of hosts, from a shell.
// One file per noun or verb.
//
// It is a client like any other: it knows the wire (proto) and nothing of what
// is behind it, and works against Ironic too, with less to show. What machines
// have said is shown, and never obeyed, by the terminal (visible.go).
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// defaultURL is where a conductor listens that was not told otherwise.
const defaultURL = "http://127.0.0.1:6385"

// session is what all commands of one run share.
type session struct {
	release string
	url     string
	output  string
	timeout time.Duration
	login   login
	client  *client
}

const rootHelp = `ferrite turns powered-off machines into running ones.

A machine's life, and the verb for each part of it:

  enroll      ferrite node create --driver redfish --driver-info ... --port MAC
  manage      ferrite node manage NODE     check that its BMC answers
  inspect     ferrite node inspect NODE    learn what it is made of
  provide     ferrite node provide NODE    wipe it and offer it
  deploy      ferrite node deploy NODE --image URL --checksum SUM
  undeploy    ferrite node undeploy NODE   wipe it and offer it again

Something is stuck?  ferrite node status NODE  says what it waits for, since
when, until when, and what to try.

Or say in a document what a machine is to be, and have it kept so (Metal3's BareMetalHost, which
kubectl works with, too):

  ferrite apply -f host.yaml --wait
  ferrite get hosts -w
  ferrite describe host NAME

Where the conductor is, and who you are to it: the flags --url, --user and those below, or
FERRITE_URL, FERRITE_USER with FERRITE_PASSWORD, or FERRITE_TOKEN, and FERRITE_CACERT.`

// New makes the command. extra are commands that are more than a client: serve,
// user and image.
func New(release string, extra ...*cobra.Command) *cobra.Command {
	s := &session{release: release}
	root := &cobra.Command{
		Use:           "ferrite",
		Short:         "Turn powered-off machines into running ones",
		Long:          rootHelp,
		Version:       release,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Root() != cmd && top(cmd).GroupID != "client" {
				return noClient(cmd)
			}
			if err := s.checkOutput(cmd); err != nil {
				return err
			}
			return s.open(cmd.InOrStdin())
		},
	}
	url := os.Getenv("FERRITE_URL")
	if url == "" {
		url = defaultURL
	}
	flags := root.PersistentFlags()
	flags.StringVar(&s.url, "url", url, "where the conductor is, also $FERRITE_URL")
	flags.StringVarP(&s.output, "output", "o", "table", "table, json or yaml")
	flags.DurationVar(&s.timeout, "request-timeout", time.Minute, "how long one request may take")
	s.login.add(flags)
	root.AddGroup(&cobra.Group{ID: "client", Title: "Work with a conductor:"}, &cobra.Group{ID: "server", Title: "Be a conductor:"})
	for _, c := range []*cobra.Command{
		nodeCommand(s), portCommand(s), portgroupCommand(s), chassisCommand(s), volumeCommand(s), templateCommand(s), runbookCommand(s),
		inspectionRuleCommand(s), allocationCommand(s), leaseCommand(s), eraseReportCommand(s), driverCommand(s), versionCommand(s),
		applyCommand(s), getCommand(s), describeCommand(s), deleteCommand(s), hostCommand(s),
	} {
		c.GroupID = "client"
		root.AddCommand(c)
	}
	for _, c := range extra {
		if c.GroupID == "" {
			c.GroupID = "server"
		}
		c.SetHelpFunc(helpOfNoClient)
		root.AddCommand(c)
	}
	return root
}

// top is the command below the root that a command belongs to.
func top(cmd *cobra.Command) *cobra.Command {
	for cmd.Parent() != cmd.Root() {
		cmd = cmd.Parent()
	}
	return cmd
}

// noClient refuses the flags of clients for a command that asks no conductor:
// who gives them expects them to matter.
func noClient(cmd *cobra.Command) (err error) {
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && err == nil {
			err = fmt.Errorf("--%s is for commands that ask a conductor, which ferrite %s does not: leave it out", f.Name, top(cmd).Name())
		}
	})
	return err
}

// helpOfNoClient is the help of such a command, without those flags.
func helpOfNoClient(cmd *cobra.Command, args []string) {
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	cmd.Root().HelpFunc()(cmd, args)
}

// moreOutputs is the annotation of commands that can print in more forms than all
// can: their names, between commas.
const moreOutputs = "outputs"

// checkOutput refuses forms that a command cannot print in.
func (s *session) checkOutput(cmd *cobra.Command) error {
	forms := []string{"table", "json", "yaml"}
	if more := cmd.Annotations[moreOutputs]; more != "" {
		forms = append(forms, strings.Split(more, ",")...)
	}
	if slices.Contains(forms, s.output) {
		return nil
	}
	last := len(forms) - 1
	return fmt.Errorf("--output %q: expected %s or %s", s.output, strings.Join(forms[:last], ", "), forms[last])
}

// open makes the client.
func (s *session) open(stdin io.Reader) error {
	if err := s.login.open(stdin); err != nil {
		return err
	}
	c, err := newClient(s.url, s.release, s.timeout, &s.login)
	s.client = c
	return err
}

// Run carries a command out and prints its error. It returns the exit status.
func Run(ctx context.Context, cmd *cobra.Command) int {
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "ferrite: %s\n", visible(err.Error()))
		return 1
	}
	return 0
}

// group makes a command that only holds others.
func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	g.AddCommand(commands...)
	return g
}

// must panics on a mistake in the making of a command, which the first run of
// any test would show.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
