package osimage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	agentdisk "github.com/ferrite-metal/ferrite/agent/disk"
)

func TestCached(t *testing.T) {
	cache, builds := t.TempDir(), 0
	build := func(_ context.Context, dir string) (Image, error) {
		builds++
		path := filepath.Join(dir, "x.raw")
		img := Image{ID: "x", Raw: path, VirtualSize: 3}
		return img, errors.Join(os.WriteFile(path, []byte("abc"), 0o600), img.hash())
	}
	get := func(inputs ...string) Image {
		t.Helper()
		img, err := cached(t.Context(), cache, "kind", tinySources, inputs, build)
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	first := get("a")
	if text, err := os.ReadFile(first.Raw); err != nil || string(text) != "abc" {
		t.Errorf("image's file: %q, %v", text, err)
	}
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	want := Image{ID: "x", Raw: first.Raw, VirtualSize: 3, SHA256: map[string]string{first.Raw: sum}}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, get("a")); diff != "" || builds != 1 {
		t.Errorf("second time: %d builds %s", builds, diff)
	}
	if other := get("b"); other.Raw == first.Raw || builds != 2 {
		t.Errorf("other inputs gave the same image, %d builds", builds)
	}
}

// TestRecipesNameEveryFile: a file in none of the lists could change an image without
// changing its name in the cache.
func TestRecipesNameEveryFile(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	var got []string
	for _, list := range []interface {
		ReadDir(string) ([]os.DirEntry, error)
	}{tinySources, debianSources, grubSources} {
		entries, err := list.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			got = append(got, e.Name())
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Error(diff)
	}
}

func TestTinyRefusesIDs(t *testing.T) {
	for _, id := range []string{"", "-a", "a b", "a/b", "ü", "a\nb"} {
		if _, err := Tiny(t.Context(), t.TempDir(), id, nil); err == nil || !strings.Contains(err.Error(), "image id") {
			t.Errorf("%q: error %v", id, err)
		}
	}
}

func TestLayPlacesPartitionsSparsely(t *testing.T) {
	dir := t.TempDir()
	first, second, out := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "disk")
	content := append(make([]byte, mebibyte), bytes.Repeat([]byte("x"), mebibyte)...)
	if err := errors.Join(os.WriteFile(first, content, 0o600), os.WriteFile(second, []byte("second"), 0o600)); err != nil {
		t.Fatal(err)
	}
	d := disk{id: "d", mbrCode: []byte("code"), partitions: []partition{{content: first}, {content: second}}}
	if err := d.lay(out, 8*mebibyte); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 8*mebibyte)
	copy(want, "code")
	copy(want[mebibyte:], content)
	copy(want[3*mebibyte:], "second")
	if !bytes.Equal(got, want) {
		t.Error("content is not where it belongs")
	}
	d.mbrCode = make([]byte, mbrCodeSize+1)
	if err := d.lay(out, 8*mebibyte); err == nil || !strings.Contains(err.Error(), "boot code") {
		t.Errorf("boot code over the partition table: error %v", err)
	}
}

// TestLargeSectors reads the table of an image for disks of 4096-byte sectors, twice
// made, as such a disk.
func TestLargeSectors(t *testing.T) {
	dir := t.TempDir()
	content, out := filepath.Join(dir, "esp"), filepath.Join(dir, "disk")
	if err := os.WriteFile(content, bytes.Repeat([]byte("x"), 2*mebibyte), 0o600); err != nil {
		t.Fatal(err)
	}
	d := disk{id: "d", sector: largeSector, partitions: []partition{{content: content, kind: "uefi"}}}
	var made [2][]byte
	for i := range made {
		size, err := d.write(t.Context(), out)
		if err != nil || size != 4*mebibyte {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if made[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("the image is not the same the second time")
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := agentdisk.ReadGPT(largeFile{f, 4 * mebibyte})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range table.Partitions() {
		got = append(got, fmt.Sprintf("%s %d %d", p.Type, p.First, p.Last))
	}
	if diff := cmp.Diff([]string{espType + " 256 767"}, got); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(made[0][mebibyte:3*mebibyte], bytes.Repeat([]byte("x"), 2*mebibyte)) {
		t.Error("the partition's content is not where it belongs")
	}
}

// TestLargeSampleIsOfTheTable wants the sample to be the same every time, and to be more
// than the empty partition that is in it.
func TestLargeSampleIsOfTheTable(t *testing.T) {
	var sums [2]string
	for i := range sums {
		var err error
		if sums[i], err = largeSample(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("two samples: %v", sums)
	}
	if nothing := sha256.Sum256(make([]byte, 3*mebibyte)); sums[0] == hex.EncodeToString(nothing[:]) {
		t.Error("the sample has no partition table")
	}
}

func TestFoldersOf(t *testing.T) {
	got := foldersOf([]espFile{{name: "EFI/BOOT/BOOTX64.EFI"}, {name: "vmlinuz"}, {name: "EFI/x/y"}})
	if diff := cmp.Diff([]string{"::/EFI", "::/EFI/BOOT", "::/EFI/x"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestGUIDsAreStable(t *testing.T) {
	a, same, other := disk{id: "a"}, disk{id: "a"}, disk{id: "b"}
	if a.guid("disk") != same.guid("disk") || a.guid("disk") == other.guid("disk") || a.guid("disk") == a.guid("0") {
		t.Error("GUIDs must depend on image and part, and on nothing else")
	}
}
