package datafolder

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Examined is the result of checking a database and its keys.
type Examined struct {
	store.Checked             // its faults are the keys', too
	Place         store.Place // where the database is
}

// Examine reads every row of the database, and the keys of the folder. It changes nothing, and keeps a conductor from
// starting meanwhile; the one of a database on a server may run.
func (d Folder) Examine(ctx context.Context) (e Examined, err error) {
	if d.Server.URL != "" {
		return d.examine(ctx, store.Place{Address: d.Server.URL, Password: d.Server.Password}, nil)
	}
	unlock, err := LockToRead(d.Dir)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := d.CheckUsed(); err != nil {
		return e, err
	}
	return d.examine(ctx, store.Place{File: d.Path(DatabaseFile)}, d.CheckWAL)
}

// examine checks the database, and the keys of its folder. whole is a further check; it may be nil.
func (d Folder) examine(ctx context.Context, place store.Place, whole func() error) (e Examined, err error) {
	e.Place = place
	k, faults := d.readableKeys()
	e.Checked, err = store.Check(ctx, place,
		store.CheckOptions{Document: k.document, EraseReport: k.eraseReport, Keys: k.secrets})
	if err != nil {
		return e, err
	}
	// A conductor is not started without its WAL or a key; here the fault is listed with the others.
	if whole != nil {
		if err := whole(); err != nil {
			faults = append(faults, err.Error())
		}
	}
	schema := e.Schema
	if d.Server.URL != "" {
		schema = NewestKey
	}
	for _, missing := range d.MissingKeys(schema) {
		faults = append(faults, missing.Error())
	}
	e.Faults = append(faults, e.Faults...)
	return e, nil
}

// checkKeys are the keys of a folder; nil for an unreadable key.
type checkKeys struct {
	secrets *seal.Ring
	erase   ed25519.PrivateKey
}

// readableKeys reads the keys in the folder, and makes none. A missing key is no fault here: MissingKeys decides by the
// schema.
func (d Folder) readableKeys() (k checkKeys, faults []string) {
	var err error
	if _, missing := os.Stat(d.Path(keys.SecretsFile)); missing == nil {
		if k.secrets, err = Ring(d.Dir); err != nil {
			faults = append(faults, err.Error())
		}
	}
	if _, missing := os.Stat(d.Path(keys.EraseReportFile)); missing == nil {
		if k.erase, err = keys.OpenEraseReport(d.Dir); err != nil {
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
