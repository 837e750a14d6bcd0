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
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// The flags of the files, which are also keys of the configuration file.
const usersKey, htpasswdKey = "users-file", "htpasswd-file"

// files is where they are.
type files struct{ users, htpasswd string }

// readUsers reads the users.
func (f *files) readUsers(cmd *cobra.Command) (auth.Users, error) {
	if f.users == "" {
		return auth.Users{}, siteconfig.NotNamed(cmd, "file of users", usersKey)
	}
	raw, err := os.ReadFile(f.users)
	if err != nil {
		return auth.Users{}, fmt.Errorf("file of users: %w", err)
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
	u, err := f.readUsers(cmd)
	if err != nil { // a shell has no place for it
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, len(u.Users))
	for i, user := range u.Users {
		names[i] = user.Name + "\t" + user.Role
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// noUser is the error of a command for a user that the file does not have.
func (f *files) noUser(name string) error {
	return fmt.Errorf("there is no user %s in %s: add the user with: ferrite user set %s --role ROLE", name, f.users, name)
}

// edit changes the users, unless the result is invalid. A file that is missing has none.
func (f *files) edit(cmd *cobra.Command, change func(*auth.Users) error) error {
	u, err := f.readUsers(cmd)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// checkPassword refuses a password that could not be written, before it is asked for; role reports whether the user has
// one, or needs none.
func (f *files) checkPassword(cmd *cobra.Command, name string) (role bool, err error) {
	if f.htpasswd == "" {
		return false, siteconfig.NotNamed(cmd, "file of passwords", htpasswdKey)
	}
	if err := checkName(name); err != nil {
		return false, err
	}
	if _, err := os.ReadFile(f.htpasswd); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("file of passwords: %w", err)
	}
	if f.users == "" {
		return true, nil
	}
	u, err := f.readUsers(cmd)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return u.Find(name) >= 0, err
}

// checkName refuses names that a line of an htpasswd file cannot hold.
func checkName(name string) error {
	if name == "" || strings.ContainsAny(name, ":\r\n") {
		return fmt.Errorf("user %q: a name is not empty and holds no colon and no line break", name)
	}
	return nil
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
	if err := checkName(name); err != nil {
		return nil, false, err
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
