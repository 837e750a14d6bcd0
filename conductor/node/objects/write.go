package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Part is the part of a document that is written; the rest stays as it is.
type Part int

// Parts.
const (
	Main   Part = iota // all but the status
	Status             // the status alone
	All                // everything, unchecked: for controllers that maintain a document
)

// Create adds a document, and returns it as it is kept. One with a generateName
// and no name gets a name. With dry nothing is written.
func (k *Keeper) Create(ctx context.Context, d hostapi.Document, dry bool) (hostapi.Document, error) {
	kind, ok := hostapi.KindOf(d.About().Kind)
	if !ok {
		return nil, fmt.Errorf("%q is no kind of document", d.About().Kind)
	}
	d, err := k.fresh(kind, d)
	if err != nil {
		return nil, err
	}
	key := keyOf(d)
	if problems := append(hostapi.Check(d), hostapi.CheckSizes(nil, d)...); len(problems) > 0 {
		return nil, invalid(key, problems)
	}
	if _, err := k.row(ctx, key); err == nil {
		return nil, refuse(key, ErrExists, "exists already")
	} else if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if dry {
		return d, nil
	}
	if kind.Namespaced {
		k.namespaces.RLock()
		defer k.namespaces.RUnlock()
		if err := k.ensureNamespace(ctx, key.Namespace); err != nil {
			return nil, err
		}
	}
	b := k.batch(ctx)
	b.add(d.Meta().UID, &change{new: d})
	if err := b.commit(); errors.Is(err, ErrStale) {
		return nil, refuse(key, ErrExists, "exists already")
	} else if err != nil {
		return nil, err
	}
	return d, nil
}

// fresh returns a new document with the fields that only the server sets.
func (k *Keeper) fresh(kind hostapi.Kind, d hostapi.Document) (hostapi.Document, error) {
	d, err := combine(kind.New(), d, Main) // a copy, without the status
	if err != nil {
		return nil, err
	}
	*d.About() = hostapi.TypeMeta{Kind: kind.Kind, APIVersion: kind.APIVersion()}
	m := d.Meta()
	m.UID = k.newUID()
	if m.Name == "" && m.GenerateName != "" {
		m.Name = m.GenerateName + strings.ReplaceAll(k.newUID(), "-", "")[:5]
	}
	m.CreationTimestamp, m.DeletionTimestamp, m.DeletionGrace, m.ResourceVersion = hostapi.At(k.now()), nil, nil, ""
	m.Generation = 0
	if kind.Group != "" { // Kubernetes' own have none
		m.Generation = 1
	}
	setDefaults(d)
	return d, nil
}

func setDefaults(d hostapi.Document) {
	if v, ok := d.(interface{ SetDefaults() }); ok {
		v.SetDefaults()
	}
}

// tries bounds how often a write that names no version is tried again.
const tries = 10

// Update replaces a part of a document, and returns it as it is kept. An update that names a
// version must name the newest, or it is a conflict.
func (k *Keeper) Update(ctx context.Context, d hostapi.Document, part Part, dry bool) (hostapi.Document, error) {
	for range tries {
		done, err := k.update(ctx, d, part, dry)
		if !errors.Is(err, ErrStale) {
			return done, err
		}
		if d.Meta().ResourceVersion != "" {
			break
		}
	}
	return nil, conflict(keyOf(d))
}

// conflict is in Kubernetes' words, which some clients look for.
func conflict(k Key) error {
	return refuse(k, ErrConflict, "has been modified; please apply your changes to the latest version and try again")
}

func (k *Keeper) update(ctx context.Context, d hostapi.Document, part Part, dry bool) (hostapi.Document, error) {
	key := keyOf(d)
	row, err := k.row(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := unchanged(row, d.Meta().UID, d.Meta().ResourceVersion); err != nil {
		return nil, err
	}
	b := k.batch(ctx)
	c, err := b.of(row)
	if err != nil {
		return nil, err
	}
	if c.new, err = combine(c.old, d, part); err != nil {
		return nil, err
	}
	next := c.new
	setDefaults(next)
	if err := regained(c.old, next); err != nil {
		return nil, err
	}
	if err := keepMeta(c.old, next); err != nil {
		return nil, err
	}
	if problems := check(c.old, next, part); len(problems) > 0 {
		return nil, invalid(key, problems)
	}
	if dry {
		return next, nil
	}
	if m := next.Meta(); m.DeletionTimestamp != nil && len(m.Finalizers) == 0 {
		if err := b.drop(c); err != nil {
			return nil, err
		}
	}
	return next, b.commit()
}

// regained lets a Secret with a lost key be written anew. It refuses an update without data: a client that only sets a
// label must not empty it.
func regained(old, next hostapi.Document) error {
	s, ok := next.(*hostapi.Secret)
	if !ok || old.Meta().Annotations[AnnotationUnreadable] == "" {
		return nil
	}
	if len(s.Data) == 0 {
		return refuse(keyOf(old), ErrForbidden, "is %s", old.Meta().Annotations[AnnotationUnreadable])
	}
	delete(s.Annotations, AnnotationUnreadable)
	return nil
}

// unchanged refuses a row that does not have the requested UID and version.
func unchanged(r Row, uid, version string) error {
	if uid != "" && uid != r.UID {
		return refuse(r.Key, ErrConflict, "is another one than that with the uid %s, it has %s: it was deleted and made anew",
			uid, r.UID)
	}
	if version != "" && version != strconv.FormatInt(r.Revision, 10) {
		return conflict(r.Key)
	}
	return nil
}

// keepMeta restores the fields that only the server sets.
func keepMeta(old, next hostapi.Document) error {
	was, m := old.Meta(), next.Meta()
	m.Name, m.Namespace, m.UID, m.CreationTimestamp = was.Name, was.Namespace, was.UID, was.CreationTimestamp
	m.DeletionTimestamp, m.DeletionGrace, m.Generation = was.DeletionTimestamp, was.DeletionGrace, was.Generation
	m.ResourceVersion = was.ResourceVersion
	changed, err := contentsDiffer(old, next)
	if err == nil && changed && m.Generation > 0 {
		m.Generation++
	}
	return err
}

// check returns the problems of the written part.
func check(old, next hostapi.Document, part Part) []hostapi.Problem {
	if part == All {
		return nil
	}
	problems := append(hostapi.Check(next), hostapi.CheckChange(old, next)...)
	problems = append(problems, hostapi.CheckSizes(old, next)...)
	problems = append(problems, newFinalizers(old.Meta(), next.Meta())...)
	return slices.DeleteFunc(problems, func(p hostapi.Problem) bool {
		return strings.HasPrefix(p.Path, "status") != (part == Status)
	})
}

// newFinalizers are those that come too late.
func newFinalizers(was, m *hostapi.ObjectMeta) (problems []hostapi.Problem) {
	for i, f := range m.Finalizers {
		if was.DeletionTimestamp != nil && !slices.Contains(was.Finalizers, f) {
			problems = append(problems, hostapi.Problem{Path: fmt.Sprintf("metadata.finalizers[%d]", i), Value: f,
				Reason: "no new finalizers can be added while the document is being deleted", Forbidden: true})
		}
	}
	return problems
}

// combine is a document made of two, one of which has the part that counts.
func combine(old, d hostapi.Document, part Part) (hostapi.Document, error) {
	from, err := sections(old)
	if err != nil {
		return nil, err
	}
	to, err := sections(d)
	if err != nil {
		return nil, err
	}
	if part == Status {
		from, to = to, from
	}
	if part != All {
		delete(to, "status")
		if s, ok := from["status"]; ok {
			to["status"] = s
		}
	}
	text, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	kind, _ := hostapi.KindOf(d.About().Kind)
	made := kind.New()
	return made, json.Unmarshal(text, made)
}

// contentsDiffer compares the parts that a generation counts: all but metadata and status.
func contentsDiffer(a, b hostapi.Document) (bool, error) {
	var texts [2]string
	for i, d := range []hostapi.Document{a, b} {
		s, err := sections(d)
		if err != nil {
			return false, err
		}
		delete(s, "metadata")
		delete(s, "status")
		text, err := json.Marshal(s)
		if err != nil {
			return false, err
		}
		texts[i] = string(text)
	}
	return texts[0] != texts[1], nil
}

// sections returns the top-level members of a document.
func sections(d hostapi.Document) (map[string]json.RawMessage, error) {
	text, err := plain(d)
	if err != nil {
		return nil, err
	}
	var s map[string]json.RawMessage
	return s, json.Unmarshal(text, &s)
}
