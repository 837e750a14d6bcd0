// Package setup is `ferrite server setup`: it writes the files that a first server needs: the configuration, an admin,
// a certificate. It has the configuration checked as `ferrite serve --check` does, and enables the service where systemd
// runs.
//
// It works on the files of this host, and needs no conductor. Nothing that exists is replaced without a flag.
package setup

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
)

const help = `Writes the configuration of a first server, makes an admin and a certificate, checks all of it, and
enables the service "ferrite" where systemd runs.

On a terminal it prompts for values that no flag gives. With --yes, or without a terminal,
it asks nothing and uses the defaults. Without a password it makes one, and prints it once.

An existing configuration is replaced only with --overwrite, and kept as ferrite.yaml.old; the
configuration that a package has installed is replaced without it. Existing users and certificates
are kept, unless a flag names others.`

// Command is `ferrite server setup`.
func Command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use: "setup", Short: "Write the configuration of a first server, with an admin and a certificate",
		Long: help, Args: cobra.NoArgs, SilenceUsage: true,
		Example: "  ferrite server setup\n" +
			"  ferrite server setup --yes --interface eth1 --pool 10.0.0.100-10.0.0.200 --admin-password-file password\n" +
			"  ferrite server setup --yes --api-address 127.0.0.1:6385      # without a boot service",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.passwordFile != "" {
				password, err := secret.FirstLine(cmd.InOrStdin(), "--admin-password-file", o.passwordFile)
				if err != nil {
					return err
				}
				o.password = password
			}
			return run(cmd, o)
		},
	}
	o.flags(c.Flags())
	return c
}

// options holds the values of the flags.
type options struct {
	answers
	configDir, passwordFile string
	overwrite, yes, enable  bool
}

func (o *options) flags(f *pflag.FlagSet) {
	f.StringVar(&o.Interface, "interface", "", "network `interface` that machines boot from; without it, no boot service")
	f.StringVar(&o.APIAddress, "api-address", "",
		"`host:port` of the REST API (default: the address of --interface, or 127.0.0.1, and port 6385)")
	f.StringVar(&o.Pool, "pool", "", "`first-last` addresses to give to machines (default: the upper half of the subnet)")
	f.StringVar(&o.Router, "router", "", "default `router` of the machines")
	f.StringSliceVar(&o.DNS, "dns", nil, "name servers of the machines")
	f.StringVar(&o.DHCP, "dhcp", "",
		"full, or beside another DHCP server proxy or off: as --dhcp of ferrite serve (default full)")
	f.StringVar(&o.Kernel, "ramdisk-kernel", "",
		"kernel `file` of the ramdisk (default: "+ramdiskKernel+", if it is there)")
	f.StringVar(&o.Initrd, "ramdisk-initrd", "",
		"initramfs `file` of the ramdisk (default: "+ramdiskInitrd+", if it is there)")
	f.StringVar(&o.Admin, "admin", "admin", "`name` of the first admin")
	f.StringVar(&o.passwordFile, "admin-password-file", "",
		"`file` whose first line is the admin's password; - is standard input")
	f.StringVar(&o.Certificate, "certificate", "",
		"make (an authority and a certificate), none (plain HTTP), or the PEM `file` of one (default: the present one, none "+
			"for the loopback, else make)")
	f.StringVar(&o.CertificateKey, "certificate-key", "", "PEM `file` of the private key of --certificate")
	f.StringSliceVar(&o.Names, "certificate-names", nil, "more `names` and addresses for the certificate that is made")
	f.StringVar(&o.configDir, "config-dir", "/etc/ferrite", "`folder` of the configuration")
	f.StringVar(&o.DataDir, "data-dir", "/var/lib/ferrite", "`folder` of the database")
	f.BoolVar(&o.overwrite, "overwrite", false, "replace a configuration that exists; it is kept as ferrite.yaml.old")
	f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing")
	f.BoolVar(&o.enable, "enable", true, "enable and start the service if systemd runs and knows it")
}

// run gathers the answers, and lets nothing change before all of them have been checked.
func run(cmd *cobra.Command, o options) error {
	if err := o.fill(); err != nil {
		return err
	}
	if err := o.refuseExisting(); err != nil {
		return err
	}
	if !o.yes {
		in, ok := cmd.InOrStdin().(*os.File)
		if !ok || !term.IsTerminal(int(in.Fd())) {
			return fmt.Errorf("there is no terminal to ask on: say --yes, and by flags what is to be other than its default")
		}
		q := questions{in: in, out: cmd.ErrOrStderr(), asked: cmd.Flags().Changed}
		if err := q.ask(&o.answers); err != nil {
			return err
		}
	}
	if err := o.complete(); err != nil {
		return err
	}
	made, err := o.files()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if err := made.install(o.configDir, out); err != nil {
		return err
	}
	service, err := o.service(cmd.Context())
	if err != nil {
		return err
	}
	return o.report(out, service)
}

// path is a file of the configuration.
func (o *options) path(name string) string { return filepath.Join(o.configDir, name) }

// report names the user to log in as, and the next steps.
func (o *options) report(out io.Writer, service string) error {
	if o.generated {
		fmt.Fprintf(out, "setup: user %s, password %s (shown this once; change it with: ferrite user password %s%s)\n",
			o.Admin, o.password, o.Admin, o.configFlag())
	}
	fmt.Fprintf(out, "setup: %s\n", service)
	if o.Interface != "" && o.Kernel == "" {
		fmt.Fprintf(out, "setup: machines need a ramdisk: ferrite ramdisk build --profile metal --out %s, "+
			"then setup again with --overwrite\n", filepath.Dir(ramdiskKernel))
	}
	scheme, authority := "http", ""
	if o.tls() {
		scheme = "https"
	}
	if o.made {
		authority = " FERRITE_CACERT=" + o.path(authorityFile)
	}
	at := o.APIAddress
	if a, err := netip.ParseAddrPort(at); err == nil && a.Addr().IsUnspecified() {
		at = fmt.Sprintf("127.0.0.1:%d", a.Port())
	}
	_, err := fmt.Fprintf(out, "setup: log in with: export FERRITE_URL=%s://%s%s FERRITE_USER=%s\n"+
		"setup: and its password: read -rsp 'Password: ' FERRITE_PASSWORD && export FERRITE_PASSWORD\n",
		scheme, at, authority, o.Admin)
	return err
}

// configFlag is the flag with which other commands find the configuration, unless they do without it.
func (o *options) configFlag() string {
	if path := o.path(configFile); path != siteconfig.Path() {
		return " --config " + path
	}
	return ""
}
