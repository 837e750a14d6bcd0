package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/user"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// Files below the configuration folder. The service gets those in private/ from systemd (LoadCredential), and may read
// the others by its group, which it inherits from the folder.
const (
	configFile       = "ferrite.yaml"
	usersFile        = "users"
	htpasswdFile     = "htpasswd"
	certificateFile  = "cert.pem"
	authorityFile    = "ca.pem"
	keyFile          = "private/key.pem"
	authorityKeyFile = "authority/ca-key.pem"
)

// file is a file to write: its path below the configuration folder, and its content.
type file struct {
	name string
	text []byte
	mode fs.FileMode
}

// fileSet holds the files that setup writes, the configuration last. tried is the configuration for the check: with the
// paths of the copies that are written first.
type fileSet struct {
	files []file
	tried func(dir string) []byte
}

// files makes everything in memory.
func (o *options) files() (fileSet, error) {
	var made fileSet
	users, htpasswd, err := o.users()
	if err != nil {
		return made, err
	}
	made.files = append(made.files, file{usersFile, users, 0o640}, file{htpasswdFile, htpasswd, 0o640})
	if o.Certificate == makeCertificate {
		hosts, err := o.hosts()
		if err != nil {
			return made, err
		}
		p, err := makeCertificates(hosts, time.Now())
		if err != nil {
			return made, err
		}
		o.made = true
		made.files = append(made.files, file{authorityKeyFile, p.authorityKey, 0o600},
			file{authorityFile, p.authority, 0o644}, file{keyFile, p.key, 0o600}, file{certificateFile, p.cert, 0o644})
	}
	made.files = append(made.files, file{configFile, o.config(o.configDir), 0o640})
	made.tried = o.config
	return made, nil
}

// users adds the admin to the users that there are.
func (o *options) users() (users, htpasswd []byte, err error) {
	known, rawPasswords, err := o.readUsers()
	if err != nil {
		return nil, nil, err
	}
	if i := known.Find(o.Admin); i < 0 {
		known.Users = append(known.Users, auth.User{Name: o.Admin, Role: "admin"})
	} else if known.Users[i].Role != "admin" || known.Users[i].Project != "" {
		return nil, nil, fmt.Errorf("%s: user %s is there, and no admin of everything: name another with --admin, or change "+
			"the role with: ferrite user set %[2]s --role admin", o.path(usersFile), o.Admin)
	}
	if o.password != "" {
		if rawPasswords, _, err = user.WithPassword(rawPasswords, o.Admin, o.password); err != nil {
			return nil, nil, err
		}
	}
	users, err = known.Encode()
	return users, rawPasswords, err
}

func (o *options) readUsers() (known auth.Users, htpasswd []byte, err error) {
	raw, err := os.ReadFile(o.path(usersFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return known, nil, err
	}
	if known, err = auth.ParseUsers(raw); err != nil {
		return known, nil, fmt.Errorf("%s: %w", o.path(usersFile), err)
	}
	htpasswd, err = os.ReadFile(o.path(htpasswdFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return known, nil, err
	}
	return known, htpasswd, nil
}

// knowsAdmin reports whether the admin has a password already.
func (o *options) knowsAdmin() (bool, error) {
	_, htpasswd, err := o.readUsers()
	return user.HasPassword(htpasswd, o.Admin), err
}

// install writes everything beside its place, has it checked there, and then moves it. A failure before leaves the
// folder as it was.
func (s fileSet) install(dir string, out io.Writer) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--config-dir: %w", err)
	}
	tmp, err := os.MkdirTemp(dir, ".setup-")
	if err != nil {
		return fmt.Errorf("--config-dir: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	for _, f := range s.files {
		if err := writeBelow(tmp, f); err != nil {
			return err
		}
	}
	trial := file{".trial.yaml", s.tried(tmp), 0o600}
	if err := writeBelow(tmp, trial); err != nil {
		return err
	}
	said, err := serve.CheckFile(filepath.Join(tmp, trial.name))
	if err != nil {
		return fmt.Errorf("nothing was written: the configuration would be refused: %w", err)
	}
	for _, f := range s.files {
		changed, err := f.move(tmp, dir)
		if err != nil {
			return err
		}
		if changed {
			fmt.Fprintf(out, "setup: wrote %s\n", filepath.Join(dir, f.name))
		}
	}
	_, err = fmt.Fprintf(out, "setup: %s\n", said)
	return err
}

// writeBelow writes a file, and its folder: private, unless it is the configuration's own.
func writeBelow(dir string, f file) error {
	path := filepath.Join(dir, f.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, f.text, f.mode); err != nil {
		return err
	}
	return os.Chmod(path, f.mode) // independent of the umask
}

// move puts a file in its place. It reports whether the content changed, or the file is new. The old file is kept as a
// copy, except the file of users, which setup only adds to.
func (f file) move(from, to string) (changed bool, err error) {
	path := filepath.Join(to, f.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	was, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, err
	case bytes.Equal(was, f.text):
		return false, nil
	case f.name != usersFile && f.name != htpasswdFile:
		if err := os.Rename(path, path+".old"); err != nil {
			return false, err
		}
	}
	return true, os.Rename(filepath.Join(from, f.name), path)
}
