package localfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/outbound/localfile"
)

// site makes a folder that is open, one beside it that is not, and links that try to lead from one into the other.
func site(t *testing.T) (dir string, f localfile.Folders) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"open/sub/a b.raw", "open-not/ferrite.db"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"open/out": dir + "/open-not/ferrite.db", "open/in": dir + "/open/sub/a b.raw",
		"open/away": "../open-not", "open/null": "/dev/null", "linked": dir + "/open"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "open/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, localfile.Folders{dir + "/missing", dir + "/linked"}
}

func TestOpen(t *testing.T) {
	dir, open := site(t)
	in := dir + "/open/sub/a b.raw"
	tests := []struct {
		named string
		want  string // the file found, "" for none
		err   error  // wrapped, or
		text  string // in the error
	}{
		{in, in, nil, ""},
		{"file://" + dir + "/open/sub/a%20b.raw", in, nil, ""},
		{"file://" + dir + "/open/sub/../in", in, nil, ""},
		{dir + "/linked/in", in, nil, ""},
		{dir + "/open/none", "", fs.ErrNotExist, ""},
		{dir + "/linked/none", "", fs.ErrNotExist, ""},
		{dir + "/open-not/ferrite.db", "", localfile.ErrNotOpen, ""},
		{dir + "/open-not/none", "", localfile.ErrNotOpen, ""}, // the error must not reveal whether it exists
		{dir + "/open/out", "", localfile.ErrNotOpen, ""},
		{dir + "/open/away/ferrite.db", "", localfile.ErrNotOpen, ""},
		{dir + "/open/../open-not/ferrite.db", "", localfile.ErrNotOpen, ""},
		{"file://" + dir + "/open/%2e%2e/open-not/ferrite.db", "", localfile.ErrNotOpen, ""},
		{dir + "/open/null", "", localfile.ErrNotOpen, ""},
		{"/dev/zero", "", localfile.ErrNotOpen, ""},
		{dir + "/open", "", localfile.ErrNotOpen, ""},
		{dir + "/open/sub", "", nil, "not a regular file"},
		{dir + "/open/pipe", "", nil, "not a regular file"},
		{"file://host/etc/passwd", "", nil, "expected file:///path"},
		{"file:relative", "", nil, "not an absolute path"},
		{"sub/a b.raw", "", nil, "not an absolute path"},
		{"", "", nil, "not an absolute path"},
		{"\x00", "", nil, "not an absolute path"},
		{dir + "/open/\x00", "", nil, "invalid"},
	}
	for _, tt := range tests {
		file, info, err := open.Open(tt.named)
		if tt.want == "" {
			if err == nil || tt.err != nil && !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%q: error %v, expected %v %s", tt.named, err, tt.err, tt.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.named, err)
			continue
		}
		content, err := io.ReadAll(file)
		if found, ferr := open.Find(tt.named); err != nil || ferr != nil || string(content) != "open/sub/a b.raw" ||
			found != tt.want || info.Size() != int64(len(content)) {
			t.Errorf("%q: %s with %q, %v, %v", tt.named, found, content, err, ferr)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		if _, err := localfile.Folders(nil).Find(tt.named); !errors.Is(err, localfile.ErrNotOpen) {
			t.Errorf("%q with no folder open: %v", tt.named, err)
		}
	}
}
