package serve

import (
	"context"
	"errors"
	"io"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// OpenStore opens the store of a conductor with the data folder dir. The caller calls end when the conductor has ended.
type OpenStore func(ctx context.Context, dir string) (db Database, end func() error, err error)

// Keys are the keys of a data folder that seal secrets, for the options of its store. It makes one where there is none.
func Keys(dir string) (*seal.Ring, error) {
	if _, err := keys.OpenSecrets(dir); err != nil {
		return nil, err
	}
	return datafolder.Ring(dir)
}

// RunWithStore is `ferrite serve` with args on a store of the caller's, until ctx ends. It locks the data folder, and
// leaves out the checks of its files. Tests use it to stand between a conductor and its store.
func RunWithStore(ctx context.Context, args []string, stderr io.Writer, open OpenStore) (err error) {
	conf, err := parsed(args...)
	if err != nil {
		return err
	}
	log, err := logger(conf.LogLevel, conf.LogFormat, stderr)
	if err != nil {
		return err
	}
	unlock, err := datafolder.Lock(conf.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	db, end, err := open(ctx, conf.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return conduct(ctx, conf, db, log)
}
