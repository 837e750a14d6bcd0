package disk

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/images/configdrive"
	"github.com/ferrite-metal/ferrite/images/fat"
)

// drive is a config drive with some content.
func drive(t testing.TB, content string) []byte {
	t.Helper()
	b, err := configdrive.Data{UserData: []byte(content)}.ISO()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWriteConfigDrive(t *testing.T) {
	stale := bytes.Repeat([]byte{0xda}, mib)
	onLarger := func(sector int) *memDisk { // an image of 16 MiB on a disk of 100 MiB of stale data
		d := newDisk(t, 100<<20, sector)
		for i := 0; i < len(d.b); i += mib {
			copy(d.b[i:], stale)
		}
		copy(d.b, twoParts(t, 16<<20, sector).b)
		return d
	}
	tests := []struct {
		name   string
		d      *memDisk
		number int
		start  int64
		size   int64
	}{
		{"gpt", onLarger(512), 3, 35 << 20, 64 << 20},
		{"gpt of 4096", onLarger(4096), 3, 35 << 20, 64 << 20},
		{"gpt with little room", twoParts(t, 16<<20, 512), 3, 14 << 20, 1 << 20},
		{"mbr", sfdisk(t, 100<<20, "start=2048, size=4096, type=83, bootable\n"), 2, 36 << 20, 64 << 20},
		{"label of an image's own", sfdisk(t, 100<<20, "start=2048, size=4096, type=83\nstart=8192, size=4096, type=83\n"),
			2, 4 << 20, 2 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasPrefix(tt.name, "label") {
				copy(tt.d.b[4<<20:], drive(t, "from the image"))
			}
			for _, content := range []string{"first", strings.Repeat("a rebuild's larger one ", 10000), "third"} {
				image := drive(t, content)
				p, err := WriteConfigDrive(tt.d, image, fixed())
				if err != nil {
					t.Fatal(err)
				}
				if p.Number != tt.number || p.Start != tt.start || p.Size != tt.size {
					t.Errorf("partition %+v", p)
				}
				if image, err = configdrive.ForSector(image, tt.d.sector); err != nil {
					t.Fatal(err)
				}
				room := tt.d.b[p.Start:][:p.Size]
				if !bytes.Equal(room[:len(image)], image) || !isZero(room[len(image):]) {
					t.Error("the partition is not the image and zeroes")
				}
			}
			if tt.d.sector != 512 { // read it as its reader will
				f, err := fat.Open(section{tt.d, tt.start, tt.size})
				if err != nil {
					t.Fatal(err)
				}
				if b, err := f.ReadFile("openstack/latest/user_data", 1<<20); err != nil || string(b) != "third" {
					t.Errorf("user data %q, %v", b, err)
				}
				return
			}
			onFile(t, tt.d, func(path string) {
				run(t, "", "sfdisk", "--verify", path)
				if strings.HasPrefix(tt.name, "gpt") {
					if out := run(t, "", "sgdisk", "-v", path); !strings.Contains(out, "No problems found") {
						t.Error(out)
					}
				}
			})
		})
	}
}

// TestConfigDriveGrows: the present partition is too small for the new one.
func TestConfigDriveGrows(t *testing.T) {
	large := drive(t, strings.Repeat("x", 3<<20))
	for name, d := range map[string]*memDisk{
		"gpt": twoParts(t, 16<<20, 512),
		"mbr": sfdisk(t, 16<<20, "start=2048, size=4096, type=83\nstart=28672, size=2048, type=83\n"),
	} {
		t.Run(name, func(t *testing.T) {
			copy(d.b[14<<20:], drive(t, "small"))
			if _, err := WriteConfigDrive(d, drive(t, "small"), fixed()); err != nil {
				t.Fatal(err)
			}
			p, err := WriteConfigDrive(d, large, fixed())
			if err != nil || p.Size != 4<<20 {
				t.Fatalf("%+v %v", p, err)
			}
			tb, err := ReadTable(d)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, q := range tb.Parts() {
				if is, err := isConfigDrive(d, q); err != nil {
					t.Fatal(err)
				} else if is {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%d config drives", n)
			}
		})
	}
}

func TestConfigDriveRefusals(t *testing.T) {
	image := drive(t, "x")
	full := sfdisk(t, 16<<20, "start=2048, size=2048\nstart=4096, size=2048\nstart=6144, size=2048\nstart=8192, "+
		"size=2048\n")
	tests := []struct {
		name  string
		d     Disk
		image []byte
		fail  error
		text  string
	}{
		{"no table", newDisk(t, 16<<20, 512), image, ErrNoTable, "needs a partition of its own"},
		{"no entry", full, image, ErrTable, "all 4 primary"},
		{"no room", twoParts(t, 16<<20, 512), drive(t, strings.Repeat("x", 8<<20)), ErrTable, "no room"},
		{"empty", twoParts(t, 16<<20, 512), nil, nil, "0 bytes"},
		{"too large", twoParts(t, 16<<20, 512), make([]byte, configdrive.MaxSize+1), nil, "67108865 bytes"},
		{"deaf", wronged{twoParts(t, 100<<20, 512)}, image, nil, "does not read back"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := WriteConfigDrive(tt.d, tt.image, fixed())
			if err == nil || tt.fail != nil && !errors.Is(err, tt.fail) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v, expected %v with %q", err, tt.fail, tt.text)
			}
		})
	}
}

// wronged loses writes beyond its first quarter, all but the table at its end.
type wronged struct{ *memDisk }

func (w wronged) WriteAt(p []byte, off int64) (int, error) {
	if off > w.Size()/4 && off < w.Size()-mib {
		return len(p), nil
	}
	return w.memDisk.WriteAt(p, off)
}
