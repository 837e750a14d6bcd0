package disk

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/images/fat"
)

// TestVFATDriveOnLargerSectors: a VFAT made for sectors of 512 bytes, by
// mkfs, is rebuilt with all that is on it.
func TestVFATDriveOnLargerSectors(t *testing.T) {
	made := newDisk(t, 8<<20, 512)
	onFile(t, made, func(path string) {
		run(t, "", "mkfs.vfat", "-n", "CONFIG-2", path)
		run(t, "", "mmd", "-i", path, "::/openstack", "::/openstack/latest", "::/ec2")
		run(t, "{}", "mcopy", "-i", path, "-", "::/openstack/latest/meta_data.json")
		run(t, "#cloud-config", "mcopy", "-i", path, "-", "::/openstack/latest/user_data")
		run(t, "", "mcopy", "-i", path, "-", "::/empty")
	})
	d := twoParts(t, 100<<20, 4096)
	p, err := WriteConfigDrive(d, made.b, fixed())
	if err != nil {
		t.Fatal(err)
	}
	got, err := fat.Open(bytes.NewReader(d.b[p.Start:][:p.Size]))
	if err != nil {
		t.Fatal(err)
	}
	files, err := got.Files(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"openstack/latest/meta_data.json": []byte("{}"),
		"openstack/latest/user_data": []byte("#cloud-config"), "empty": nil}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	if label, err := volumeLabel(section{d, p.Start, p.Size}); err != nil || label != "config-2" {
		t.Errorf("label %q, %v", label, err)
	}
	same, err := driveFor(made.b, 512)
	if err != nil || !bytes.Equal(same, made.b) {
		t.Errorf("on its own sectors it is another: %v", err)
	}
	again, err := driveFor(d.b[p.Start:][:p.Size], 4096)
	if err != nil || !bytes.Equal(again, d.b[p.Start:][:p.Size]) {
		t.Errorf("rebuilt once, it is rebuilt again: %v", err)
	}
}
