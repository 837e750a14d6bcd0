package imagestore

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

func zstded(b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(b, nil)
}

// qcow is the header of a qcow2.
func qcow(size uint64, change func([]byte)) []byte {
	b := disktest.Place(1<<16, 0, "QFI\xfb")
	binary.BigEndian.PutUint32(b[4:], 3)
	binary.BigEndian.PutUint64(b[24:], size)
	if change != nil {
		change(b)
	}
	return b
}

func TestKind(t *testing.T) {
	place := disktest.Place
	cpio := place(4096, 0, "070701")
	for name, c := range map[string]struct {
		file []byte
		want Kind
		text string // of the error
	}{
		"raw":                 {sample(1000, 1), Kind{"raw", "", 1000}, ""},
		"one byte":            {[]byte{1}, Kind{"raw", "", 1}, ""},
		"qcow2":               {qcow(10<<30, nil), Kind{"qcow2", "", 10 << 30}, ""},
		"raw in gzip":         {gzipped(sample(1000, 1)), Kind{"raw", "gzip", 0}, ""},
		"raw in zstd":         {zstded(sample(1000, 1)), Kind{"raw", "zstd", 0}, ""},
		"ramdisk":             {cpio, Kind{"ramdisk", "", 0}, ""},
		"ramdisk in gzip":     {gzipped(cpio), Kind{"ramdisk", "gzip", 0}, ""},
		"ramdisk in zstd":     {zstded(cpio), Kind{"ramdisk", "zstd", 0}, ""},
		"kernel":              {place(4096, 0x202, "HdrS"), Kind{"kernel", "", 0}, ""},
		"kernel of arm64":     {place(4096, 0x38, "ARMd"), Kind{"kernel", "", 0}, ""},
		"iso":                 {place(40<<10, 32769, "CD001"), Kind{"iso", "", 0}, ""},
		"broken gzip":         {[]byte{0x1f, 0x8b, 8, 0xff}, Kind{"raw", "gzip", 0}, ""},
		"vmdk":                {place(4096, 0, "KDMV"), Kind{}, "vmdk"},
		"web page":            {[]byte("<!DOCTYPE html>"), Kind{}, "it is an HTML page; "},
		"tar in gzip":         {gzipped(place(10240, 257, "ustar")), Kind{}, "inside gzip it is a tar archive; unpack it"},
		"tar in zstd":         {zstded(place(10240, 257, "ustar")), Kind{}, "inside zstd it is a tar archive"},
		"iso in gzip":         {gzipped(place(40<<10, 32769, "CD001")), Kind{}, "inside gzip it is an ISO 9660 image; "},
		"kernel in gzip":      {gzipped(place(4096, 0x38, "ARMd")), Kind{}, "inside gzip it is a Linux kernel; unpack it"},
		"qcow2 in gzip":       {gzipped(qcow(10<<30, nil)), Kind{}, "inside gzip it is qcow2; unpack it"},
		"short qcow2":         {[]byte("QFI\xfb"), Kind{}, "cut short"},
		"qcow2 of nothing":    {qcow(0, nil), Kind{}, "0 bytes"},
		"huge qcow2":          {qcow(1<<63, nil), Kind{}, "a disk of 9223372036854775808 bytes"},
		"qcow2 with backing":  {qcow(1<<30, func(b []byte) { b[15] = 104 }), Kind{}, "backing file"},
		"qcow2 with its data": {qcow(1<<30, func(b []byte) { b[79] = 4 }), Kind{}, "another file"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := KindOf(c.file, int64(len(c.file)))
			if got != c.want || (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("found %+v, %v; expected %+v, %q", got, err, c.want, c.text)
			}
		})
	}
}

// FuzzKind: no bytes make a look at them panic, or take long.
func FuzzKind(f *testing.F) {
	place := disktest.Place
	for _, b := range [][]byte{qcow(1<<30, nil)[:128], gzipped(place(600, 0, "070701")), zstded(place(600, 0, "070701")),
		[]byte("\xfd7zXZ\x00\x00\x04")} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := KindOf(b, int64(len(b)))
		if err == nil && got.Format == "" {
			t.Errorf("no format: %+v", got)
		}
	})
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "7": 7, "500M": 500 << 20, "20GiB": 20 << 30, "1t": 1 << 40,
		"3kb": 3 << 10,
		"":    -1, "-1": -1, "G": -1, "1.5G": -1, "10 apples": -1, "99999999T": -1, "1E": -1} {
		got, err := ParseSize(text)
		if want < 0 {
			if err == nil {
				t.Errorf("%q is %d", text, got)
			}
		} else if err != nil || got != want {
			t.Errorf("%q is %d, %v; expected %d", text, got, err, want)
		}
	}
}
