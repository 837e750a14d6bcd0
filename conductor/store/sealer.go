package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// sealer divides a record into its document and its sealed secrets, and puts them
// together again. With a nil ring it seals nothing.
type sealer struct{ ring *seal.Ring }

// sealContext binds an envelope to its record. The places of its values in the document
// are within it.
func sealContext(table, key string) string { return table + "\x00" + key }

// errNoKeys is for sealed values that a store without keys meets.
var errNoKeys = errors.New("the store was opened without keys")

// encode returns the document of a record and the envelope of its secrets, nil for none.
func (s sealer) encode(table, uuid string, record any) (doc string, envelope []byte, err error) {
	leaves := map[string]any{}
	if s.ring != nil {
		record = detached(record)
		for _, p := range secretParts(record) {
			p.take(leaves)
		}
	}
	raw, err := json.Marshal(record)
	if err != nil || len(leaves) == 0 {
		return string(raw), nil, err
	}
	plain, err := encodeLeaves(leaves)
	if err != nil {
		return "", nil, err
	}
	envelope, err = s.ring.Seal(sealContext(table, uuid), plain)
	return string(raw), envelope, err
}

// open puts the secrets of an envelope into the record that was read from the document
// beside it.
func (s sealer) open(table, uuid string, record any, envelope []byte) error {
	if len(envelope) == 0 {
		return nil
	}
	plain, err := s.openBytes(table, uuid, envelope)
	if err != nil {
		return err
	}
	leaves, err := decodeLeaves(plain)
	parts := secretParts(record)
	for i := 0; err == nil && i < len(leaves); i++ {
		err = putSecret(parts, leaves[i].pointer, leaves[i].value)
	}
	if err != nil {
		return unopened(table, uuid, err)
	}
	return nil
}

func putSecret(parts []secretPart, pointer string, value any) error {
	for _, p := range parts {
		if p.holds(pointer) {
			return p.put(pointer, value)
		}
	}
	return fmt.Errorf("the document has no place for the sealed value of %s", pointer)
}

// openBytes opens an envelope of a record.
func (s sealer) openBytes(table, uuid string, envelope []byte) ([]byte, error) {
	if s.ring == nil {
		return nil, unopened(table, uuid, errNoKeys)
	}
	plain, err := s.ring.Open(sealContext(table, uuid), envelope)
	if err != nil {
		return nil, unopened(table, uuid, err)
	}
	return plain, nil
}

// unopened is the error for a record with unreadable secrets.
func unopened(table, uuid string, err error) error {
	return fmt.Errorf("%s, row %s: its sealed values cannot be read: %w; %s, or set them again", table, uuid, err,
		restore)
}

// sealArgs returns the arguments of an effect as they are stored: as they are, or sealed
// as a whole when there is a secret among them.
func (s sealer) sealArgs(about string, args []byte) (plain string, envelope []byte, err error) {
	var decoded any
	if s.ring == nil || len(args) == 0 || json.Unmarshal(args, &decoded) != nil || !nodeapi.HasSecrets(decoded) {
		return string(args), nil, nil
	}
	envelope, err = s.ring.Seal(sealContext("effects", about), args)
	return "", envelope, err
}

// decodeSealed decodes the document of a record, and opens its secrets.
func decodeSealed[T any](s sealer, table, uuid, doc string, envelope []byte) (T, error) {
	v, err := decode[T](doc)
	if err == nil {
		err = s.open(table, uuid, &v, envelope)
	}
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}
