package objects

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// AnnotationUnreadable is on a secret that was sealed with another key, and has
// nothing in it: it can be deleted, or written anew.
const AnnotationUnreadable = "ferrite/unreadable"

func newSeal(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("the key of secrets has %d bytes, expected 32", len(key))
	}
	return cipher.NewGCM(block)
}

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

// sealed encrypts what is a secret, all of it: kubectl keeps a copy of what was
// applied among the annotations. It is bound to its document, so that rows
// cannot be exchanged.
func (k *Keeper) sealed(key Key, uid string, text []byte) []byte {
	if key.Kind != hostapi.KindSecret {
		return text
	}
	nonce := make([]byte, k.seal.NonceSize(), k.seal.NonceSize()+len(text)+k.seal.Overhead())
	rand.Read(nonce) // never fails
	return k.seal.Seal(nonce, nonce, text, []byte(key.String()+" "+uid))
}

// decode reads a row.
func (k *Keeper) decode(r Row) (hostapi.Document, error) {
	text := r.Doc
	if r.Kind == hostapi.KindSecret {
		var ok bool
		if text, ok = k.opened(r); !ok {
			return unreadable(r), nil
		}
	}
	return parse(r.Key, text, r.Revision)
}

func (k *Keeper) opened(r Row) ([]byte, bool) {
	n := k.seal.NonceSize()
	if len(r.Doc) < n {
		return nil, false
	}
	text, err := k.seal.Open(nil, r.Doc[:n], r.Doc[n:], []byte(r.String()+" "+r.UID))
	return text, err == nil
}

// unreadable is in place of a secret whose key is lost: what it is called is
// known, and that something must be done about it.
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

// Check refuses a row that cannot be read with a key, and one whose document is
// another's than the row says; ErrSealed of a secret that the key does not open.
func Check(r Row, key []byte) error {
	seal, err := newSeal(key)
	if err != nil {
		return err
	}
	k := &Keeper{seal: seal}
	text := r.Doc
	if r.Kind == hostapi.KindSecret {
		var ok bool
		if text, ok = k.opened(r); !ok {
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
