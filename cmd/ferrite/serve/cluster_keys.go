package serve

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// Names of the keys that the conductors of a cluster share.
const (
	sharedSecrets = "secrets"
	sharedErase   = "erase reports"
)

// sharedKeys are the keys of the cluster. The first conductor gives it those of its data folder.
func (c Config) sharedKeys(
	ctx context.Context, shared *cluster.Shared, used []seal.ID, log *slog.Logger,
) (k datafolder.Keys, err error) {
	k.Secrets, err = shared.GetOrMake(ctx, sharedSecrets, func() ([]byte, error) { return c.firstSecrets(used, log) })
	if err != nil {
		return k, err
	}
	seed, err := shared.GetOrMake(ctx, sharedErase, func() ([]byte, error) { return c.firstErase(log) })
	if err != nil {
		return k, err
	}
	if len(k.Secrets) != keys.SecretsSize || len(seed) != ed25519.SeedSize {
		return k, errors.New("the shared keys in the database are of another length than this build's: use the newer build")
	}
	k.Erase = ed25519.NewKeyFromSeed(seed)
	return k, nil
}

// firstSecrets is the key of the data folder, or a new one. It refuses a key that does not open the database.
func (c Config) firstSecrets(used []seal.ID, log *slog.Logger) ([]byte, error) {
	key := make([]byte, keys.SecretsSize)
	rand.Read(key) // never fails
	switch all, err := keys.Secrets(c.DataDir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("--data-dir %s: %w", c.DataDir, err)
	case len(all) > 1:
		return nil, fmt.Errorf("--data-dir %s: a rotation of %s was cut off: finish it first by: ferrite secrets rotate",
			c.DataDir, keys.SecretsFile)
	default:
		key = all[0]
		c.moved(keys.SecretsFile, log)
	}
	if len(used) > 0 && !slices.Contains(used, seal.IDOf(key)) && !c.Init {
		return nil, fmt.Errorf("the secrets in the database are sealed with the key %s, found in --data-dir %s: %s. "+
			"Start first, with --cluster-key-file, the conductor whose folder has that key; it shares the key with all. If it "+
			"is lost, start once with --init: the passwords and tokens in the database are dropped", used[0], c.DataDir,
			seal.IDOf(key))
	}
	return key, nil
}

// firstErase is the seed of the data folder's key of erase reports, or of a new one.
func (c Config) firstErase(log *slog.Logger) ([]byte, error) {
	if !(datafolder.Folder{Dir: c.DataDir}).Has(keys.EraseReportFile) {
		seed := make([]byte, ed25519.SeedSize)
		rand.Read(seed) // never fails
		return seed, nil
	}
	key, err := keys.OpenEraseReport(c.DataDir)
	if err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", c.DataDir, err)
	}
	c.moved(keys.EraseReportFile, log)
	return key.Seed(), nil
}

func (c Config) moved(file string, log *slog.Logger) {
	log.Info("a key of the data folder is shared with the cluster: it is in the database, sealed with the cluster key",
		"file", filepath.Join(c.DataDir, file))
}
