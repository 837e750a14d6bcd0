package reload_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/reload"
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
