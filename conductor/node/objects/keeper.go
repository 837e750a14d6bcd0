// Package objects keeps documents as Kubernetes' API server does: each under a resource version of one global count. A
// change needs the newest version. A deleted document goes when its finalizers are gone. Watchers follow every change.
//
// It must not know the purpose of a document: rules of contents are hostapi's, decisions are
// conductor/extras/hosts/host's, and their form in HTTP is conductor/extras/hosts/kube's.
package objects

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Config holds the dependencies and bounds of a keeper.
type Config struct {
	Store Store
	// Key seals secrets: 32 bytes, see conductor/seal/keys.
	Key []byte
	// Now and NewUID are time.Now and random UUIDs when nil.
	Now    func() time.Time
	NewUID func() string
	// Events and EventBytes bound the events that are kept for followers: 4,096 and 16 MiB when 0.
	Events, EventBytes int
	// Witness learns of writes; nil for none.
	Witness Witness
}

// Keeper keeps documents. It is safe for concurrent use. There is one at a time over a
// store: it alone informs followers of its writes.
type Keeper struct {
	store  Store
	keys   *seal.Ring
	now    func() time.Time
	newUID func() string
	events *window

	witness Witness
	// namespaces is held for reading while a document is added to a namespace, so that the namespace does not vanish.
	namespaces sync.RWMutex
}

// New makes a keeper, and the namespace "default" where there is none.
func New(ctx context.Context, c Config) (*Keeper, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewUID == nil {
		c.NewUID = uuid.NewString
	}
	if c.Events == 0 {
		c.Events = 4096
	}
	if c.EventBytes == 0 {
		c.EventBytes = 16 << 20
	}
	keys, err := seal.NewRing(c.Key)
	if err != nil {
		return nil, fmt.Errorf("key of secrets: %w", err)
	}
	_, revision, err := c.Store.Objects(ctx, Query{Kind: hostapi.KindNamespace, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("read the revision of documents: %w", err)
	}
	k := &Keeper{
		store: c.Store, keys: keys, now: c.Now, newUID: c.NewUID, events: newWindow(revision, c.Events, c.EventBytes),
		witness: noWitness{},
	}
	if err := k.ensureNamespace(ctx, hostapi.DefaultNamespace); err != nil {
		return nil, err
	}
	if c.Witness != nil { // a namespace that was always there is no change
		k.witness = c.Witness
	}
	return k, nil
}

// Get reads a document.
func (k *Keeper) Get(ctx context.Context, key Key) (hostapi.Document, error) {
	row, err := k.row(ctx, key)
	if err != nil {
		return nil, err
	}
	return k.decode(row)
}

// Has reports whether there is a document, without reading its contents.
func (k *Keeper) Has(ctx context.Context, key Key) (bool, error) {
	_, err := k.row(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (k *Keeper) row(ctx context.Context, key Key) (Row, error) {
	if key.Name == "" {
		return Row{}, notFound(key)
	}
	rows, _, err := k.store.Objects(ctx, Query{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Limit: 1})
	if err != nil {
		return Row{}, fmt.Errorf("read %s: %w", key, err)
	}
	if len(rows) == 0 || rows[0].Key != key {
		return Row{}, notFound(key)
	}
	return rows[0], nil
}

// List reads documents in the order of namespace and name, and returns the revision from
// which revision they are to be followed. When some cannot be decoded it lists the others,
// and says so by an *UnreadableError.
func (k *Keeper) List(ctx context.Context, q Query) ([]hostapi.Document, int64, error) {
	rows, revision, err := k.store.Objects(ctx, q)
	if err != nil {
		return nil, 0, fmt.Errorf("list documents: %w", err)
	}
	docs := make([]hostapi.Document, 0, len(rows))
	var bad *UnreadableError
	for _, r := range rows {
		d, err := k.decode(r)
		if err == nil {
			docs = append(docs, d)
			continue
		}
		if bad == nil {
			bad = &UnreadableError{Err: err}
		}
		bad.Keys = append(bad.Keys, r.Key)
	}
	if bad != nil {
		return docs, revision, bad
	}
	return docs, revision, nil
}

// ensureNamespace makes a namespace that does not exist yet.
func (k *Keeper) ensureNamespace(ctx context.Context, name string) error {
	if _, err := k.row(ctx, Key{Kind: hostapi.KindNamespace, Name: name}); !errors.Is(err, ErrNotFound) {
		return err
	}
	ns := &hostapi.Namespace{TypeMeta: hostapi.TypeMeta{Kind: hostapi.KindNamespace},
		ObjectMeta: hostapi.ObjectMeta{Name: name}}
	if _, err := k.Create(ctx, ns, false); !errors.Is(err, ErrExists) {
		return err
	}
	return nil
}
