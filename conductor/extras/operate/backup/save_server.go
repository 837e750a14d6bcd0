package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/cluster/sharing"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// copyServer copies the database of the server, and returns the keys that open it.
func (s Source) copyServer(ctx context.Context, to string) (files map[string][]byte, err error) {
	if s.Logs && s.ClusterKey != "" {
		return nil, errors.New("--logs: the logs of a cluster are in its database, and are not saved: leave it out")
	}
	from := store.Place{Address: s.Server.URL, Password: s.Server.Password}
	err = store.SnapshotPostgres(ctx, from, to, func(shared []store.SharedKey) (ring *seal.Ring, err error) {
		switch {
		case s.ClusterKey != "":
			files, ring, err = s.sharedKeyFiles(ctx, shared)
			return ring, err
		case len(shared) > 0 && !s.folder().Has(keys.SecretsFile):
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
func (s Source) sharedKeyFiles(
	ctx context.Context, listed []store.SharedKey,
) (files map[string][]byte, ring *seal.Ring, err error) {
	key, err := cluster.ReadKey(s.ClusterKey, slog.New(slog.DiscardHandler))
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
