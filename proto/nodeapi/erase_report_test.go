package nodeapi_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func eraseKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

// signedReport is a document, and the key that opens it.
func signedReport(t testing.TB) ([]byte, ed25519.PublicKey) {
	t.Helper()
	key := eraseKey(1)
	r, err := nodeapi.EraseStatement{
		UUID: "u", NodeUUID: "n", NodeName: "web-3", SignedAt: time.Date(2026, 11, 22, 10, 0, 0, 5000, time.UTC),
		Report: json.RawMessage(`{"version":1,"disks":[{"device":"/dev/sda","size":1099511627776,"model":"<A>"}]}`),
	}.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return document, public(key)
}

// TestEraseReportOpens: as it is served, and as programs write it anew.
func TestEraseReportOpens(t *testing.T) {
	document, key := signedReport(t)
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	anew, err := json.MarshalIndent(v, "", "  ") // other order, other spaces
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"as served": document, "with a newline": append(bytes.Clone(document), '\n'),
		"written anew": anew} {
		s, err := nodeapi.OpenEraseReport(text, key)
		if err != nil || s.NodeName != "web-3" || !strings.Contains(string(s.Report), "/dev/sda") {
			t.Errorf("%s: %v %+v", name, err, s)
		}
	}
}

// TestEraseReportChanged: no byte of a report can be another, whichever it is.
func TestEraseReportChanged(t *testing.T) {
	document, key := signedReport(t)
	for i := range document {
		changed := bytes.Clone(document)
		changed[i] ^= 1
		if _, err := nodeapi.OpenEraseReport(changed, key); err == nil {
			t.Errorf("byte %d as %q: taken:\n%s", i, changed[i], changed)
		}
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"another disk":     {`/dev/sda`, `/dev/sdb`, "differ from the signed payload"},
		"another name":     {`"web-3"`, `"web-4"`, "differ from the signed payload"},
		"another verdict":  {`"failed":false`, `"failed":true`, "differ from the signed payload"},
		"another size":     {`1099511627776`, `1099511627777`, "differ from the signed payload"},
		"something more":   {`{"uuid"`, `{"note":1,"uuid"`, "unknown field"},
		"no document":      {`{`, ``, "no signed erase report"},
		"something behind": {`"}`, `"}{}`, "no signed erase report"},
	} {
		if _, err := nodeapi.OpenEraseReport([]byte(strings.Replace(string(document), c.old, c.new, 1)), key); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := nodeapi.OpenEraseReport(document, public(eraseKey(2))); err == nil ||
		!strings.Contains(err.Error(), "it is signed with the key") {
		t.Errorf("another key: %v", err)
	}
}

// TestEraseReportForged: a forger signs with another key and gives it the conductor's id is
// found out.
func TestEraseReportForged(t *testing.T) {
	document, key := signedReport(t)
	var r nodeapi.EraseReport
	if err := json.Unmarshal(document, &r); err != nil {
		t.Fatal(err)
	}
	payload, _, err := r.Signed()
	if err != nil {
		t.Fatal(err)
	}
	forged, err := nodeapi.ReportOf(payload, ed25519.Sign(eraseKey(2), payload))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(forged)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nodeapi.OpenEraseReport(text, key); err == nil ||
		!strings.Contains(err.Error(), "the signature is wrong") {
		t.Errorf("%v", err)
	}
}

// TestEraseKey: a key is written and read back; others are refused.
func TestEraseKey(t *testing.T) {
	shown, err := nodeapi.EraseKeyOf(public(eraseKey(1)))
	if err != nil || len(shown.KeyID) != 32 {
		t.Fatal(shown, err)
	}
	key, err := nodeapi.ParseEraseKey([]byte(shown.PublicKey))
	if err != nil || !key.Equal(public(eraseKey(1))) {
		t.Error(key, err)
	}
	for _, bad := range []string{"", "PEM", strings.ReplaceAll(shown.PublicKey, "PUBLIC", "PRIVATE"),
		strings.Replace(shown.PublicKey, "MC", "MD", 1)} {
		if _, err := nodeapi.ParseEraseKey([]byte(bad)); err == nil {
			t.Errorf("taken: %q", bad)
		}
	}
}

// FuzzEraseReport: only signed documents open.
func FuzzEraseReport(f *testing.F) {
	document, key := signedReport(f)
	f.Add(document)
	f.Add([]byte(`{"payload":"e30=","signature":""}`))
	want, err := nodeapi.OpenEraseReport(document, key)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := nodeapi.OpenEraseReport(text, key)
		if err == nil && (s.UUID != want.UUID || !bytes.Equal(s.Report, want.Report)) {
			t.Errorf("opened: %s", text)
		}
		_, _ = nodeapi.ParseEraseKey(text)
	})
}
