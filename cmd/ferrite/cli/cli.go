// Package cli is the ferrite command: nodes, ports and portgroups, chassis,
// volumes, templates, runbooks, inspection rules, allocations, leases, erase
// reports and drivers of a conductor, its boot network, and the documents of hosts, from a shell.
// One file per noun or verb.
//
// It is a client like any other: it knows the wire (proto) and nothing of the
// conductor behind it. It works against Ironic too, with less to show. Control
// characters in texts of machines are made visible, so a terminal does not obey
// them (internal/output).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/boot"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/completion"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/inventory"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/node"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/signals"
)

const rootHelp = `ferrite turns powered-off machines into running ones.

A machine's life, and the verb for each part of it:

  enroll      ferrite node create --driver redfish --driver-info ... --port MAC
  manage      ferrite node manage NODE     check that its BMC answers
  inspect     ferrite node inspect NODE    store its inventory
  provide     ferrite node provide NODE    clean its disks, make it available
  deploy      ferrite node deploy NODE --image URL --checksum SUM
  undeploy    ferrite node undeploy NODE   end the workload, clean the disks

Is a machine stuck?  ferrite node status NODE  shows the step it is at, its
deadline, and the next command to try.
`

const connectHelp = `
The conductor's URL is --url or FERRITE_URL; its certificate authority is
--ca-file or FERRITE_CACERT. Log in as FERRITE_USER with FERRITE_PASSWORD, or
with FERRITE_TOKEN.`

// New makes the command. local are commands that are more than a client: serve,
// user and image.
func New(release string, local ...*cobra.Command) *cobra.Command {
	s := &client.Session{Release: release}
	root := &cobra.Command{
		Use:           "ferrite",
		Short:         "Turn powered-off machines into running ones",
		Version:       release,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if !asksConductor(cmd) {
				return noClient(cmd)
			}
			if err := s.CheckOutput(cmd); err != nil {
				return err
			}
			return s.Open(cmd.InOrStdin())
		},
	}
	url := os.Getenv("FERRITE_URL")
	if url == "" {
		url = client.DefaultURL
	}
	flags := root.PersistentFlags()
	flags.StringVar(&s.Url, "url", url, "`URL` of the conductor, also $FERRITE_URL")
	flags.StringVarP(&s.Output, "output", "o", "table",
		"output `format`: table, wide, name, json, yaml or jsonpath=TEMPLATE; see: ferrite help output")
	flags.DurationVar(&s.Timeout, "request-timeout", time.Minute, "time limit of one request")
	s.Login.Add(flags)
	for flag, usual := range map[string]string{"url": client.DefaultURL, "user": "", "ca-file": ""} {
		flags.Lookup(flag).DefValue = usual // help is the same with any environment
	}
	root.AddGroup(&cobra.Group{ID: "client", Title: "Work with a conductor:"},
		&cobra.Group{ID: "server", Title: "Run a conductor:"}, &cobra.Group{ID: "learn", Title: "Learn more:"})
	root.SetHelpCommand(helpCommand())
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpTemplate(helpTemplate)
	cobra.AddTemplateFunc("fit", output.ScreenOf(os.Stdout).Wrap)
	cobra.AddTemplateFunc("flow", output.ScreenOf(os.Stdout).Flow)
	cobra.AddTemplateFunc("flags", flagUsages)
	cobra.AddTemplateFunc("inherited", inheritedUsages)
	cobra.AddTemplateFunc("asks", hasCommonFlags)
	root.AddCommand(topics()...)
	root.SetHelpCommandGroupID("learn")
	root.SetCompletionCommandGroupID("learn")
	add := func(c *cobra.Command) {
		c.GroupID = "client"
		root.AddCommand(c)
	}
	for _, c := range append(inventory.Commands(s), node.Command(s), boot.Command(s), signals.EventsCommand(s),
		signals.AuditCommand(s), versionCommand(s)) {
		add(c)
	}
	root.Long = rootHelp + addExtras(root, s, add) + connectHelp
	completion.Add(root, s)
	for _, c := range local {
		addLocal(root, c)
	}
	addMoved(root)
	explainUsage(root)
	root.SetFlagErrorFunc(explainValue)
	return root
}

// asks is the annotation of a command and those below it, if their parent differs.
const (
	asks      = "asks"
	conductor = "conductor"
	nothing   = "nothing"
)

// addLocal adds a command that asks no conductor. If a client's command has its name, those below it are added there.
func addLocal(root, c *cobra.Command) {
	completion.Add(c, nil)
	c.SetHelpFunc(helpOfNoClient)
	for _, known := range root.Commands() {
		if known.Name() != c.Name() {
			continue
		}
		for _, below := range c.Commands() {
			c.RemoveCommand(below)
			below.Annotations = map[string]string{asks: nothing}
			below.SetHelpFunc(helpOfNoClient)
			known.AddCommand(below)
		}
		return
	}
	if c.GroupID == "" {
		c.GroupID = "server"
	}
	root.AddCommand(c)
}

// asksConductor reports whether a command needs a client.
func asksConductor(cmd *cobra.Command) bool {
	for c := cmd; c.HasParent(); c = c.Parent() {
		if c.Annotations[asks] != "" {
			return c.Annotations[asks] == conductor
		}
	}
	return cmd.Root() == cmd || top(cmd).GroupID == "client"
}

// top is the command below the root that a command belongs to.
func top(cmd *cobra.Command) *cobra.Command {
	for cmd.Parent() != cmd.Root() {
		cmd = cmd.Parent()
	}
	return cmd
}

// noClient refuses the flags of clients for a command that asks no conductor,
// since they would have no effect.
func noClient(cmd *cobra.Command) (err error) {
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && err == nil {
			err = exit.Usage(fmt.Errorf("--%s is for commands that ask a conductor; %s asks none: leave it out", f.Name,
				noClientName(cmd)))
		}
	})
	return err
}

// noClientName is the command that asks no conductor.
func noClientName(cmd *cobra.Command) string {
	for c := cmd; c.HasParent(); c = c.Parent() {
		if c.Annotations[asks] != "" {
			return c.CommandPath()
		}
	}
	return "ferrite " + top(cmd).Name()
}

// helpOfNoClient is the help of such a command, without those flags.
func helpOfNoClient(cmd *cobra.Command, args []string) {
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	cmd.Root().HelpFunc()(cmd, args)
}

// Run carries a command out and prints its error. It returns the exit status.
func Run(ctx context.Context, cmd *cobra.Command) int {
	if c, err := cmd.ExecuteContextC(ctx); err != nil {
		text := plain(explainFlags(c, err).Error())
		if file := (*fs.PathError)(nil); !errors.As(err, &file) { // a path of this host may read as one of the API
			text = flagNames(c, text)
		}
		text = "ferrite: " + output.Visible(text)
		fmt.Fprintln(cmd.ErrOrStderr(), output.ScreenOf(cmd.ErrOrStderr()).Wrap(text))
		return int(exit.Of(explainFlags(c, err)))
	}
	return int(exit.Done)
}
