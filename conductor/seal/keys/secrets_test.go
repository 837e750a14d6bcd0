package keys_test

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
)

// TestOpenSecrets: the key is made once, and is the same ever after.
func TestOpenSecrets(t *testing.T) {
	dir := t.TempDir()
	first, err := keys.OpenSecrets(dir)
	if err != nil || len(first) != keys.SecretsSize {
		t.Fatal(len(first), err)
	}
	again, err := keys.OpenSecrets(dir)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("another key, or none: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != keys.SecretsFile {
		t.Errorf("left in the folder: %v, %v", files, err)
	}
	if info, err := os.Stat(filepath.Join(dir, keys.SecretsFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if other, err := keys.OpenSecrets(t.TempDir()); err != nil || bytes.Equal(first, other) {
		t.Errorf("two folders have one key: %v", err)
	}
	if _, err := keys.OpenSecrets(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a key in no folder")
	}
}

// TestSecretsRefused: a file that others may read, or that holds no such key, is neither used nor replaced.
func TestSecretsRefused(t *testing.T) {
	key := func(kind string, n int) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: make([]byte, n)})
	}
	for name, c := range map[string]struct {
		text []byte
		mode os.FileMode
		want string
	}{
		"read by a group": {key("FERRITE SECRETS KEY", 32), 0o640, "chmod 600"},
		"empty":           {nil, 0o600, "in PEM"},
		"another":         {key("PRIVATE KEY", 32), 0o600, "in PEM"},
		"short":           {key("FERRITE SECRETS KEY", 31), 0o600, "of 32 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), keys.SecretsFile)
			if err := os.WriteFile(path, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := keys.OpenSecrets(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, c.text) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

// TestAddSecrets: a new key comes before the old one, which stays until it is dropped.
// Each state is read whole, and a second block that is no key is refused.
func TestAddSecrets(t *testing.T) {
	dir := t.TempDir()
	if err := keys.AddSecrets(dir); err == nil {
		t.Error("a second key without a first one")
	}
	old, err := keys.OpenSecrets(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.AddSecrets(dir); err != nil {
		t.Fatal(err)
	}
	both, err := keys.Secrets(dir)
	if err != nil || len(both) != 2 || !bytes.Equal(both[1], old) || bytes.Equal(both[0], old) {
		t.Fatalf("%d keys, %v", len(both), err)
	}
	if first, err := keys.OpenSecrets(dir); err != nil || !bytes.Equal(first, both[0]) {
		t.Errorf("the key that seals is another: %v", err)
	}
	for range 2 { // the second time there is nothing to drop
		if err := keys.DropOldSecrets(dir); err != nil {
			t.Fatal(err)
		}
		if left, err := keys.Secrets(dir); err != nil || len(left) != 1 || !bytes.Equal(left[0], both[0]) {
			t.Errorf("%d keys are left, %v", len(left), err)
		}
	}
	path := filepath.Join(dir, keys.SecretsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"words", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: old}))} {
		if err := os.WriteFile(path, append(bytes.Clone(text), more...), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := keys.Secrets(dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("behind the key %q: %v", more, err)
		}
	}
}
