package ramdisk

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/ferrite-metal/ferrite/images/ramdisk/sshkeys"
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
		if bytes.Contains(text, []byte("PRIVATE KEY")) {
			return fmt.Errorf("ssh key %s: it is a private key: give the public one beside it, whose name ends in .pub", file)
		}
		keys, err := sshkeys.Parse(text)
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
