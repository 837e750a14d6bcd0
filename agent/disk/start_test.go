package disk

import (
	"errors"
	"testing"
)

// TestBeginning: the first 64 KiB say the same of a table as the whole disk does, or that
// more is needed.
func TestBeginning(t *testing.T) {
	const size = 16 * mib
	gpt := func(sector int, change func(b []byte)) *memDisk {
		d := twoParts(t, size, sector)
		change(d.b)
		return d
	}
	as := func(b []byte, sector int) *memDisk { return &memDisk{b: b, sector: sector} }
	keep := func([]byte) {}
	for name, tc := range map[string]struct {
		disk  *memDisk
		image int64 // size of the image; 0 unknown
		want  error // nil: a table is found
	}{
		"GPT":                           {gpt(512, keep), 0, nil},
		"GPT on large sectors":          {gpt(4096, keep), 6 * mib, nil},
		"GPT for other sectors":         {as(gpt(512, keep).b, 4096), 6 * mib, ErrTable},
		"damaged GPT, backup unseen":    {gpt(512, func(b []byte) { b[512+40]++ }), size, ErrLater},
		"damaged GPT, no room for more": {gpt(512, func(b []byte) { b[512+40]++ }), 6 * mib, ErrTable},
		"MBR":                           {sfdisk(t, size, "label: dos\nstart=2048, size=2048, type=83\n"), 0, nil},
		"MBR, chain beyond the start": {
			sfdisk(t, size, "label: dos\nstart=2048, size=8192, type=5\nstart=4096, size=2048, type=83\n"), 0, ErrLater,
		},
		"MBR, partition outside": {
			as(sfdisk(t, 2*size, "label: dos\nstart=2048, size=40960, type=83\n").b[:size], 512), 0, ErrTable,
		},
		"nothing":                   {as(make([]byte, size), 512), 6 * mib, ErrNoTable},
		"nothing, size unknown":     {as(make([]byte, size), 512), 0, ErrNoTable},
		"nothing, size of the disk": {as(make([]byte, size), 512), size, ErrNoTable},
		"text":                      {as(append([]byte("hello"), make([]byte, size-5)...), 512), mib, ErrNoTable},
		"protective MBR, no GPT":    {gpt(512, func(b []byte) { clear(b[512:1024]) }), 6 * mib, ErrTable},
		"protective MBR, unknown":   {gpt(512, func(b []byte) { clear(b[512:1024]) }), size, ErrLater},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := ReadTable(Beginning(tc.disk, tc.disk.b[:64<<10], tc.image))
			switch {
			case !errors.Is(err, tc.want) || tc.want == nil && err != nil:
				t.Errorf("error %v, expected %v", err, tc.want)
			case err == nil && len(table.Parts()) == 0:
				t.Error("no partitions")
			}
		})
	}
}
