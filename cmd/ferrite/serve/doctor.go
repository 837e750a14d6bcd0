package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/datafolder"
)

// Grades of a finding.
const (
	gradeGood = "ok"
	gradeWarn = "warn"
	gradeBad  = "bad"
)

// finding is what one look at this host has shown.
type finding struct {
	Check string `json:"check"`
	Grade string `json:"grade"`
	Found string `json:"found"`
	Try   string `json:"try,omitempty"` // what to do about it
}

func good(format string, args ...any) finding {
	return finding{Grade: gradeGood, Found: fmt.Sprintf(format, args...)}
}

func warn(try, format string, args ...any) finding {
	return finding{Grade: gradeWarn, Found: fmt.Sprintf(format, args...), Try: try}
}

func bad(try, format string, args ...any) finding {
	return finding{Grade: gradeBad, Found: fmt.Sprintf(format, args...), Try: try}
}

// patient is one host that is looked at.
type patient struct {
	conf    Config
	running bool // a conductor has the data folder
	now     func() time.Time
	log     *slog.Logger
}

// checkup is one look. A check whose subject is switched off has no findings.
type checkup struct {
	name string
	look func(ctx context.Context, p patient) []finding
}

var checkups = []checkup{
	{"data folder", lookAtData}, {"disk", lookAtDisk}, {"ports", lookAtPorts}, {"API", lookAtAPI},
	{"interface", lookAtInterface}, {"other DHCP", lookForDHCP}, {"ramdisk", lookAtRamdisk},
	{"certificate", lookAtCertificate}, {"clock", lookAtClock}, {"BMCs", lookAtBMCs},
}

// DoctorCommand is `ferrite doctor`.
func DoctorCommand() *cobra.Command {
	var config, format string
	c := &cobra.Command{
		Use: "doctor", Short: "Look at this host as a conductor's, and say what to do about each fault",
		Args: cobra.NoArgs, SilenceUsage: true,
		Long: `Reads the configuration as "ferrite serve" does, and looks at data folder, disk, ports, network
interface, other DHCP servers, ramdisk, certificate, clock and BMCs. The conductor may be running.

Nothing is changed. One DHCP request with a made-up address is sent on the boot interface, and the
BMC of every node is asked for the power state; both need root, or the service's user.

The exit status is 1 if something is bad. For one BMC in detail: ferrite bmc doctor.`,
		Example: "  ferrite doctor\n  ferrite doctor --config /etc/ferrite/ferrite.yaml -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "table" && format != "json" {
				return fmt.Errorf("--output %q: expected table or json", format)
			}
			return examine(cmd.Context(), config, format, cmd.OutOrStdout())
		},
	}
	c.Flags().StringVar(&config, "config", "/etc/ferrite/ferrite.yaml", "YAML `file` of settings, as of ferrite serve")
	c.Flags().StringVarP(&format, "output", "o", "table", "table or json")
	return c
}

// errBad is the outcome for scripts; the table has told a person why.
var errBad = errors.New("something on this host keeps machines from being provisioned: see the lines that are bad")

func examine(ctx context.Context, config, format string, out io.Writer) error {
	p := patient{now: time.Now, log: slog.New(slog.DiscardHandler)}
	all, err := p.read(config)
	if err != nil {
		return err
	}
	for _, c := range checkups {
		if len(all) > 0 && all[0].Grade == gradeBad {
			break // of a configuration that is refused nothing follows
		}
		for _, f := range c.look(ctx, p) {
			f.Check = c.name
			all = append(all, f)
		}
	}
	if err := show(all, format, out); err != nil {
		return err
	}
	for _, f := range all {
		if f.Grade == gradeBad {
			return errBad
		}
	}
	return nil
}

// read takes the configuration, and says whether it is accepted.
func (p *patient) read(config string) ([]finding, error) {
	said, err := CheckFile(config)
	if err != nil {
		f := bad("change it, or make one with: ferrite setup", "%v", err)
		f.Check = "configuration"
		return []finding{f}, nil
	}
	cmd := Command()
	if err := cmd.ParseFlags([]string{"--config", config}); err != nil {
		return nil, err
	}
	if p.conf, err = read(cmd.Flags()); err != nil {
		return nil, err
	}
	if _, err := os.Stat(p.conf.DataDir); err == nil {
		unlock, err := datafolder.LockToRead(p.conf.DataDir)
		if p.running = err != nil; !p.running {
			if err := unlock(); err != nil {
				return nil, err
			}
		}
	}
	f := good("%s", said)
	f.Check = "configuration"
	return []finding{f}, nil
}

func show(all []finding, format string, out io.Writer) error {
	if format == "json" {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"Check", "", "Found", "What to do"})
	for _, f := range all {
		t.AppendRow(table.Row{f.Check, f.Grade, f.Found, f.Try})
	}
	_, err := fmt.Fprintln(out, t.Render())
	return err
}
