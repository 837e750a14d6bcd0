package sys

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// image is a folder beside a file that nothing within may reach.
func image(t *testing.T) (tree *Tree, root, outside string) {
	t.Helper()
	dir := t.TempDir()
	root, outside = filepath.Join(dir, "root"), filepath.Join(dir, "outside")
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, []byte("host"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := OpenTree(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree, root, outside
}

func TestTreeCannotBeLeft(t *testing.T) {
	tree, root, outside := image(t)
	for name, target := range map[string]string{
		"up": "../outside", "far": "../../../../../../.." + outside, "absolute": outside,
		"magic": "/proc/self/root" + outside, "folder": filepath.Dir(outside),
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"up", "far", "absolute", "magic", "../outside", "folder/outside", "/etc/../../outside"} {
		if f, err := tree.Create(name); err == nil {
			f.WriteString("escaped")
			f.Close()
		}
		tree.MkdirAll(name+"/below", 0)
		tree.Remove("folder/outside")
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "host" {
		t.Errorf("what lies outside was reached: %q, %v", b, err)
	}
}

func TestTreeFollowsLinksWithin(t *testing.T) {
	tree, root, _ := image(t)
	if err := os.Symlink("/etc/real", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	f, err := tree.Create("/link")
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("here")
	f.Close()
	if b, err := os.ReadFile(filepath.Join(root, "etc/real")); err != nil || string(b) != "here" {
		t.Errorf("%q, %v", b, err)
	}
	g, err := tree.Open("link")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if b, err := io.ReadAll(g); err != nil || string(b) != "here" {
		t.Errorf("%q, %v", b, err)
	}
	if err := tree.Remove("link"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "etc/real")); err != nil {
		t.Errorf("removing a link removed what it points to: %v", err)
	}
	if err := tree.Remove("nowhere/at/all"); err != nil {
		t.Error(err)
	}
	if err := tree.Sync(); err != nil {
		t.Error(err)
	}
}

func TestTreeModes(t *testing.T) {
	tree, root, _ := image(t)
	if err := tree.MkdirAll("/srv/a/b", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := tree.MkdirAll("/etc", 0o700); err != nil { // was there
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"srv": 0o755, "srv/a": 0o755, "srv/a/b": 0o700, "etc": 0o755} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestTreeRefusesWhatIsNoFile(t *testing.T) {
	tree, root, _ := image(t)
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "etc", "/"} {
		if _, err := tree.Create(name); err == nil {
			t.Errorf("%s was written to", name)
		}
		if _, err := tree.Open(name); err == nil {
			t.Errorf("%s was opened as a file", name)
		}
	}
}

// TestTreeListsNoEndlessFolder: names are read up to a bound, by either way to a folder.
func TestTreeListsNoEndlessFolder(t *testing.T) {
	tree, root, _ := image(t)
	for _, ways := range []int{0, maxEntries, 1} { // more files each time
		for n := range ways {
			name := filepath.Join(root, "etc", fmt.Sprint(ways, "-", n))
			if err := os.Link(filepath.Join(root, "../outside"), name); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := tree.ReadDir("etc")
		other, fsErr := fs.ReadDir(tree.FS(), "etc")
		if want := ways != 1; (err == nil) != want || (fsErr == nil) != want ||
			want && (len(entries) != ways || len(other) != ways) {
			t.Errorf("%d more: %d files, %v; %d, %v", ways, len(entries), err, len(other), fsErr)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(root, "etc")); err != nil || len(entries) != maxEntries+1 {
		t.Error(len(entries), err)
	}
}
