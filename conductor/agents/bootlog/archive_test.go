package bootlog

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// file is one of an archive.
type file struct{ name, text string }

// pack makes an archive as agents do.
func pack(t testing.TB, files ...file) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.text)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// TestCollect: an agent's archive is read like any other log and is harmless to terminals. It does not replace an
// existing log.
func TestCollect(t *testing.T) {
	k := open(t, t.TempDir(), Limits{})
	if k.Has(aNode, key(1)) {
		t.Error("there is a log before anything came")
	}
	archive := pack(t, file{"journal", "boot\r\n\x1b[2Jwiped\n\nlast"}, file{"ps", ""},
		file{"../../etc/\x07passwd", "x\n"})
	kept, err := k.Collect(aNode, key(1), archive)
	if err != nil || kept != "3 files, 5 lines" || !k.Has(aNode, key(1)) {
		t.Errorf("%q, %v", kept, err)
	}
	want := "==> journal <==\nboot\n\ufffd[2Jwiped\n\nlast\n==> ps <==\n==> ../../etc/\ufffdpasswd <==\nx\n"
	if diff := cmp.Diff(want, text(t, k, nodeapi.LogQuery{})); diff != "" {
		t.Error(diff)
	}
	if kept, err := k.Collect(aNode, key(1), pack(t, file{"journal", "other"})); err != nil ||
		!strings.Contains(kept, "already") {
		t.Errorf("%q, %v", kept, err)
	}
	if diff := cmp.Diff(want, text(t, k, nodeapi.LogQuery{})); diff != "" {
		t.Error(diff)
	}
}

// sparse makes an archive of a file that is a hole, as GNU tar does in its PAX format 1.0. A header that only describes
// is followed by a header with data, which begin with the positions of the file's bytes: there are none. The writer of
// archive/tar makes no such archive.
func sparse(t testing.TB, size int64) string {
	t.Helper()
	var records strings.Builder
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=hole",
		fmt.Sprintf("GNU.sparse.realsize=%d", size)} {
		fmt.Fprintf(&records, "%02d %s\n", len(r)+4, r) // with its own length: always two digits here
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []file{{"described", records.String()}, {"hole", "0\n" + strings.Repeat("\x00", 510)}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.text)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const kind, sum = 156, 148 // places in a header: its type and its checksum
	header := b.Bytes()[:512]
	header[kind] = tar.TypeXHeader
	total := 0
	copy(header[sum:], "        ") // which counts as blanks
	for _, c := range header {
		total += int(c)
	}
	copy(header[sum:], fmt.Sprintf("%06o\x00 ", total))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// noise is a text that packs badly.
func noise() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintln(&b, i*i*7919)
	}
	return b.String()
}

// TestUnpackBounds: the end of a long text is kept, nothing of bytes that are no archive, and the readable part of a
// broken archive.
func TestUnpackBounds(t *testing.T) {
	few := bounds{unpacked: 64 << 10, files: 3, each: 1000, all: 1500, lines: 500}
	whole := pack(t, file{"ps", "1 init\n"}, file{"journal", noise()})
	raw, err := base64.StdEncoding.DecodeString(whole)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 99) + "\n"
	for name, c := range map[string]struct {
		archive string
		files   int
		says    []string // lines
		failure string   // "" for none
	}{
		"no base64": {"%%%", 0, nil, "EOF"},
		"no gzip":   {base64.StdEncoding.EncodeToString([]byte("no gzip at all")), 0, nil, "gzip: invalid header"},
		"nothing":   {"", 0, nil, "EOF"},
		"cut off": {base64.StdEncoding.EncodeToString(raw[:len(raw)/2]), 2, []string{"==> ps <==", "1 init"},
			"unexpected EOF"},
		"a long file": {pack(t, file{"journal", strings.Repeat(line, 20) + "the end\n"}), 1,
			[]string{"(older lines are dropped)", "the end"}, ""},
		"long files": {
			pack(t, file{"a", strings.Repeat(line, 20)}, file{"b", strings.Repeat(line, 20)}, file{"c", "left out\n"}), 3,
			[]string{"==> b <==", "==> c <=="}, "",
		},
		"too many files": {pack(t, file{"a", ""}, file{"b", ""}, file{"c", ""}, file{"d", ""}), 3, []string{"==> c <=="},
			"more than 65536 bytes or 3 files"},
		"too many bytes": {pack(t, file{"first", "seen\n"}, file{"bomb", strings.Repeat("\x00", 64<<10)}), 1,
			[]string{"==> first <==", "seen"}, "more than 65536 bytes or 3 files"},
		"a hole":         {sparse(t, 2000), 1, []string{"==> hole <==", "(older lines are dropped)"}, ""},
		"a hole, no end": {sparse(t, 1<<20), 0, nil, "more than 65536 bytes or 3 files"},
		"line ends": {pack(t, file{"a", "x" + strings.Repeat("\n", 900) + "the end"}, file{"b", "x\n\n\nx"}), 2,
			[]string{"==> a <==", "(older lines are dropped)", "the end", "==> b <=="}, ""},
		"one endless line": {
			pack(t, file{"one", strings.Repeat("y", 5000)}), 1, []string{"==> one <==", "(older lines are dropped)"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines, files, err := unpack(c.archive, few)
			if files != c.files || (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
				t.Errorf("%d files, %v", files, err)
			}
			for _, want := range c.says {
				if !slices.Contains(lines, want) {
					t.Errorf("there is no %q among %q", want, lines)
				}
			}
			if size := len(strings.Join(lines, "")); size > 1700 {
				t.Errorf("%d bytes are kept", size)
			}
			if len(lines) > few.lines+2*files {
				t.Errorf("%d lines are kept", len(lines))
			}
		})
	}
}

// TestCollectRefused: bytes that are no archive begin no log. The log of a broken archive notes that there was more.
func TestCollectRefused(t *testing.T) {
	k := open(t, t.TempDir(), Limits{})
	if kept, err := k.Collect(aNode, key(1), "no archive"); err == nil || k.Has(aNode, key(1)) {
		t.Errorf("taken: %q", kept)
	}
	if kept, err := k.Collect(aNode, "../x", pack(t)); err == nil {
		t.Errorf("a boot that is a path is taken: %q", kept)
	}
	archive := pack(t, file{"ps", "1 init\n"}, file{"journal", noise()})
	if _, err := k.Collect(aNode, key(2), archive[:len(archive)/8*4]); err != nil { // four letters are three bytes
		t.Fatal(err)
	}
	if log := text(t, k, nodeapi.LogQuery{}); !strings.HasPrefix(log, "==> ps <==\n1 init\n") ||
		!strings.Contains(log, "\n(the rest cannot be read: ") {
		t.Errorf("%q", log)
	}
}

// FuzzUnpack: for any bytes, no more is kept than the bounds allow.
func FuzzUnpack(f *testing.F) {
	for _, archive := range []string{pack(f, file{"journal", "a\nb\n"}, file{"ps", ""}), pack(f), "", "H4sI"} {
		raw, err := base64.StdEncoding.DecodeString(archive)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		lines, files, _ := unpack(base64.StdEncoding.EncodeToString(raw), archiveBounds)
		size := 0
		for _, l := range lines {
			size += len(l)
		}
		// names are as long as tar lets them be
		if files > archiveBounds.files || int64(size) > archiveBounds.all+int64(files)<<20 {
			t.Errorf("%d files, %d bytes", files, size)
		}
	})
}
