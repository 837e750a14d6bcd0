package serve

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/documents/objects"
	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// StoreCommand is `ferrite store`: it works on the database of a conductor that does not run.
func StoreCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "store", Short: "Check or copy the database of a conductor", SilenceUsage: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	dir := os.Getenv("FERRITE_DATA_DIR")
	if dir == "" {
		dir = datafolder.Default
	}
	c.AddCommand(storeCheckCommand(dir), storeCopyCommand())
	return c
}

func storeCheckCommand(dir string) *cobra.Command {
	var url, passwordFile string
	check := &cobra.Command{
		Use: "check", Short: "Check every row of a database, and its keys; nothing is changed", Args: cobra.NoArgs,
		Long: `Reads the database and the WAL of a conductor that does not run, or of a copy of its data
folder. Checks pages, indexes, references, each row's document, sealed values with their key,
and signatures of erase reports. Nothing is changed.

With --database it reads PostgreSQL, as it is at one moment: the conductor may run. The keys are
in its data folder. pg_amcheck checks pages and indexes of PostgreSQL.

Prints the number of rows of each table, then "store: ok". Each fault is a line instead, and
the exit status is 1.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			server, err := datafolder.ReadServer(url, passwordFile)
			if err != nil {
				return err
			}
			return storeCheck{datafolder.Folder{Dir: dir, Server: server}, cmd.OutOrStdout()}.run(cmd)
		},
	}
	check.Flags().StringVar(&dir, "data-dir", dir, "`folder` of the database, also $FERRITE_DATA_DIR")
	check.Flags().StringVar(&url, "database", os.Getenv("FERRITE_DATABASE"),
		"`URL` of a PostgreSQL database, as of ferrite serve")
	check.Flags().StringVar(&passwordFile, "database-password-file", os.Getenv("FERRITE_DATABASE_PASSWORD_FILE"),
		"`file` with its password")
	return check
}

// storeCheck is one check of a data folder.
type storeCheck struct {
	datafolder.Folder
	out io.Writer
}

func (s storeCheck) run(cmd *cobra.Command) (err error) {
	if s.Server.URL != "" {
		return s.check(cmd, store.Place{Address: s.Server.URL, Password: s.Server.Password},
			func() error { return nil })
	}
	unlock, err := datafolder.LockToRead(s.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if !s.Has(datafolder.DatabaseFile) {
		if err := s.LostDatabase(); err != nil {
			return err
		}
		return fmt.Errorf("--data-dir %s: there is no database in it, and nothing else of a conductor: name the folder "+
			"that ferrite serve is given", s.Dir)
	}
	return s.check(cmd, store.Place{File: s.Path(datafolder.DatabaseFile)}, s.CheckWAL)
}

// check checks the database, and the keys of its folder. whole is what else must be so.
func (s storeCheck) check(cmd *cobra.Command, place store.Place, whole func() error) error {
	keys, faults := s.keys()
	found, err := store.Check(cmd.Context(), place,
		store.CheckOptions{Document: keys.document, EraseReport: keys.eraseReport, Keys: keys.secrets})
	if err != nil {
		return err
	}
	// One that lacks something is not started; the keys have been looked at.
	if err := whole(); err != nil {
		faults = append(faults, err.Error())
	}
	schema := found.Schema
	if s.Server.URL != "" {
		schema = datafolder.NewestKey
	}
	for _, missing := range s.MissingKeys(schema) {
		faults = append(faults, missing.Error())
	}
	for _, f := range found.Faults {
		faults = append(faults, f.String())
	}
	return s.print(found, faults, place)
}

func (s storeCheck) print(found store.Checked, faults []string, place store.Place) error {
	fmt.Fprintf(s.out, "schema version %d\n", found.Schema)
	if found.Schema < found.Known {
		fmt.Fprintf(s.out, "the next start of this build changes the schema to version %d\n", found.Known)
	}
	for _, t := range found.Tables {
		fmt.Fprintf(s.out, "%s: %d\n", t.Name, t.Rows)
	}
	if found.Unopened > 0 {
		fmt.Fprintf(s.out, "sealed values were not looked into, for want of their key: %d rows\n", found.Unopened)
	}
	if len(faults) == 0 {
		fmt.Fprintln(s.out, "store: ok")
		return nil
	}
	for _, f := range faults {
		fmt.Fprintf(s.out, "fault: %s\n", f)
	}
	return fmt.Errorf("store: faults in %s: %d, expected none: each is printed with what to do about it", place,
		len(faults))
}

// checkKeys are the keys of a folder; nil for one that cannot be read.
type checkKeys struct {
	secrets *seal.Ring
	erase   ed25519.PrivateKey
}

// keys reads the keys that are there, and makes none. Those that are missing, but
// should not be, the schema tells.
func (s storeCheck) keys() (k checkKeys, faults []string) {
	var err error
	if _, missing := os.Stat(s.Path(keys.SecretsFile)); missing == nil {
		if k.secrets, err = datafolder.Ring(s.Dir); err != nil {
			faults = append(faults, err.Error())
		}
	}
	if _, missing := os.Stat(s.Path(keys.EraseReportFile)); missing == nil {
		if k.erase, err = keys.OpenEraseReport(s.Dir); err != nil {
			faults = append(faults, err.Error())
		}
	}
	return k, faults
}

// document reads a document of a host. Secrets without a key are one fault, the key's.
func (k checkKeys) document(r objects.Row) error {
	if k.secrets == nil && r.Kind == hostapi.KindSecret {
		return nil
	}
	return objects.Check(r, k.secrets)
}

// eraseReport verifies the signature of a report. One of an earlier key, which was
// lost or given up, stays as it is.
func (k checkKeys) eraseReport(r node.EraseReport) error {
	signed, err := nodeapi.ReportOf(r.Payload, r.Signature)
	if err != nil || k.erase == nil {
		return err
	}
	public, _ := k.erase.Public().(ed25519.PublicKey)
	own, err := nodeapi.EraseKeyOf(public)
	if err == nil && signed.KeyID == own.KeyID && !ed25519.Verify(public, r.Payload, r.Signature) {
		err = fmt.Errorf("a signature that the key %s has not made", own.KeyID)
	}
	return err
}
