package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// coreTags leave out all extras, as `make core` does.
const coreTags = "nohosts noopenstack nosignals nooperate"

const ours = "github.com/ferrite-metal/ferrite/"

// ofExtras are packages that extras alone link, by the tag of each.
var ofExtras = map[string][]string{
	"nohosts":     {ours + "conductor/extras/hosts/", ours + "cmd/ferrite/cli/host"},
	"noopenstack": {ours + "conductor/extras/openstack/", "github.com/gophercloud/", "github.com/go-sql-driver/mysql"},
	"nosignals":   {ours + "conductor/extras/signals/", "go.opentelemetry.io/"},
	"nooperate":   {ours + "conductor/extras/operate/", ours + "cmd/ferrite/setup"},
}

// TestCore: the program without extras links none of their packages. The full one links them all, and a tag leaves out
// its own extra alone.
func TestCore(t *testing.T) {
	readSources(t)
	for _, tags := range append(strings.Fields(coreTags), coreTags, "") {
		linked := goCommand(t, "list", "-deps", "-tags", tags, ".")
		for tag, packages := range ofExtras {
			for _, p := range packages {
				if has, want := strings.Contains(linked, "\n"+p), !strings.Contains(tags, tag); has != want {
					t.Errorf("ferrite with tags %q links %s: %t, expected %t", tags, p, has, want)
				}
			}
		}
		if tags == coreTags && strings.Contains(linked, "/conductor/extras/") {
			t.Errorf("the core links extras:\n%s", linked)
		}
	}
}

// TestTags: program and tests compile without each extra.
func TestTags(t *testing.T) {
	readSources(t)
	for _, tags := range append(strings.Fields(coreTags), coreTags) {
		goCommand(t, "vet", "-tags", tags, ".", "./serve", "./cli")
	}
}

// readSources opens all files of Go here, since the cache of go test does not see those that the go command reads.
func readSources(t *testing.T) {
	t.Helper()
	for _, top := range []string{"agent", "cmd", "conductor", "images", "proto", "pxe"} {
		if err := filepath.WalkDir(filepath.Join("../..", top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			_, err = os.ReadFile(path)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return "\n" + string(out)
}
