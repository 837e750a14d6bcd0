package nodeapi

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// EraseStatement is the signed part of a report: the machine of a node has reported this of an erase, or it began one
// and has not reported. The signature covers its JSON.
type EraseStatement struct {
	UUID     string          `json:"uuid"` // of the statement
	NodeUUID string          `json:"node_uuid"`
	NodeName string          `json:"node_name"` // at that time; "" for none
	Failed   bool            `json:"failed"`    // the step has failed: not all disks were erased
	SignedAt time.Time       `json:"signed_at"`
	KeyID    string          `json:"key_id"`
	Report   json.RawMessage `json:"report"` // an agentapi.EraseReport
}

// EraseReport is a signed statement: GET /ferrite/v1/erase-reports/{uuid}, and the form that is kept in a file. All
// but the last two fields are for readers. Payload alone counts, and OpenEraseReport compares the others with it.
type EraseReport struct {
	UUID     string          `json:"uuid"`
	NodeUUID string          `json:"node_uuid"`
	NodeName string          `json:"node_name"`
	Failed   bool            `json:"failed"`
	SignedAt time.Time       `json:"signed_at"`
	KeyID    string          `json:"key_id"`
	Report   json.RawMessage `json:"report"`
	// base64 (RFC 4648, section 4) of the bytes that were signed: the JSON of an EraseStatement
	Payload   string `json:"payload"`
	Signature string `json:"signature"` // base64 of Ed25519 (RFC 8032) over them
}

// EraseReports answers GET /ferrite/v1/nodes/{node}/erase-reports, and a page of
// GET /ferrite/v1/erase-reports: the oldest first.
type EraseReports struct {
	EraseReports []EraseSummary `json:"erase_reports"`
	Next         string         `json:"next,omitempty"` // URL of the next page; "" for none
}

// EraseSummary is a report without its disks; they are counted.
type EraseSummary struct {
	UUID     string    `json:"uuid"`
	NodeUUID string    `json:"node_uuid"`
	NodeName string    `json:"node_name"`
	Failed   bool      `json:"failed"`
	SignedAt time.Time `json:"signed_at"`
	KeyID    string    `json:"key_id"`
	Erased   int       `json:"erased"`
	Skipped  int       `json:"skipped"`
	Errors   int       `json:"errors"` // disks that could not be erased
}

// EraseKey answers GET /ferrite/v1/erase-key.
type EraseKey struct {
	KeyID     string `json:"key_id"`
	Algorithm string `json:"algorithm"`  // ed25519
	PublicKey string `json:"public_key"` // PEM of a SubjectPublicKeyInfo
}

// EraseKeyOf describes a public key.
func EraseKeyOf(key ed25519.PublicKey) (EraseKey, error) {
	if len(key) != ed25519.PublicKeySize {
		return EraseKey{}, fmt.Errorf("public key: expected %d bytes, found %d", ed25519.PublicKeySize, len(key))
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return EraseKey{}, fmt.Errorf("public key: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return EraseKey{KeyID: keyID(der), Algorithm: "ed25519", PublicKey: string(text)}, nil
}

// keyID names a key by the first half of the SHA-256 of its DER.
func keyID(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:sha256.Size/2])
}

// ParseEraseKey reads a public key from PEM.
func ParseEraseKey(text []byte) (ed25519.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("expected a public key in PEM, which begins with -----BEGIN PUBLIC KEY-----")
	}
	any, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	key, ok := any.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("expected an Ed25519 key, found a %T", any)
	}
	return key, nil
}

// Sign makes a report of a statement. The key's id is filled in.
func (s EraseStatement) Sign(key ed25519.PrivateKey) (EraseReport, error) {
	if len(key) != ed25519.PrivateKeySize {
		return EraseReport{}, errors.New("erase report: there is no key to sign it with")
	}
	public, _ := key.Public().(ed25519.PublicKey)
	shown, err := EraseKeyOf(public)
	if err != nil {
		return EraseReport{}, err
	}
	s.KeyID, s.SignedAt = shown.KeyID, s.SignedAt.UTC()
	payload, err := json.Marshal(s)
	if err != nil {
		return EraseReport{}, fmt.Errorf("erase report: %w", err)
	}
	return ReportOf(payload, ed25519.Sign(key, payload))
}

// ReportOf is the report that consists of these bytes and their signature, which
// it does not check.
func ReportOf(payload, signature []byte) (EraseReport, error) {
	var s EraseStatement
	if err := strictly(payload, &s); err != nil {
		return EraseReport{}, fmt.Errorf("the signed payload is no statement of an erase: %w", err)
	}
	return EraseReport{
		UUID: s.UUID, NodeUUID: s.NodeUUID, NodeName: s.NodeName, Failed: s.Failed, SignedAt: s.SignedAt, KeyID: s.KeyID,
		Report:  s.Report,
		Payload: base64.StdEncoding.EncodeToString(payload), Signature: base64.StdEncoding.EncodeToString(signature),
	}, nil
}

// Signed is the bytes that were signed and their signature.
func (r EraseReport) Signed() (payload, signature []byte, err error) {
	if payload, err = base64.StdEncoding.Strict().DecodeString(r.Payload); err != nil {
		return nil, nil, fmt.Errorf("payload: %w", err)
	}
	if signature, err = base64.StdEncoding.Strict().DecodeString(r.Signature); err != nil {
		return nil, nil, fmt.Errorf("signature: %w", err)
	}
	return payload, signature, nil
}

// OpenEraseReport reads a document and returns the signed statement. It refuses another key, a signature that does not
// fit the payload, and a document with open fields that differ from the payload.
func OpenEraseReport(document []byte, key ed25519.PublicKey) (EraseStatement, error) {
	var none, s EraseStatement
	var r EraseReport
	if err := strictly(document, &r); err != nil {
		return none, fmt.Errorf("this is no signed erase report, or it was changed: %w", err)
	}
	shown, err := EraseKeyOf(key)
	if err != nil {
		return none, err
	}
	if r.KeyID != shown.KeyID {
		return none, fmt.Errorf("it is signed with the key %s, and this is the key %s: give the conductor's that signed it",
			r.KeyID, shown.KeyID)
	}
	payload, signature, err := r.Signed()
	if err != nil {
		return none, fmt.Errorf("it was changed: %w", err)
	}
	if !ed25519.Verify(key, payload, signature) {
		return none, errors.New("the signature is wrong: it was changed, or never signed with this key")
	}
	if err := strictly(payload, &s); err != nil {
		return none, fmt.Errorf("the signed payload is no statement of an erase: %w", err)
	}
	same, err := r.says(s)
	if err != nil {
		return none, err
	}
	if !same {
		return none, errors.New("it was changed: its open fields differ from the signed payload")
	}
	return s, nil
}

// says reports whether the open fields of r equal s; programs may have written them anew, with other spaces and order.
func (r EraseReport) says(s EraseStatement) (bool, error) {
	open := EraseStatement{UUID: r.UUID, NodeUUID: r.NodeUUID, NodeName: r.NodeName, Failed: r.Failed,
		SignedAt: r.SignedAt, KeyID: r.KeyID, Report: r.Report}
	var values [2]any
	for i, statement := range []EraseStatement{open, s} {
		text, err := json.Marshal(statement)
		if err != nil {
			return false, fmt.Errorf("erase report: %w", err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&values[i]); err != nil {
			return false, fmt.Errorf("erase report: %w", err)
		}
	}
	return reflect.DeepEqual(values[0], values[1]), nil
}

// strictly decodes one JSON value without unknown keys, and nothing behind it.
func strictly(text []byte, into any) error {
	if err := CheckJSON(text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
