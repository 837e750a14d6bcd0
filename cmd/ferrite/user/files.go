package user

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/bcrypt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// files is where they are.
type files struct{ users, htpasswd string }

// readUsers reads the users; a file that is not there yet has none.
func (f *files) readUsers() (auth.Users, error) {
	if f.users == "" {
		return auth.Users{}, errors.New("the file of users is missing: set --users-file or FERRITE_USERS_FILE")
	}
	raw, err := os.ReadFile(f.users)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return auth.Users{}, err
	}
	u, err := auth.ParseUsers(raw)
	if err != nil {
		return u, fmt.Errorf("%s: %w", f.users, err)
	}
	return u, nil
}

// complete offers the names of users to a shell's completion.
func (f *files) complete(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || cmd.Name() == "list" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	u, err := f.readUsers()
	if err != nil { // a shell has no place for it
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, len(u.Users))
	for i, user := range u.Users {
		names[i] = user.Name + "\t" + user.Role
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// edit changes the users, unless the result is invalid.
func (f *files) edit(change func(*auth.Users) error) error {
	u, err := f.readUsers()
	if err != nil {
		return err
	}
	if err := change(&u); err != nil {
		return err
	}
	if err := u.Check(); err != nil {
		return err
	}
	raw, err := u.Encode()
	if err != nil {
		return err
	}
	return replace(f.users, raw)
}

// setPassword writes a user's line of the htpasswd file, or takes it out when
// password is empty; was reports whether there was one.
func (f *files) setPassword(name, password string) (was bool, err error) {
	raw, err := os.ReadFile(f.htpasswd)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	raw, was, err = WithPassword(raw, name, password)
	if err != nil {
		return was, err
	}
	return was, replace(f.htpasswd, raw)
}

// WithPassword is the text of an htpasswd file with another password of one user, or without the user when password is
// empty; was reports whether there was one.
func WithPassword(htpasswd []byte, name, password string) (text []byte, was bool, err error) {
	if name == "" || strings.ContainsAny(name, ":\r\n") {
		return nil, false, fmt.Errorf("user %q: a name is not empty and holds no colon and no line break", name)
	}
	var lines []string
	for line := range strings.Lines(string(htpasswd)) {
		if strings.HasPrefix(line, name+":") {
			was = true
			continue
		}
		lines = append(lines, strings.TrimRight(line, "\r\n")+"\n")
	}
	if password != "" {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
		if err != nil {
			return nil, was, fmt.Errorf("password of %s: %w", name, err)
		}
		lines = append(lines, name+":"+string(hash)+"\n")
	}
	return []byte(strings.Join(lines, "")), was, nil
}

// HasPassword reports whether an htpasswd file has a line of a user.
func HasPassword(htpasswd []byte, name string) bool {
	for line := range strings.Lines(string(htpasswd)) {
		if strings.HasPrefix(line, name+":") {
			return true
		}
	}
	return false
}

// replace writes a file as a whole, so that a conductor never reads half of it. It makes a missing folder
// (/etc/ferrite, at first). Only the owner may read the file, unless others could before. When root replaces a file,
// the file keeps its owner.
func replace(path string, raw []byte) (err error) {
	mode, uid, gid := fs.FileMode(0o600), -1, -1 // -1 keeps the current user
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
		if s, ok := st.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
			uid, gid = int(s.Uid), int(s.Gid)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(raw)
	if err = errors.Join(err, tmp.Chown(uid, gid), tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Rename(tmp.Name(), path)
}

// readPassword asks for a password twice on the terminal, or takes the first line
// of a file.
func readPassword(cmd *cobra.Command, file string) (string, error) {
	if file == "" {
		return secret.Ask(cmd.ErrOrStderr(), "Password", "--password-file")
	}
	return secret.FirstLine(cmd.InOrStdin(), "--password-file", file)
}
