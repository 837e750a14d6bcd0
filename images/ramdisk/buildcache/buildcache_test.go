package buildcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOnceFillsOnce(t *testing.T) {
	root := t.TempDir()
	var fills atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			dir, err := Once(t.Context(), root, "k", func(_ context.Context, dir string) error {
				fills.Add(1)
				time.Sleep(20 * time.Millisecond)
				return os.WriteFile(filepath.Join(dir, "f"), []byte("whole"), 0o644)
			})
			if err != nil {
				t.Error(err)
				return
			}
			got, err := os.ReadFile(filepath.Join(dir, "f"))
			if err != nil || string(got) != "whole" {
				t.Errorf("content %q, error %v", got, err)
			}
		})
	}
	wg.Wait()
	if n := fills.Load(); n != 1 {
		t.Errorf("filled %d times, want once", n)
	}
}

func TestOnceKeepsNothingOfAFailure(t *testing.T) {
	root := t.TempDir()
	boom := errors.New("boom")
	write := func(dir string) error { return os.WriteFile(filepath.Join(dir, "f"), nil, 0o644) }
	_, err := Once(t.Context(), root, "k", func(_ context.Context, dir string) error {
		return errors.Join(write(dir), boom)
	})
	if !errors.Is(err, boom) {
		t.Fatalf("error %v, want boom", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Once(ctx, root, "k", func(_ context.Context, dir string) error {
		cancel()
		return write(dir)
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want cancelled", err)
	}
	// A builder killed half-way leaves its folder; the next one starts from nothing.
	if err := os.MkdirAll(filepath.Join(root, "k.partial", "old"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := Once(t.Context(), root, "k", func(_ context.Context, dir string) error { return write(dir) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"f"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"k", "k.lock"}, names(t, root)); diff != "" {
		t.Error(diff)
	}
}

func TestOnceStopsWaitingWithItsContext(t *testing.T) {
	root := t.TempDir()
	unlock, err := lock(t.Context(), filepath.Join(root, "k.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = Once(ctx, root, "k", func(context.Context, string) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want deadline exceeded", err)
	}
}

func TestToolErrorsSayWhatToDo(t *testing.T) {
	tests := []struct {
		name string
		tool Tool
		want string
	}{
		{"missing", Tool{Name: "ferrite-no-such-tool", Package: "some-package"}, "apt-get install some-package"},
		{"fails", Tool{Name: "sh", Args: []string{"-c", "echo first >&2; echo why >&2; exit 3"}},
			"exit status 3: first; why"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.tool.Run(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestToolRuns(t *testing.T) {
	dir := t.TempDir()
	out, err := Tool{Name: "sh", Args: []string{"-c", `cat; echo "$X $PWD"`}, Dir: dir, Env: []string{"X=y"},
		Stdin: "in "}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("in y %s\n", dir); out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// TestToolShowsProgress: each line is seen before the tool ends, and the output is whole.
func TestToolShowsProgress(t *testing.T) {
	signal := filepath.Join(t.TempDir(), "go-on")
	var seen []string
	ctx := WithProgress(t.Context(), func(line string) {
		seen = append(seen, line)
		if line == "one" {
			if err := os.WriteFile(signal, nil, 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	out, err := Tool{Name: "sh", Args: []string{"-c",
		`echo one; until [ -e "$0" ]; do sleep 0.01; done; echo two; echo noise >&2`, signal}}.Run(ctx)
	if want := "one two"; err != nil || out != "one\ntwo\n" || strings.Join(seen, " ") != want {
		t.Errorf("seen %q, output %q, error %v, want %q", seen, out, err, want)
	}
}

func TestWriteFileIsAllOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	sum, size, err := WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "abc"); return err })
	if err != nil {
		t.Fatal(err)
	}
	again, err := HashFile(path)
	if err != nil || sum != again || size != 3 {
		t.Errorf("sum %s, hashed %s, size %d, error %v", sum, again, size, err)
	}
	boom := errors.New("boom")
	if _, _, err := WriteFile(path, func(w io.Writer) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("error %v, want boom", err)
	}
	if diff := cmp.Diff([]string{"f"}, names(t, filepath.Dir(path))); diff != "" {
		t.Error(diff)
	}
}

func TestCacheDirHonoursTheVariable(t *testing.T) {
	want := t.TempDir()
	t.Setenv("FERRITE_CACHE", want)
	if got, err := CacheDir(); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestHashSources(t *testing.T) {
	hash := func(files fstest.MapFS) string {
		t.Helper()
		sum, err := HashSources(files)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	base := hash(fstest.MapFS{"a.go": file("1"), "b.go": file("2")})
	if got := hash(fstest.MapFS{"a.go": file("1"), "b.go": file("2"), "a_test.go": file("3")}); got != base {
		t.Error("a test changes the sum")
	}
	if got := hash(fstest.MapFS{"a.go": file("1"), "b.go": file("x")}); got == base {
		t.Error("a changed file does not change the sum")
	}
}
