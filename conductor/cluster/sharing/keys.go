package sharing

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
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// Names of the keys that the conductors of a cluster share.
const (
	secretsName = "secrets"
	eraseName   = "erase reports"
)

// KeySource is the data folder of a conductor. A cluster without keys takes its keys.
type KeySource struct {
	Dir  string
	Init bool // a key that does not open the database is given up
	Log  *slog.Logger
}

// Keys are the keys of a cluster. The first conductor gives it the keys of its data folder. used are the keys that the
// database is sealed with.
func (s KeySource) Keys(ctx context.Context, shared *cluster.Shared, used []seal.ID) (k datafolder.Keys, err error) {
	k.Secrets, err = shared.GetOrMake(ctx, secretsName, func() ([]byte, error) { return s.secrets(used) })
	if err != nil {
		return k, err
	}
	seed, err := shared.GetOrMake(ctx, eraseName, s.erase)
	if err != nil {
		return k, err
	}
	if len(k.Secrets) != keys.SecretsSize || len(seed) != ed25519.SeedSize {
		return k, errors.New("the shared keys in the database are of another length than this build's: use the newer build")
	}
	k.Erase = ed25519.NewKeyFromSeed(seed)
	return k, nil
}

// ReadKeys reads the keys of a cluster, and refuses a cluster without keys.
func ReadKeys(ctx context.Context, shared *cluster.Shared) (k datafolder.Keys, err error) {
	get := func(name string, size int) ([]byte, error) {
		text, number, err := shared.Get(ctx, name)
		if err == nil && (number == 0 || len(text) != size) {
			err = fmt.Errorf("expected a shared key %q of %d bytes in the database, found %d bytes: start the conductors of "+
				"the cluster once", name, size, len(text))
		}
		return text, err
	}
	if k.Secrets, err = get(secretsName, keys.SecretsSize); err != nil {
		return k, err
	}
	seed, err := get(eraseName, ed25519.SeedSize)
	if err != nil {
		return k, err
	}
	k.Erase = ed25519.NewKeyFromSeed(seed)
	return k, nil
}

// secrets is the key of the data folder, or a new one. It refuses a key that does not open the database.
func (s KeySource) secrets(used []seal.ID) ([]byte, error) {
	key := make([]byte, keys.SecretsSize)
	rand.Read(key) // never fails
	switch all, err := keys.Secrets(s.Dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("--data-dir %s: %w", s.Dir, err)
	case len(all) > 1:
		return nil, fmt.Errorf("--data-dir %s: a rotation of %s was cut off: finish it first by: "+
			"ferrite server secrets rotate",
			s.Dir, keys.SecretsFile)
	default:
		key = all[0]
		s.moved(keys.SecretsFile)
	}
	if len(used) > 0 && !slices.Contains(used, seal.IDOf(key)) && !s.Init {
		return nil, fmt.Errorf("the secrets in the database are sealed with the key %s, found in --data-dir %s: %s. "+
			"Start first, with --cluster-key-file, the conductor whose folder has that key; it shares the key with all. If it "+
			"is lost, start once with --init: the passwords and tokens in the database are dropped", used[0], s.Dir,
			seal.IDOf(key))
	}
	return key, nil
}

// erase is the seed of the data folder's key of erase reports, or of a new one.
func (s KeySource) erase() ([]byte, error) {
	if !(datafolder.Folder{Dir: s.Dir}).Has(keys.EraseReportFile) {
		seed := make([]byte, ed25519.SeedSize)
		rand.Read(seed) // never fails
		return seed, nil
	}
	key, err := keys.OpenEraseReport(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", s.Dir, err)
	}
	s.moved(keys.EraseReportFile)
	return key.Seed(), nil
}

func (s KeySource) moved(file string) {
	s.Log.Info("a key of the data folder is shared with the cluster: it is in the database, sealed with the cluster key",
		"file", filepath.Join(s.Dir, file))
}
