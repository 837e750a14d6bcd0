package ramdisk

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
)

// sshKeysFile is where the agent reads the public keys that log in by SSH while it runs.
const sshKeysFile = "etc/ferrite/ssh-keys"

// addSSHKeys adds public keys, each once, without comments: they name people, and anybody on the network can fetch a
// ramdisk.
func (t tree) addSSHKeys(files []string) error {
	var all strings.Builder
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("ssh key: %w", err)
		}
		keys, err := publicKeys(text)
		if err != nil {
			return fmt.Errorf("ssh key %s: %w", file, err)
		}
		for _, key := range keys {
			line := string(ssh.MarshalAuthorizedKey(key))
			if !seen[line] {
				all.WriteString(line)
			}
			seen[line] = true
		}
	}
	if all.Len() > 0 {
		t.addText(sshKeysFile, all.String())
	}
	return nil
}

// publicKeys reads a file as id_ed25519.pub or authorized_keys. A private key is refused, and so are options in front
// of a key, which the agent does not know.
func publicKeys(text []byte) (keys []ssh.PublicKey, err error) {
	if bytes.Contains(text, []byte("PRIVATE KEY")) {
		return nil, fmt.Errorf("it is a private key: give the public one beside it, whose name ends in .pub")
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey(line)
		if err != nil {
			return nil, fmt.Errorf("expected a public key as in id_ed25519.pub, found %.20q: %w", line, err)
		}
		if len(options) > 0 {
			return nil, fmt.Errorf("key %s has option %q: expected a key alone", ssh.FingerprintSHA256(key), options[0])
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("expected a public key as in id_ed25519.pub, found none")
	}
	return keys, nil
}
