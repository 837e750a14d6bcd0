package bmc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
	"github.com/ferrite-metal/ferrite/conductor/bmc/doctor"
	"github.com/ferrite-metal/ferrite/conductor/bmc/savedtree"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// settings are the flags of the doctor.
type settings struct {
	username, passwordFile, system, verify, tls string
	insecure, exercise, power                   bool
	medium, save, report, output                string
	connect, request                            time.Duration
}

func doctorCommand() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "doctor ADDRESS",
		Short: "Show which operations a BMC supports, how Ferrite does them, and how long they take",
		Long: `Look at a BMC as the conductor will use it. The list shows each operation: whether Ferrite needs it,
whether the BMC offers it, the workarounds of the driver, and the time. Nothing is changed,
without --exercise: it only reads documents, and opens and ends a session of its own.

ADDRESS is a host, a URL, or a BMC's address as Metal3 writes it. The command prompts for the
password, or takes it from the first line of --password-file, or from $FERRITE_BMC_PASSWORD.

The exit status is 1 if a machine behind this BMC could not be deployed.`,
		Example: `  ferrite bmc doctor 10.0.0.1 --username admin
  ferrite bmc doctor https://bmc7.example --username admin --password-file pw --insecure -o json
  ferrite bmc doctor ipmi://10.0.0.1 --username admin --exercise
  ferrite bmc doctor 10.0.0.1 --username admin --report r750.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return examine(cmd, args[0], s) },
	}
	f := c.Flags()
	f.StringVar(&s.username, "username", "", "`user` of the BMC; none: without credentials")
	f.StringVar(&s.passwordFile, "password-file", "", "`file` with the password in its first line, - for standard input")
	f.StringVar(&s.system, "system", "", "`id` or path of the system, where several are behind the address")
	f.StringVar(&s.verify, "verify-ca", "", "`file` with the PEM of the authority of the BMC's certificate")
	f.BoolVar(&s.insecure, "insecure", false, "take any certificate")
	f.StringVar(&s.tls, "tls", "", "legacy: take outdated TLS")
	f.DurationVar(&s.connect, "connect-timeout", 10*time.Second, "for a connection")
	f.DurationVar(&s.request, "request-timeout", 30*time.Second, "for an answer")
	f.BoolVar(&s.exercise, "exercise", false, "also set the boot device, read it back, and set it as it was")
	f.BoolVar(&s.power, "exercise-power", false, "also switch the machine off and on: its workload ends")
	f.StringVar(&s.medium, "exercise-medium", "", "also insert the image at this `URL` into the virtual CD, and eject it")
	f.StringVar(&s.save, "save", "",
		"also write all documents into a new `file` (.tar.gz), without identifiers of the machine")
	f.StringVar(&s.report, "report", "",
		"also write the verdict into a new `file` (.json), without addresses, serial numbers and secrets")
	f.StringVarP(&s.output, "output", "o", "table", "table or json")
	return c
}

// The outcomes for scripts. The table explains them to people.
var (
	errUnusable    = errors.New("a machine behind this BMC cannot be deployed: see the operations that it must have")
	errNotLookedAt = errors.New("the BMC could not be checked: see login")
)

func examine(cmd *cobra.Command, address string, s settings) error {
	if s.output != "table" && s.output != "json" {
		return fmt.Errorf("--output %q: expected table or json", s.output)
	}
	n, err := s.node(cmd, address)
	if err != nil {
		return err
	}
	for _, file := range []struct{ flag, name, suffix string }{
		{"--save", s.save, savedtree.Suffix}, {"--report", s.report, ".json"},
	} {
		if file.name == "" {
			continue
		}
		if err := savedtree.Check(file.name, file.suffix); err != nil {
			return fmt.Errorf("%s: %w", file.flag, err)
		}
	}
	o := doctor.Options{ConnectTimeout: s.connect, RequestTimeout: s.request,
		Exercise: doctor.Exercise{BootDevice: s.exercise, Power: s.power, Medium: s.medium}}
	r, err := doctor.Examine(cmd.Context(), n, o)
	if err != nil {
		return errors.New(inFlags(err.Error()))
	}
	for i := range r.Findings {
		r.Findings[i].Detail = inFlags(r.Findings[i].Detail)
	}
	if s.output == "json" {
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		err = show(cmd.OutOrStdout(), r)
	}
	if err == nil && s.report != "" {
		err = s.share(cmd, r)
	}
	if err == nil && s.save != "" {
		err = s.write(cmd, n, o)
	}
	if err == nil && !lookedAt(r) {
		err = errNotLookedAt
	}
	if err == nil && !r.Usable() {
		err = errUnusable
	}
	return err
}

// share writes the report that others may see.
func (s settings) share(cmd *cobra.Command, r doctor.Report) error {
	shared, err := r.Share(cmd.Root().Version)
	if err == nil {
		err = shared.Save(s.report)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "the verdict is in %s; look through it before you send it\n", s.report)
	return err
}

// write saves the documents, and says so beside the report.
func (s settings) write(cmd *cobra.Command, n node.Node, o doctor.Options) error {
	saved, err := doctor.Save(cmd.Context(), n, o, s.save)
	if err != nil {
		return fmt.Errorf("--save: %s", inFlags(err.Error()))
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(),
		"%d documents are in %s, %d could not be read; look through it before you send it, "+
			"and try it with: ferrite-lab bmc --tree %s\n", saved.Documents, s.save, len(saved.Left), s.save)
	return err
}

// node is the BMC as a node would name it.
func (s settings) node(cmd *cobra.Command, address string) (node.Node, error) {
	t, err := parse(address, s.system)
	if err != nil {
		return node.Node{}, err
	}
	if s.username != "" {
		password, err := s.password(cmd)
		if err != nil {
			return node.Node{}, err
		}
		t.info[t.driver+"_username"], t.info[t.driver+"_password"] = s.username, password
	}
	if t.driver == "redfish" {
		if err := s.trust(t.info); err != nil {
			return node.Node{}, err
		}
	}
	return node.Node{UUID: "00000000-0000-4000-8000-000000000000", Driver: t.driver, DriverInfo: t.info}, nil
}

// trust sets how the BMC's certificate is verified.
func (s settings) trust(info map[string]any) error {
	if s.insecure && s.verify != "" {
		return errors.New("--insecure and --verify-ca contradict each other: leave one out")
	}
	if s.insecure {
		info["redfish_verify_ca"] = false
	}
	if s.verify != "" {
		pem, err := os.ReadFile(s.verify)
		if err != nil {
			return fmt.Errorf("--verify-ca: %w", err)
		}
		info["redfish_verify_ca"] = string(pem)
	}
	if s.tls != "" {
		info["redfish_tls"] = s.tls
	}
	return nil
}

// passwordVariable holds a password for scripts.
const passwordVariable = "FERRITE_BMC_PASSWORD"

func (s settings) password(cmd *cobra.Command) (string, error) {
	if s.passwordFile != "" {
		return secret.FirstLine(cmd.InOrStdin(), "--password-file", s.passwordFile)
	}
	if p, set := os.LookupEnv(passwordVariable); set {
		return p, nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", fmt.Errorf("no password for %s: use --password-file, or $%s", s.username, passwordVariable)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Password of %s: ", s.username)
	typed, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(cmd.ErrOrStderr())
	return string(typed), err
}

// flagOf has the flag for each setting of a node that the drivers' errors name.
var flagOf = strings.NewReplacer("driver_info: ", "", "redfish_verify_ca to false", "--insecure", "redfish_verify_ca",
	"--verify-ca",
	"driver_info redfish_tls to legacy", "--tls legacy", "redfish_tls to legacy", "--tls legacy",
	"redfish_system_id", "--system", "redfish_address", "ADDRESS", "ipmi_address", "ADDRESS",
	"redfish_password", "--password-file", "ipmi_password", "--password-file",
	"redfish_username", "--username", "ipmi_username", "--username",
	"--bmc-connect-timeout or driver_info bmc_connect_timeout", "--connect-timeout")

// inFlags is an error of a driver in the words of this command.
func inFlags(text string) string { return flagOf.Replace(text) }
