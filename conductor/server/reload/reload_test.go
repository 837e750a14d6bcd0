package reload_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/server/reload"
)

// words is two files that hold a word each; "bad" is wrong.
type words struct {
	t    *testing.T
	dir  string
	log  bytes.Buffer
	made int
	*reload.Files[string]
}

func open(t *testing.T) *words {
	t.Helper()
	w := &words{t: t, dir: t.TempDir()}
	w.write("a", "one")
	w.write("b", "two")
	var err error
	w.Files, err = reload.Open(slog.New(slog.NewTextHandler(&w.log, nil)), w.parse, filepath.Join(w.dir, "a"),
		filepath.Join(w.dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *words) parse(contents [][]byte) (string, error) {
	w.made++
	both := string(contents[0]) + " " + string(contents[1])
	if strings.Contains(both, "bad") {
		return "", errors.New("no such word")
	}
	return both, nil
}

func (w *words) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *words) want(text string) {
	w.t.Helper()
	for range 3 { // looking again changes nothing
		if got := w.Get(); got != text {
			w.t.Fatalf("%q, want %q", got, text)
		}
	}
}

func TestReload(t *testing.T) {
	w := open(t)
	w.want("one two")
	w.write("a", "new") // of the same length, written within one tick of a coarse clock
	w.want("new two")
	w.write("b", "longer")
	w.want("new longer")
	if w.made != 3 {
		t.Errorf("the files were made sense of %d times, want 3: once for each change", w.made)
	}

	w.write("a", "bad")
	w.want("new longer")
	if n := strings.Count(w.log.String(), "no such word"); n != 1 {
		t.Errorf("a wrong file is logged %d times, want once:\n%s", n, &w.log)
	}
	if err := os.Remove(filepath.Join(w.dir, "a")); err != nil {
		t.Fatal(err)
	}
	w.want("new longer")
	if n := strings.Count(w.log.String(), "no such file"); n != 1 {
		t.Errorf("a missing file is logged %d times, want once:\n%s", n, &w.log)
	}
	w.write("a", "back")
	w.want("back longer")

	w.write("c", "moved") // as editors and rotations replace a file
	if err := os.Rename(filepath.Join(w.dir, "c"), filepath.Join(w.dir, "b")); err != nil {
		t.Fatal(err)
	}
	w.want("back moved")
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	if _, err := reload.Open(log, func([][]byte) (int, error) { return 0, nil }, filepath.Join(dir, "none")); err == nil ||
		!strings.Contains(err.Error(), "none") {
		t.Errorf("a missing file: %v", err)
	}
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := reload.Open(log, func([][]byte) (int, error) { return 0, errors.New("empty") }, file); err == nil ||
		!strings.Contains(err.Error(), file+": empty") {
		t.Errorf("a wrong file: %v", err)
	}
}

// TestFilesOfOthers: a file that other users can write to is refused when it is opened, and changes of it are not taken
// over; right modes are taken.
func TestFilesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	text := func(contents [][]byte) (string, error) { return string(contents[0]), nil }
	write := func(content string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	log := slog.New(slog.DiscardHandler)
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o440: true, 0o666: false, 0o620: false,
		0o602: false} {
		write("a", mode)
		_, opened := reload.Open(log, text, path)
		_, read := reload.Read(path)
		for _, err := range []error{opened, read} {
			if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "chmod go-w "+path) {
				t.Errorf("mode %#o: %v", mode, err)
			}
		}
	}
	write("a", 0o600)
	f, err := reload.Open(log, text, path)
	if err != nil {
		t.Fatal(err)
	}
	write("an admin of another user's", 0o666)
	if got := f.Get(); got != "a" {
		t.Errorf("a file that all can write is taken over: %q", got)
	}
	write("b again", 0o600)
	if got := f.Get(); got != "b again" {
		t.Errorf("made right, it is not taken over: %q", got)
	}
}
