package serve

import (
	"os"
	"path/filepath"
)

// takeCredentials uses the credentials of systemd in place of secrets that only root may read. With
// LoadCredential=private:/etc/ferrite/private the file /etc/ferrite/private/key.pem is private_key.pem in the folder
// $CREDENTIALS_DIRECTORY (systemd.exec(5)). One configuration then serves both the service and root, when root checks
// it.
func (c *Config) takeCredentials(folder string) {
	if folder == "" {
		return
	}
	secrets := []*string{&c.TLSKey, &c.PasswordFile}
	for _, e := range c.extras {
		secrets = append(secrets, e.secrets()...)
	}
	for _, secret := range secrets {
		if *secret == "" {
			continue
		}
		handed := filepath.Join(folder, filepath.Base(filepath.Dir(*secret))+"_"+filepath.Base(*secret))
		if _, err := os.Stat(handed); err == nil {
			*secret = handed
		}
	}
}
