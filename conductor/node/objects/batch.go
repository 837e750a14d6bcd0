package objects

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// change is the change of one document.
type change struct {
	row Row              // as it is kept; the zero Row of a new one
	old hostapi.Document // nil of a new one
	new hostapi.Document // nil when it goes
	// going is set while the owned documents are handled, so that documents that own each other do not wait for each
	// other.
	going bool
}

// batch is changes that are made together: a document and those that go with it.
type batch struct {
	k       *Keeper
	ctx     context.Context //nolint:containedctx // a batch lives for one call
	order   []*change
	changes map[string]*change // by UID
}

func (k *Keeper) batch(ctx context.Context) *batch {
	return &batch{k: k, ctx: ctx, changes: map[string]*change{}}
}

// of is the change of a row, as it has been decided so far.
func (b *batch) of(r Row) (*change, error) {
	if c := b.changes[r.UID]; c != nil {
		return c, nil
	}
	doc, err := b.k.decode(r)
	if err != nil {
		return nil, err
	}
	c := &change{row: r, old: doc}
	if c.new, err = b.k.decode(r); err != nil { // another copy
		return nil, err
	}
	b.add(r.UID, c)
	return c, nil
}

func (b *batch) add(uid string, c *change) {
	b.changes[uid] = c
	b.order = append(b.order, c)
}

// commit writes the changed documents.
func (b *batch) commit() error {
	var writes []Write
	var events []Event
	var docs []hostapi.Document
	var all []Changed
	for _, c := range b.order {
		w, e, err := b.k.write(c)
		if err != nil {
			return err
		}
		if e.Type == Modified && string(e.text) == string(b.k.before(c)) {
			continue
		}
		writes, events, docs = append(writes, w), append(events, e), append(docs, c.new)
		all = append(all, c.changed())
	}
	if len(writes) == 0 {
		return nil
	}
	err := b.k.store.WriteObjects(b.k.witness.Writing(b.ctx, all), writes, func(revisions []int64) {
		for i, r := range revisions {
			events[i].Revision = r
			if docs[i] != nil {
				docs[i].Meta().ResourceVersion = strconv.FormatInt(r, 10)
			}
		}
		b.k.events.add(events)
	})
	if err == nil {
		b.k.witness.Written(b.ctx, all)
	}
	return err
}

// before is a document as it was, in the bytes it would have now.
func (k *Keeper) before(c *change) []byte {
	text, err := plain(c.old)
	if err != nil {
		return nil
	}
	return text
}

// write returns one change in two forms: for the store, and for followers.
func (k *Keeper) write(c *change) (Write, Event, error) {
	if c.new == nil {
		text, err := plain(c.old)
		return Write{Row: Row{Key: c.row.Key, UID: c.row.UID}, Expect: c.row.Revision, Delete: true},
			Event{Type: Deleted, Key: c.row.Key, Before: c.old.Meta().Labels, After: c.old.Meta().Labels, text: text}, err
	}
	text, err := plain(c.new)
	if err != nil {
		return Write{}, Event{}, err
	}
	m := c.new.Meta()
	key := keyOf(c.new)
	doc, err := k.sealed(key, m.UID, text)
	if err != nil {
		return Write{}, Event{}, fmt.Errorf("%s: %w", key, err)
	}
	w := Write{Row: Row{Key: key, UID: m.UID, Doc: doc}, Expect: c.row.Revision}
	for _, o := range m.OwnerReferences {
		w.Owners = append(w.Owners, o.UID)
	}
	e := Event{Type: Added, Key: key, After: maps.Clone(m.Labels), text: text}
	if c.old != nil {
		e.Type, e.Before = Modified, c.old.Meta().Labels
	}
	return w, e, nil
}

// remove deletes a document, or marks it if it has finalizers, and applies the policy to the documents it owns.
func (b *batch) remove(c *change, p Propagation) error {
	if c.going {
		return nil
	}
	c.going = true
	defer func() { c.going = false }()
	if err := b.dependents(c, p); err != nil {
		return err
	}
	if c.new == nil { // it went with the last of them
		return nil
	}
	m := c.new.Meta()
	if p == Foreground && !slices.Contains(m.Finalizers, foreground) {
		blocked, err := b.blocked(c)
		if err != nil {
			return err
		}
		if blocked {
			m.Finalizers = append(m.Finalizers, foreground)
		}
	}
	if len(m.Finalizers) > 0 {
		b.mark(m)
		return nil
	}
	return b.drop(c)
}

// mark says that a document is to go.
func (b *batch) mark(m *hostapi.ObjectMeta) {
	if m.DeletionTimestamp != nil {
		return
	}
	now, grace := hostapi.At(b.k.now()), int64(0)
	m.DeletionTimestamp, m.DeletionGrace = &now, &grace
	if m.Generation > 0 {
		m.Generation++
	}
}

// drop takes a document away for good, and with it all that had no other owner.
func (b *batch) drop(c *change) error {
	if c.new == nil {
		return nil
	}
	owners := c.new.Meta().OwnerReferences
	c.new = nil
	if err := b.dependents(c, Background); err != nil {
		return err
	}
	for _, o := range owners {
		if err := b.release(Key{Kind: o.Kind, Namespace: c.row.Namespace, Name: o.Name}, o.UID); err != nil {
			return err
		}
	}
	return nil
}

// dependents applies the policy to the documents that a document owns. With policy Background it leaves them alone
// while their owner waits for its finalizers.
func (b *batch) dependents(c *change, p Propagation) error {
	if p == Background && c.new != nil {
		return nil
	}
	owned, err := b.owned(c)
	if err != nil {
		return err
	}
	for _, d := range owned {
		if d.new == nil { // it went with another of them
			continue
		}
		m := d.new.Meta()
		others := slices.DeleteFunc(slices.Clone(m.OwnerReferences), func(o hostapi.OwnerReference) bool {
			return o.UID == c.row.UID
		})
		if p == Orphan || len(others) > 0 {
			m.OwnerReferences = others
			continue
		}
		if m.DeletionTimestamp == nil {
			if err := b.remove(d, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// owned returns the documents that a document owns, with the changes so far.
func (b *batch) owned(c *change) ([]*change, error) {
	rows, _, err := b.k.store.Objects(b.ctx, Query{Namespace: c.row.Namespace, Owner: c.row.UID})
	if err != nil {
		return nil, fmt.Errorf("find the objects that %s owns: %w", c.row.Key, err)
	}
	var all []*change
	for _, r := range rows {
		d, err := b.of(r)
		if err != nil {
			return nil, err
		}
		by := func(o hostapi.OwnerReference) bool { return o.UID == c.row.UID }
		if d.new != nil && !d.going && slices.ContainsFunc(d.new.Meta().OwnerReferences, by) {
			all = append(all, d)
		}
	}
	return all, nil
}

// blocked says whether something that must go before its owner is still there.
func (b *batch) blocked(c *change) (bool, error) {
	owned, err := b.owned(c)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(owned, func(d *change) bool {
		return slices.ContainsFunc(d.new.Meta().OwnerReferences, func(o hostapi.OwnerReference) bool {
			return o.UID == c.row.UID && o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion
		})
	}), nil
}

// release removes the finalizer of an owner that has waited for the last document it owned.
func (b *batch) release(key Key, uid string) error {
	rows, _, err := b.k.store.Objects(b.ctx, Query{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Limit: 1})
	if err != nil || len(rows) == 0 || rows[0].UID != uid {
		return err
	}
	c, err := b.of(rows[0])
	if err != nil || c.new == nil || !slices.Contains(c.new.Meta().Finalizers, foreground) {
		return err
	}
	if blocked, err := b.blocked(c); err != nil || blocked {
		return err
	}
	m := c.new.Meta()
	m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == foreground })
	if len(m.Finalizers) > 0 {
		return nil
	}
	return b.drop(c)
}
