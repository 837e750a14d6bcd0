package datafolder

import (
	"crypto/ed25519"
	"log/slog"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
)

// Keys are the keys of a conductor, or of a cluster.
type Keys struct {
	Secrets []byte // seals, and authenticates ramdisks
	Erase   ed25519.PrivateKey
}

// OpenKeys reads the keys of a data folder. It makes a missing key.
func OpenKeys(dir string) (k Keys, err error) {
	if k.Erase, err = keys.OpenEraseReport(dir); err != nil {
		return k, err
	}
	k.Secrets, err = keys.OpenSecrets(dir)
	return k, err
}

// Ring is the keys of a folder that has one.
func Ring(dir string) (*seal.Ring, error) {
	all, err := keys.Secrets(dir)
	if err != nil {
		return nil, err
	}
	return seal.NewRing(all...)
}

// makeKeys makes the keys that are missing. They are there before the database is opened.
func (d Folder) makeKeys(log *slog.Logger) error {
	for _, file := range []string{keys.EraseReportFile, keys.SecretsFile} {
		if !d.Has(file) {
			log.Info("a key is made; keep it with the backups of the database", "file", d.Path(file))
		}
	}
	if _, err := keys.OpenEraseReport(d.Dir); err != nil {
		return err
	}
	_, err := keys.OpenSecrets(d.Dir)
	return err
}
