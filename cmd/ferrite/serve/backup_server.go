package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/cluster/sharing"
	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// savedServer is the database on a server that a backup is of, or is restored to; the zero value is none.
type savedServer struct{ url, passwordFile, clusterKey string }

func (s *savedServer) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.url, "database", os.Getenv("FERRITE_DATABASE"),
		"`URL` of a PostgreSQL database, as of ferrite serve; also $FERRITE_DATABASE; without it, that of --data-dir")
	f.StringVar(&s.passwordFile, "database-password-file", os.Getenv("FERRITE_DATABASE_PASSWORD_FILE"),
		"`file` with its password")
}

// place is where the database is.
func (s *savedServer) place() (store.Place, error) {
	server, err := datafolder.ReadServer(s.url, s.passwordFile)
	return store.Place{Address: server.URL, Password: server.Password}, err
}

// copyServer copies the database of the server, and returns the keys that open it.
func (s *saved) copyServer(ctx context.Context, to string) (files map[string][]byte, err error) {
	if s.logs && s.clusterKey != "" {
		return nil, errors.New("--logs: the logs of a cluster are in its database, and are not saved: leave it out")
	}
	from, err := s.place()
	if err != nil {
		return nil, err
	}
	err = store.SnapshotPostgres(ctx, from, to, func(shared []store.SharedKey) (ring *seal.Ring, err error) {
		switch {
		case s.clusterKey != "":
			files, ring, err = s.sharedKeyFiles(ctx, shared)
			return ring, err
		case len(shared) > 0 && !s.Has(keys.SecretsFile):
			return nil, errors.New("a cluster uses it, whose keys --cluster-key-file opens: name that file")
		}
		if files, err = s.keyFiles(); err != nil {
			return nil, err
		}
		return datafolder.Ring(s.Dir)
	})
	if errors.Is(err, store.ErrKeys) {
		err = fmt.Errorf("%w; a database without its keys is no backup: name the --data-dir of its conductor, or the "+
			"--cluster-key-file of its cluster", err)
	}
	return files, err
}

// listedKeys are keys that members share, as they were read.
type listedKeys []store.SharedKey

// SharedKeys lists them.
func (l listedKeys) SharedKeys(context.Context) ([]store.SharedKey, error) { return l, nil }

// PutSharedKey stores none.
func (listedKeys) PutSharedKey(context.Context, store.SharedKey) (bool, error) {
	return false, fs.ErrPermission
}

// sharedKeyFiles are the keys of a cluster, as files of a data folder.
func (s *saved) sharedKeyFiles(
	ctx context.Context, listed []store.SharedKey,
) (files map[string][]byte, ring *seal.Ring, err error) {
	key, err := cluster.ReadKey(s.clusterKey, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, err
	}
	shared, err := cluster.NewShared(listedKeys(listed), key)
	if err != nil {
		return nil, nil, err
	}
	k, err := sharing.ReadKeys(ctx, shared)
	if err != nil {
		return nil, nil, err
	}
	erase, err := keys.EraseReportText(k.Erase)
	if err != nil {
		return nil, nil, err
	}
	ring, err = seal.NewRing(k.Secrets)
	return map[string][]byte{keys.SecretsFile: keys.SecretsText(k.Secrets), keys.EraseReportFile: erase}, ring, err
}

// toServer moves the restored database from the folder to the server. The keys stay in the folder.
func (s *saved) toServer(ctx context.Context, said string) (string, error) {
	to, err := s.place()
	if err != nil {
		return "", err
	}
	has, err := store.HasCluster(ctx, to.Address, store.PostgresOptions{Password: to.Password})
	if err == nil && has {
		err = fmt.Errorf("%s: a cluster has used it, and its keys are not those of the backup: name an empty database", to)
	}
	if err != nil {
		return "", err
	}
	ring, err := datafolder.Ring(s.Dir)
	if err != nil {
		return "", err
	}
	all, err := store.Copy(ctx, store.Place{File: s.Path(datafolder.DatabaseFile)}, to, store.CopyOptions{Keys: ring})
	if err != nil {
		return "", err
	}
	for _, name := range []string{datafolder.DatabaseFile, datafolder.WALFile, datafolder.DatabaseFile + "-shm",
		datafolder.RunningFile} {
		if err := os.Remove(s.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	var rows int64
	for _, c := range all {
		rows += c.Rows
	}
	return fmt.Sprintf("%srestore: moved %d rows to %s; %s has its keys: of a cluster, start the conductor with this "+
		"folder first\n", said, rows, to, s.Dir), nil
}
