package serve

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTakeCredentials: a secret that systemd hands over takes the place of its file; all others stay.
func TestTakeCredentials(t *testing.T) {
	handed := t.TempDir()
	if err := os.WriteFile(filepath.Join(handed, "private_key.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, folder, key, want string }{
		{"handed over", handed, "/etc/ferrite/private/key.pem", filepath.Join(handed, "private_key.pem")},
		{"of another folder", handed, "/etc/other/key.pem", "/etc/other/key.pem"},
		{"of another name", handed, "/etc/ferrite/private/tls.pem", "/etc/ferrite/private/tls.pem"},
		{"without systemd", "", "/etc/ferrite/private/key.pem", "/etc/ferrite/private/key.pem"},
		{"none", handed, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := Config{TLSKey: c.key}
			if conf.takeCredentials(c.folder); conf.TLSKey != c.want || conf.PasswordFile != "" {
				t.Errorf("%q, %q; expected %q and none", conf.TLSKey, conf.PasswordFile, c.want)
			}
		})
	}
}
