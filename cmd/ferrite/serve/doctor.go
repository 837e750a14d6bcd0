//go:build !nooperate

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/extras/operate/doctor"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// DoctorCommand is `ferrite server doctor`.
func DoctorCommand() *cobra.Command {
	var config, format string
	c := &cobra.Command{
		Use: "doctor", Short: "Check the host of a conductor; each fault comes with its remedy",
		Args: cobra.NoArgs, SilenceUsage: true,
		Long: `Reads the configuration as "ferrite serve" does, and looks at data folder, disk, ports, network
interface, other DHCP servers, ramdisk, certificate, clock and BMCs. The conductor may be running.

Nothing is changed. One DHCP request with a made-up address is sent on the boot interface, and the
BMC of every node is asked for the power state; both need root, or the service's user.

The exit status is 1 if something is bad. For one BMC in detail: ferrite bmc doctor.`,
		Example: "  ferrite server doctor\n  ferrite server doctor --config /etc/ferrite/ferrite.yaml -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "table" && format != "json" {
				return fmt.Errorf("--output %q: expected table or json", format)
			}
			return examine(cmd.Context(), config, format, cmd.OutOrStdout())
		},
	}
	c.Flags().StringVar(&config, "config", siteconfig.Path(),
		"YAML `file` of settings, as of ferrite serve; also $"+siteconfig.Variable)
	c.Flags().Lookup("config").DefValue = siteconfig.Default // help is the same with any environment
	c.Flags().StringVarP(&format, "output", "o", "table", "table or json")
	return c
}

// errBad is the outcome for scripts. The table explains it to people.
var errBad = errors.New("something on this host keeps machines from being provisioned: see the lines that are bad")

func examine(ctx context.Context, config, format string, out io.Writer) error {
	configured, host, err := hostOf(config)
	if err != nil {
		return err
	}
	all := []doctor.Finding{configured}
	if configured.Grade != doctor.GradeBad { // of a configuration that is refused nothing follows
		all = append(all, host.Look(ctx)...)
	}
	if err := show(all, format, out); err != nil {
		return err
	}
	for _, f := range all {
		if f.Grade == doctor.GradeBad {
			return errBad
		}
	}
	return nil
}

// hostOf reads the configuration of a host, and reports whether it is accepted.
func hostOf(config string) (f doctor.Finding, h doctor.Host, err error) {
	f = doctor.Finding{Check: "configuration", Grade: doctor.GradeGood}
	if f.Found, err = CheckFile(config); err != nil {
		f.Grade, f.Found, f.Try = doctor.GradeBad, err.Error(), "change it, or make one with: ferrite server setup"
		return f, h, nil
	}
	conf, err := parsed("--config", config)
	if err != nil {
		return f, h, err
	}
	h = conf.examined()
	if _, err := os.Stat(conf.DataDir); err == nil {
		unlock, err := datafolder.LockToRead(conf.DataDir)
		if h.Running = err != nil; !h.Running {
			if err := unlock(); err != nil {
				return f, h, err
			}
		}
	}
	return f, h, nil
}

// examined describes the host to the doctor, by the settings.
func (c Config) examined() doctor.Host {
	h := doctor.Host{Folder: datafolder.Folder{Dir: c.DataDir, Server: c.server()}, APIAddress: c.APIAddress,
		APIURL: c.scheme() + c.APIAddress, TLSCert: c.TLSCert, TLSKey: c.TLSKey, BMCs: c.examinedBMCs, Now: time.Now}
	if !c.Boot {
		return h
	}
	h.Boot = &doctor.Boot{Interface: c.BootInterface, HTTPPort: bootserver.DefaultHTTPPort, OtherDHCP: c.OtherDHCP,
		Kernel: c.Kernel, Initrd: c.Initrd, LoaderDir: c.LoaderDir,
		Address: func() (netip.Addr, netip.Prefix, error) {
			at, own, err := c.subnet()
			return at, own.Prefix, err
		}}
	return h
}

// examinedBMCs are the drivers of a conductor with these settings.
func (c Config) examinedBMCs() (doctor.BMCs, error) {
	log := slog.New(slog.DiscardHandler)
	dialled, err := c.dialling(nil, log)
	if err != nil {
		return doctor.BMCs{}, err
	}
	o, err := c.bmcOptions(log)
	if err != nil {
		return doctor.BMCs{}, err
	}
	o.Dialer = dialled.bmcs.Dialer()
	drivers, err := bmc.New(c.HardwareTypes, o)
	if err != nil {
		return doctor.BMCs{}, fmt.Errorf("--hardware-types: %w", err)
	}
	all := map[string]doctor.BMC{}
	for name, d := range drivers.Types() {
		all[name] = d
	}
	return doctor.BMCs{Drivers: all, Close: drivers.Close}, nil
}

func show(all []doctor.Finding, format string, out io.Writer) error {
	if format == "json" {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	names := 0
	for _, f := range all {
		names = max(names, len(f.Check))
	}
	var b strings.Builder
	for _, f := range all {
		head := fmt.Sprintf("%-4s  %-*s  ", f.Grade, names, f.Check)
		found := f.Found
		if f.Try != "" {
			found += "\ntry: " + f.Try
		}
		for line := range strings.SplitSeq(found, "\n") { // WrapSoft would join these lines
			for part := range strings.SplitSeq(text.WrapSoft(line, doctorColumns-len(head)), "\n") {
				b.WriteString(strings.TrimRight(head+part, " ") + "\n")
				head = strings.Repeat(" ", len(head))
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// doctorColumns is the width of a terminal and of a mail, in which reports of cron jobs arrive.
const doctorColumns = 80
