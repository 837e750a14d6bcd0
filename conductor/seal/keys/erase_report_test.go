package keys_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
)

// TestOpenEraseReport: the key is made once, and is the same ever after.
func TestOpenEraseReport(t *testing.T) {
	dir := t.TempDir()
	first, err := keys.OpenEraseReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := keys.OpenEraseReport(dir)
	if err != nil || !first.Equal(again) {
		t.Errorf("another key, or none: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != keys.EraseReportFile {
		t.Errorf("left in the folder: %v, %v", files, err)
	}
	info, err := os.Stat(filepath.Join(dir, keys.EraseReportFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := keys.OpenEraseReport(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a key in no folder")
	}
}

// TestEraseReportRefused: a file that others may read, or that holds no such key, is neither used nor replaced.
func TestEraseReportRefused(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text []byte
		mode os.FileMode
		want string
	}{
		"read by a group": {nil, 0o640, "chmod 600"},
		"read by all":     {nil, 0o604, "chmod 600"},
		"empty":           {[]byte{}, 0o600, "in PEM"},
		"a certificate":   {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600, "in PEM"},
		"damaged":         {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der[:20]}), 0o600, "damaged"},
		"of another kind": {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600,
			"expected an Ed25519 key"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, keys.EraseReportFile)
			if _, err := keys.OpenEraseReport(dir); err != nil {
				t.Fatal(err)
			}
			if c.text != nil {
				if err := os.WriteFile(path, c.text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := keys.OpenEraseReport(dir); err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}
