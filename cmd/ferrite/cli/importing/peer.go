package importing

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/ironic"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
)

// peer is an Ironic that nodes come from or go to, and the flags of both commands.
type peer struct {
	session  *client.Session
	conf     ironic.Config
	dry      bool
	selected []string
	replaced []string
	secrets  string
}

// secretFiles are the ends of names of files with secrets.
var secretFiles = []string{"yaml", "yml", "json", "csv", "tsv"}

// flags declares the flags of both commands. The usage of --dry-run is the command's own.
func (p *peer) flags(cmd *cobra.Command, dryRun string) {
	f := cmd.Flags()
	f.BoolVar(&p.dry, "dry-run", false, dryRun)
	f.StringArrayVar(&p.selected, "select", nil,
		"only these nodes: a `NODE` or FIELD=PATTERN; repeat it: one of each field's must match")
	f.StringArrayVar(&p.replaced, "replace", nil, "put a name in the place of another, as `FIELD:OLD=NEW`: of a driver, an "+
		"interface, a conductor_group, an owner or a lessee; repeat it")
	f.StringVar(&p.secrets, "secrets", "", "read passwords from a `FILE`: .yaml, .json, .csv, or .tsv of MySQL's client")
	f.StringVar(&p.conf.CAFile, "ironic-ca-file", os.Getenv("OS_CACERT"), "PEM `file` of certificates to trust for Ironic, "+
		"also $OS_CACERT")
	f.Lookup("ironic-ca-file").DefValue = ""
	f.BoolVar(&p.conf.Insecure, "ironic-insecure", false, "do not check the certificate of Ironic")
	p.conf.Login.Add(f, os.Getenv)
	client.Must(cmd.MarkFlagFilename("secrets", secretFiles...))
}

// options reads --select and --replace.
func (p *peer) options() (selection translate.Selection, o translate.Options, err error) {
	if selection, err = translate.ParseSelection(p.selected); err != nil {
		return nil, o, exit.Usage(err)
	}
	if o.Replace, err = translate.ParseReplacements(p.replaced); err != nil {
		return nil, o, exit.Usage(err)
	}
	o.Secrets = translate.Secrets{}
	return selection, o, nil
}

// readSecrets adds the secrets of the file, which override others.
func (p *peer) readSecrets(into translate.Secrets) error {
	if p.secrets == "" {
		return nil
	}
	raw, err := os.ReadFile(p.secrets)
	if err != nil {
		return fmt.Errorf("--secrets: %w", err)
	}
	of, err := translate.ParseSecrets(p.secrets, raw)
	if err != nil {
		return fmt.Errorf("--secrets %s: %w", p.secrets, err)
	}
	for id, fields := range of {
		for field, values := range fields {
			into.Merge(id, field, values)
		}
	}
	return nil
}

// open logs in to the Ironic at a URL.
func (p *peer) open(cmd *cobra.Command, url string) (*ironic.Client, error) {
	if err := p.conf.Login.Read(cmd.InOrStdin(), os.Getenv); err != nil {
		return nil, exit.Usage(err)
	}
	p.conf.URL, p.conf.Timeout, p.conf.Agent = url, p.session.Timeout, "ferrite/"+p.session.Release
	return ironic.Open(cmd.Context(), p.conf)
}
