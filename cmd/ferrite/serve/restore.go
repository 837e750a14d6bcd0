//go:build !nooperate

package serve

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/extras/operate/backup"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// RestoreCommand is `ferrite server restore`.
func RestoreCommand() *cobra.Command {
	var b backupFlags
	c := &cobra.Command{
		Use: "restore FILE", Short: "Restore a backup into an empty data folder; then see: ferrite server resume",
		Args: cobra.ExactArgs(1), SilenceUsage: true,
		Long: `Restores a backup into a data folder that is empty or missing, and migrates the database to the schema
of this build. Every byte of the file is checked; a file that was cut off or changed leaves nothing in the
folder. With --database, the rows go into an empty PostgreSQL database, and the keys into the folder: start
the conductor with this folder first, so that it gives the keys to its cluster.

The machines have worked on since the backup. A restored conductor therefore answers, and reads power
states, but acts on no machine and boots none, until "ferrite server resume" has shown the consequences.`,
		Example: "  ferrite server restore /var/backups/ferrite-1.backup --passphrase-file /root/passphrase",
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := b.server()
			if err != nil {
				return err
			}
			t := backup.Target{Dir: b.dir, Server: server, Now: time.Now}
			if err := t.RefuseUsed(); err != nil {
				return err
			}
			if _, err := os.Stat(args[0]); err != nil {
				return fmt.Errorf("file of the backup: %w", err)
			}
			passphrase, err := b.passphrase(cmd)
			if err != nil {
				return err
			}
			ctx, stop := orderly(cmd.Context())
			defer stop()
			done, err := t.From(ctx, args[0], passphrase)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), restored(t, done))
			return err
		},
	}
	b.add(c)
	return c
}

// restored summarizes the restore, with the next step.
func restored(t backup.Target, done backup.Restored) string {
	said := fmt.Sprintf("restore: %s holds the backup of %s: nodes %d, at work %d\n", t.Dir,
		done.Taken.UTC().Format(time.RFC3339), done.Nodes, done.Busy)
	if t.Server.URL != "" {
		said += fmt.Sprintf("restore: moved %d rows to %s; %s has its keys: of a cluster, start the conductor with this "+
			"folder first\n", done.Rows, store.PostgresName(t.Server.URL), t.Dir)
	}
	return said + "restore: start the conductor; it acts on no machine until: ferrite server resume\n"
}
