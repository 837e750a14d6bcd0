package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSign: openssl and sha256sum accept a signed release, and refuse it with a flipped bit.
func TestSign(t *testing.T) {
	p := packer{out: t.TempDir(), version: "1.2.3", at: time.Unix(1_700_000_000, 0)}
	for _, name := range []string{"ferrite_1.2.3_amd64.deb", "ferrite-1.2.3-source.tar.gz"} {
		if err := os.WriteFile(p.path("%s", name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := p.files()
	if err != nil {
		t.Fatal(err)
	}
	statement, err := json.Marshal(p.provenance(files, "0123abcd", "v1.2.3", func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path(provenanceFile), statement, 0o644); err != nil {
		t.Fatal(err)
	}
	public, private, pubFile := makeKey(t)
	if err := p.sign(private); err != nil {
		t.Fatal(err)
	}
	verify := func() error {
		c := exec.CommandContext(t.Context(), "sh", "-ec", "openssl pkeyutl -verify -pubin -inkey "+pubFile+
			" -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig && sha256sum --check --strict SHA256SUMS")
		c.Dir = p.out
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	if err := verify(); err != nil {
		t.Fatal(err)
	}
	checkEnvelope(t, p.path(envelopeFile), public, statement)
	for _, name := range []string{"ferrite_1.2.3_amd64.deb", envelopeFile, sumsFile, signatureFile} {
		whole, err := os.ReadFile(p.path("%s", name))
		if err != nil {
			t.Fatal(err)
		}
		broken := bytes.Clone(whole)
		broken[len(broken)/2] ^= 1
		if err := os.WriteFile(p.path("%s", name), broken, 0o644); err != nil {
			t.Fatal(err)
		}
		if verify() == nil {
			t.Errorf("%s was accepted with a broken byte", name)
		}
		if err := os.WriteFile(p.path("%s", name), whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.sign(pubFile); err == nil || !strings.Contains(err.Error(), "expected an Ed25519 key") {
		t.Errorf("a public key signs: %v", err)
	}
}

// makeKey makes a key pair, with the private and the public key in PEM files.
func makeKey(t *testing.T) (public ed25519.PublicKey, privateFile, publicFile string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	privateFile, publicFile = filepath.Join(dir, "key.pem"), filepath.Join(dir, "key.pub")
	for file, write := range map[string]func() (string, []byte, error){
		privateFile: func() (string, []byte, error) {
			der, err := x509.MarshalPKCS8PrivateKey(private)
			return "PRIVATE KEY", der, err
		},
		publicFile: func() (string, []byte, error) {
			der, err := x509.MarshalPKIXPublicKey(public)
			return "PUBLIC KEY", der, err
		},
	} {
		kind, der, err := write()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return public, privateFile, publicFile
}

// checkEnvelope reads the envelope as a verifier of DSSE does.
func checkEnvelope(t *testing.T, file string, public ed25519.PublicKey, statement []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var envelope struct {
		PayloadType string
		Payload     []byte
		Signatures  []struct{ Sig []byte }
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		t.Fatal(err)
	}
	signed := fmt.Appendf(nil, "DSSEv1 28 application/vnd.in-toto+json %d %s", len(statement), statement)
	if !bytes.Equal(envelope.Payload, statement) || len(envelope.Signatures) != 1 ||
		!ed25519.Verify(public, signed, envelope.Signatures[0].Sig) {
		t.Errorf("the envelope is not valid: %s", text)
	}
	var s struct {
		Type    string `json:"_type"`
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
	}
	if err := json.Unmarshal(envelope.Payload, &s); err != nil || s.Type != "https://in-toto.io/Statement/v1" ||
		len(s.Subject) != 2 || s.Subject[1].Name != "ferrite_1.2.3_amd64.deb" || len(s.Subject[1].Digest.SHA256) != 64 {
		t.Errorf("statement %+v, %v", s, err)
	}
}
