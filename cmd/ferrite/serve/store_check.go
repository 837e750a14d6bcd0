package serve

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// StoreCommand is `ferrite server store`: it works on the database of a conductor that does not run.
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
			found, err := datafolder.Folder{Dir: dir, Server: server}.Examine(cmd.Context())
			if err != nil {
				return err
			}
			return printCheck(cmd.OutOrStdout(), found)
		},
	}
	check.Flags().StringVar(&dir, "data-dir", dir, "`folder` of the database, also $FERRITE_DATA_DIR")
	check.Flags().StringVar(&url, "database", os.Getenv("FERRITE_DATABASE"),
		"`URL` of a PostgreSQL database, as of ferrite serve")
	check.Flags().StringVar(&passwordFile, "database-password-file", os.Getenv("FERRITE_DATABASE_PASSWORD_FILE"),
		"`file` with its password")
	siteconfig.Add(check, "data-dir", "database", "database-password-file")
	return check
}

// printCheck prints the findings. It returns an error when there are faults.
func printCheck(out io.Writer, found datafolder.Examined) error {
	fmt.Fprintf(out, "schema version %d\n", found.Schema)
	if found.Schema < found.Known {
		fmt.Fprintf(out, "the next start of this build changes the schema to version %d\n", found.Known)
	}
	for _, t := range found.Tables {
		fmt.Fprintf(out, "%s: %d\n", t.Name, t.Rows)
	}
	if found.Unopened > 0 {
		fmt.Fprintf(out, "sealed values were not looked into, for want of their key: %d rows\n", found.Unopened)
	}
	if len(found.Faults) == 0 {
		fmt.Fprintln(out, "store: ok")
		return nil
	}
	for _, f := range found.Faults {
		fmt.Fprintf(out, "fault: %s\n", f)
	}
	return fmt.Errorf("store: faults in %s: %d, expected none: each is printed with its remedy", found.Place,
		len(found.Faults))
}
