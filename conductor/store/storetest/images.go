package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func image(n int, name string) node.Image {
	return node.Image{
		Record: record(n), Name: name, Owner: "o", Source: "http://h/os.qcow2", Digest: digest(n), Checksum: "sha512:00",
		Size: 1 << 40, VirtualSize: 1 << 41, Format: node.ImageQCOW2, Compression: "gzip", CreatedBy: "ada", Conductor: "c1",
	}
}

// digest is one of three.
func digest(n int) string { return fmt.Sprintf("sha256:%064d", n%3) }

// testImages walks through the life of images. Several may have the same bytes, and are found by them.
func testImages(t *testing.T, s store.Store) {
	c := s.Catalogs().Images
	testCatalog(t, c, sampler[node.Image]{
		image, func(v *node.Image) { v.Size = 77 }, func(v *node.Image, name string) { v.Name = name },
	}, "An image with name CUSTOM_A already exists.", "Image nobody could not be found.")
	var want []node.Image
	for _, n := range []int{6, 9, 10} {
		saved, err := c.Insert(t.Context(), image(n, fmt.Sprint("os-", n)))
		check(t, err)
		if n%3 == 0 {
			want = append(want, saved)
		}
	}
	for n, owner := range map[int]string{19: "o", 20: "p", 22: ""} {
		v := image(n, "os-6")
		v.Owner = owner
		_, err := c.Insert(t.Context(), v)
		if taken := owner == "o"; errors.Is(err, node.ErrConflict) != taken || err != nil && !taken {
			t.Errorf("a name of project o for %q: %v", owner, err)
		}
	}
	got, err := c.List(t.Context(), "digest", digest(0))
	check(t, err)
	equal(t, want, got)
}
