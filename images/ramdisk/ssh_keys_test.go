package ramdisk

import (
	"path/filepath"
	"strings"
	"testing"
)

const aKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"

func TestSSHKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.pub")
	writeFile(t, file, "# site\n\n"+aKey+" ann@example.org\n"+aKey+"\n")
	kernel, recipe := fakeKernel(t), fakeRecipe(t)
	recipe.Site.SSHKeys = []string{file, file}
	res, err := assemble(t.Context(), recipe, kernel)
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for _, r := range readInitramfs(t, res.InitramfsPath) {
		if r.Name == sshKeysFile {
			found = content(t, r)
		}
	}
	if found != aKey+"\n" {
		t.Errorf("%s is %q", sshKeysFile, found)
	}
	for text, want := range map[string]string{
		"": "found none", "-----BEGIN OPENSSH PRIVATE KEY-----\n": "it is a private key",
		`from="10.0.0.0/8" ` + aKey: "expected a key alone", "ssh-ed25519 AAAA": "expected a public key",
	} {
		writeFile(t, file, text)
		if _, err := assemble(t.Context(), recipe, kernel); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
		}
	}
}
