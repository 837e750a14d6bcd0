package objects

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// AnnotationUnreadable is on a secret that was sealed with another key, and has
// nothing in it: it can be deleted, or written anew.
const AnnotationUnreadable = "ferrite/unreadable"

// keyOf is how a document is found.
func keyOf(d hostapi.Document) Key {
	return Key{Kind: d.About().Kind, Namespace: d.Meta().Namespace, Name: d.Meta().Name}
}

// plain is a document as it is written down: without its version, which is the
// row's.
func plain(d hostapi.Document) ([]byte, error) {
	version := d.Meta().ResourceVersion
	d.Meta().ResourceVersion = ""
	defer func() { d.Meta().ResourceVersion = version }()
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("write down %s: %w", keyOf(d), err)
	}
	return text, nil
}

// parse is the reverse of plain.
func parse(key Key, text []byte, revision int64) (hostapi.Document, error) {
	kind, ok := hostapi.KindOf(key.Kind)
	if !ok {
		return nil, fmt.Errorf("%s: this build knows no documents of that kind", key)
	}
	d := kind.New()
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	*d.About() = hostapi.TypeMeta{Kind: kind.Kind, APIVersion: kind.APIVersion()}
	d.Meta().ResourceVersion = strconv.FormatInt(revision, 10)
	return d, nil
}

// sealed encrypts all of a Secret: kubectl keeps a copy of the applied document among the annotations. The text is
// bound to its document, so that rows cannot be exchanged.
func (k *Keeper) sealed(key Key, uid string, text []byte) ([]byte, error) {
	if key.Kind != hostapi.KindSecret {
		return text, nil
	}
	return k.keys.Seal(sealContext(key, uid), text)
}

// sealContext binds a Secret to its row.
func sealContext(key Key, uid string) string { return key.String() + " " + uid }

// decode reads a row.
func (k *Keeper) decode(r Row) (hostapi.Document, error) {
	text := r.Doc
	if r.Kind == hostapi.KindSecret {
		var ok bool
		if text, ok = opened(r, k.keys); !ok {
			return unreadable(r), nil
		}
	}
	return parse(r.Key, text, r.Revision)
}

// opened opens a Secret, also of a build before envelopes.
func opened(r Row, keys *seal.Ring) ([]byte, bool) {
	context := sealContext(r.Key, r.UID)
	text, err := keys.Open(context, r.Doc)
	if err != nil {
		text, err = keys.OpenBare(context, r.Doc)
	}
	return text, err == nil
}

// Reseal returns the document of a Secret's row, sealed with the newest key of a ring;
// unchanged if it is already, or if no key of the ring opens it.
func Reseal(r Row, keys *seal.Ring) (doc []byte, changed bool, err error) {
	if id, err := seal.KeyOf(r.Doc); r.Kind != hostapi.KindSecret || err == nil && id == keys.Current() {
		return r.Doc, false, nil
	}
	text, ok := opened(r, keys)
	if !ok {
		return r.Doc, false, nil
	}
	doc, err = keys.Seal(sealContext(r.Key, r.UID), text)
	return doc, err == nil, err
}

// unreadable stands for a Secret with a lost key: its name is known, and an annotation asks the operator to restore it.
func unreadable(r Row) hostapi.Document {
	return &hostapi.Secret{
		TypeMeta: hostapi.TypeMeta{Kind: hostapi.KindSecret, APIVersion: hostapi.CoreVersion},
		ObjectMeta: hostapi.ObjectMeta{
			Name: r.Name, Namespace: r.Namespace, UID: r.UID, ResourceVersion: strconv.FormatInt(r.Revision, 10),
			Annotations: map[string]string{
				AnnotationUnreadable: "sealed with another key than the conductor's: restore the key, or apply the secret again",
			},
		},
		Type: hostapi.SecretOpaque,
	}
}

// Check refuses a row that cannot be read with the keys, and a row with the document of another row. It returns
// ErrSealed for a Secret that the keys do not open.
func Check(r Row, keys *seal.Ring) error {
	text := r.Doc
	if r.Kind == hostapi.KindSecret {
		var ok bool
		if text, ok = opened(r, keys); !ok {
			return ErrSealed
		}
	}
	d, err := parse(r.Key, text, r.Revision)
	if err != nil {
		return err
	}
	if is := keyOf(d); is != r.Key || d.Meta().UID != r.UID {
		return fmt.Errorf("its document is of %s with the UID %s, expected %s with the UID %s", is, d.Meta().UID,
			r.Key, r.UID)
	}
	return nil
}
