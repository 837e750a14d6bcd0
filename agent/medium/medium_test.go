package medium

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/images/configdrive"
	"github.com/ferrite-metal/ferrite/images/fat"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

const data = `{"links": []}`

func disc(t testing.TB, label string, files map[string]string) []byte {
	t.Helper()
	content := map[string][]byte{}
	for name, text := range files {
		content[name] = []byte(text)
	}
	b, err := configdrive.Build(label, content)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func floppy(t testing.TB, label string, files ...*fat.File) []byte {
	t.Helper()
	b, err := fat.Build(label, &fat.File{Children: files}, 512, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestNames reads a file by each kind of names that a disc may have.
func TestNames(t *testing.T) {
	image := disc(t, "VMEDIA_BOOT_ISO", map[string]string{networkFile: data, "openstack/latest/meta_data.json": "{}"})
	for name, b := range map[string][]byte{
		"Rock Ridge": image,
		"Joliet": bytes.ReplaceAll(bytes.ReplaceAll(image, []byte("NM"), []byte("XX")), []byte("NETWORK_"),
			[]byte("NONE____")),
		"standard": bytes.ReplaceAll(bytes.ReplaceAll(image, []byte("NM"), []byte("XX")), []byte("%/"), []byte("..")),
	} {
		t.Run(name, func(t *testing.T) {
			i, err := OpenISO(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			got, err := i.ReadFile(networkFile, 100)
			if err != nil || string(got) != data || i.Label != bootLabel {
				t.Errorf("%q of %q, %v", got, i.Label, err)
			}
			if _, err := i.ReadFile(networkFile, 3); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("more than the limit was read, or: %v", err)
			}
			if _, err := i.ReadFile("openstack/none", 100); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		})
	}
	if _, err := OpenISO(bytes.NewReader(image[:40000])); err == nil {
		i, _ := OpenISO(bytes.NewReader(image[:40000]))
		if _, err := i.ReadFile(networkFile, 100); err == nil {
			t.Error("a disc that was cut was read")
		}
	}
}

// drive is a device in memory.
type drive struct{ *bytes.Reader }

func (drive) Close() error { return nil }

// find looks in a machine with drives that appear after a while.
func find(t *testing.T, sysfs fstest.MapFS, drives map[string][]byte, after time.Duration,
) (Contents, time.Duration, error) {
	t.Helper()
	began := time.Now()
	f := Finder{Root: sysfs, Open: func(name string) (Device, error) {
		if b, ok := drives[name]; ok && time.Since(began) >= after {
			return drive{bytes.NewReader(b)}, nil
		}
		return nil, errors.New("no medium found")
	}}
	c, err := f.Find(context.Background())
	return c, time.Since(began), err
}

// sysfs has a CD drive, a floppy at USB, a disk with a partition, and a large disk at USB.
func sysfs() fstest.MapFS {
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s + "\n")} }
	return fstest.MapFS{
		"sys/class/block/sr0/device/type":            text("5"),
		"sys/class/block/sr0/size":                   text("2097151"),
		"sys/class/block/sdb":                        link("../../devices/pci0000:00/usb1/block/sdb"),
		"sys/devices/pci0000:00/usb1/block/sdb/size": text("2880"),
		"sys/class/block/sdc":                        link("../../devices/pci0000:00/usb1/block/sdc"),
		"sys/devices/pci0000:00/usb1/block/sdc/size": text("99999999"),
		"sys/class/block/sda/device/type":            text("0"),
		"sys/class/block/sda/size":                   text("131072"),
		"sys/class/block/sda1/partition":             text("1"),
		"sys/class/block/sda1/size":                  text("131072"),
	}
}

func TestFind(t *testing.T) {
	boot := disc(t, "VMEDIA_BOOT_ISO", map[string]string{networkFile: data})
	workload := disc(t, "config-2", map[string]string{networkFile: `{"of": "a workload"}`})
	bare := disc(t, "VMEDIA_BOOT_ISO", map[string]string{"boot/other": "x"})
	huge := disc(t, "config-2", map[string]string{networkFile: strings.Repeat("x", netconfig.MaxNetworkData+1)})
	parameters := floppy(t, "ir-vfd-dev", &fat.File{Name: "parameters.txt",
		Content: []byte("ipa-debug=1\nipa-api-url=http://c\n")})
	for name, tc := range map[string]struct {
		drives map[string][]byte
		after  time.Duration
		want   Contents
		took   time.Duration
		err    string
	}{
		"both": {map[string][]byte{"sr0": boot, "sdb": parameters}, 0, Contents{Labels: []string{"ir-vfd-dev", bootLabel},
			NetworkData: []byte(data), From: bootLabel, Parameters: "ipa-debug=1 ipa-api-url=http://c"}, 0, ""},
		"late": {map[string][]byte{"sr0": boot, "sdb": parameters}, 7 * time.Second,
			Contents{Labels: []string{"ir-vfd-dev", bootLabel}, NetworkData: []byte(data), From: bootLabel,
				Parameters: "ipa-debug=1 ipa-api-url=http://c"}, 7 * time.Second, ""},
		"the boot medium counts": {map[string][]byte{"sr0": boot, "sdb": workload}, 0,
			Contents{Labels: []string{"config-2", bootLabel}, NetworkData: []byte(data), From: bootLabel}, grace, ""},
		"no network data": {map[string][]byte{"sr0": bare}, 0, Contents{Labels: []string{bootLabel}}, grace, ""},
		"workloads' drives are left alone": {map[string][]byte{"sda": workload, "sda1": workload, "sdc": workload}, 0,
			Contents{}, patience, "no medium labelled VMEDIA_BOOT_ISO, config-2 or ir-vfd-dev came within 30s: " +
				"looked at [sdb sr0]"},
		"too large": {map[string][]byte{"sr0": huge}, 0, Contents{Labels: []string{"config-2"}}, grace,
			"at most 262144 bytes"},
		"no file system": {map[string][]byte{"sr0": make([]byte, 1<<20)}, 0, Contents{}, patience, "no medium"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, took, err := find(t, sysfs(), tc.drives, tc.after)
				if !slices.Equal(got.Labels, tc.want.Labels) || string(got.NetworkData) != string(tc.want.NetworkData) ||
					got.From != tc.want.From || got.Parameters != tc.want.Parameters || took != tc.took {
					t.Errorf("found %+v after %s, want %+v after %s", got, took, tc.want, tc.took)
				}
				if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want %q", err, tc.err)
				}
			})
		})
	}
}

func FuzzVolume(f *testing.F) {
	f.Add(disc(f, "config-2", map[string]string{networkFile: data}))
	f.Add(floppy(f, "ir-vfd-dev", &fat.File{Name: "parameters.txt", Content: []byte("a=b")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := openVolume(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, name := range []string{networkFile, parametersFile} {
			if got, err := v.read(name, 100); err == nil && len(got) > 100 {
				t.Errorf("%s: %d bytes, more than the limit", name, len(got))
			}
		}
	})
}
