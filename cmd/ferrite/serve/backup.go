//go:build !nooperate

package serve

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/extras/operate/backup"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// passphraseVariable is where scripts have the passphrase, for which they have no file.
const passphraseVariable = "FERRITE_BACKUP_PASSPHRASE"

// backupFlags are the flags of backup and restore.
type backupFlags struct{ dir, url, passwordFile, passphraseFile string }

func (b *backupFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&b.dir, "data-dir", cmp.Or(os.Getenv("FERRITE_DATA_DIR"), datafolder.Default),
		"`folder` of the database, also $FERRITE_DATA_DIR")
	f.StringVar(&b.passphraseFile, "passphrase-file", "",
		"`file` whose first line is the passphrase; - is standard input; also $"+passphraseVariable)
	f.StringVar(&b.url, "database", os.Getenv("FERRITE_DATABASE"),
		"`URL` of a PostgreSQL database, as of ferrite serve; also $FERRITE_DATABASE; without it, the database in --data-dir")
	f.StringVar(&b.passwordFile, "database-password-file", os.Getenv("FERRITE_DATABASE_PASSWORD_FILE"),
		"`file` with its password")
	siteconfig.Add(c, "data-dir", "database", "database-password-file", "cluster-key-file")
}

// BackupCommand is `ferrite server backup`.
func BackupCommand() *cobra.Command { return backupCommand(backup.Source{Now: time.Now}) }

func backupCommand(s backup.Source) *cobra.Command {
	var b backupFlags
	c := &cobra.Command{
		Use: "backup FILE", Short: "Save the database and the keys of a conductor, running or not",
		Args: cobra.ExactArgs(1), SilenceUsage: true,
		Long: `Writes the database of a conductor, as it is at one moment, and its keys to a new file. Conductors may
run meanwhile. The keys are sealed by a passphrase of 12 characters or more; without it, the passwords in
the database are lost, for you as well. --logs adds the logs of machines. Keep a copy of /etc/ferrite, too.

Without --database, the SQLite database of the data folder is saved. With it, the keys come from the
cluster (--cluster-key-file), else from the data folder. Any backup can be restored into a data folder
or into PostgreSQL.`,
		Example: `  ferrite server backup /var/backups/ferrite-1.backup --passphrase-file /root/passphrase
  ferrite server backup /var/backups/ferrite-2.backup --passphrase-file /root/passphrase \
    --database postgres://ferrite@db.example/ferrite --cluster-key-file /etc/ferrite/cluster-key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := b.server()
			if err != nil {
				return err
			}
			s.Server, s.Dir, s.Release = server, b.dir, cmd.Root().Version
			if err := s.RefuseUsed(args[0]); err != nil {
				return err
			}
			passphrase, err := b.passphrase(cmd)
			if err != nil {
				return err
			}
			ctx, stop := orderly(cmd.Context()) // else a plain copy of the database stays
			defer stop()
			made, err := s.To(ctx, args[0], passphrase)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "backup: %s, %.1f MB, as of %s; restore it with: "+
				"ferrite server restore %s\n", args[0], float64(made.Size)/1e6, made.Taken.Format(time.RFC3339), args[0])
			return err
		},
	}
	b.add(c)
	c.Flags().StringVar(&s.ClusterKey, "cluster-key-file", os.Getenv("FERRITE_CLUSTER_KEY_FILE"),
		"`file` with the key of a cluster, whose conductors share --database")
	c.Flags().BoolVar(&s.Logs, "logs", false, "save the machines' logs, too: up to 20 MiB for each node")
	return c
}

// server is the database of the flags. Without a URL it is the data folder's, and the password file is not read. Cron
// jobs that are the same on all hosts can thus name a password file that only hosts with PostgreSQL have.
func (b *backupFlags) server() (datafolder.Server, error) {
	if b.url == "" {
		return datafolder.Server{}, nil
	}
	return datafolder.ReadServer(b.url, b.passwordFile)
}

// passphrase comes from the flag, the variable or the terminal, in this order.
func (b *backupFlags) passphrase(cmd *cobra.Command) (string, error) {
	if b.passphraseFile != "" {
		return secret.FirstLine(cmd.InOrStdin(), "--passphrase-file", b.passphraseFile)
	}
	if p := os.Getenv(passphraseVariable); p != "" {
		return p, nil
	}
	return secret.Ask(cmd.ErrOrStderr(), "Passphrase", "--passphrase-file")
}
