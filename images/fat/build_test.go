package fat

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// tree is a root of a few files, some in directories of some depth.
func tree() *File {
	long := &File{Name: "0000", Content: bytes.Repeat([]byte("0123456789"), 10000)}
	content := &File{Name: "content", Children: []*File{long}}
	latest := &File{Name: "latest", Children: []*File{
		{Name: "meta_data.json", Content: []byte("{}")}, {Name: "a name with ümläute and blanks", Content: []byte("x")},
	}}
	return &File{Children: []*File{
		{Name: "13-characters", Content: []byte("x")}, {Name: "empty"},
		{Name: "openstack", Children: []*File{content, latest}},
	}}
}

// TestBuildBytes: a machine that is deployed again gets the same config drive, so the bytes equal those from every
// earlier release.
func TestBuildBytes(t *testing.T) {
	large := &File{Children: []*File{{Name: "content", Content: bytes.Repeat([]byte("sixteen bytes ok"), 18*mib/16)}}}
	for _, tc := range []struct {
		name   string
		root   *File
		sector int
		bits   int
		want   string
	}{
		{"FAT12", tree(), 512, 12, "88e6ac698cf557d07193824e90f6553771532ef8e5d4ca203d2898a4a4df6f9d"},
		{"FAT12 on 4Kn", tree(), 4096, 12, "18a802ee5c7895788d04828532e2ac5825385644af1a2e69aa20b8ce1700d9a7"},
		{"FAT16", large, 512, 16, "356ebaa9b5ff7b56f2c6891798afb4bb6c4fa767f2445073425d9c87d38c82d6"},
		{"FAT16 on 4Kn", large, 4096, 16, "8d7b7a77a842e42f149cedd1de845c82a5d5bd94ee89bae95bee4b81d9296a2a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, err := Build("config-2", tc.root, tc.sector, 64*mib)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != tc.want {
				t.Errorf("SHA-256 is %s, want %s", got, tc.want)
			}
			r, err := Open(bytes.NewReader(b))
			if err != nil || r.bits != tc.bits {
				t.Fatalf("read as %+v, %v", r, err)
			}
			files, err := r.Files(64 * mib)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range directories(tc.root) {
				for _, f := range d.file.Children {
					found := false
					for name, content := range files {
						found = found || strings.HasSuffix("/"+name, "/"+f.Name) && bytes.Equal(content, f.Content)
					}
					if f.Children == nil && !found {
						t.Errorf("%s is not read back", f.Name)
					}
				}
			}
		})
	}
}

func TestBuildRefusals(t *testing.T) {
	crowded := &File{}
	for i := range 300 {
		crowded.Children = append(crowded.Children, &File{Name: fmt.Sprint(i)})
	}
	for _, tc := range []struct {
		label  string
		root   *File
		sector int
		want   string
	}{
		{"a long label", tree(), 512, `label "a long label": expected 1 to 11 characters`},
		{"x", tree(), 2000, "sectors of 2000 bytes"},
		{"x", crowded, 512, "too many files in the root"},
	} {
		if _, err := Build(tc.label, tc.root, tc.sector, 64*mib); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
	_, err := Build("x", tree(), 512, mib)
	if large, ok := errors.AsType[TooLargeError](err); !ok || large.Size < 4096 {
		t.Errorf("too large: %v", err)
	}
}
