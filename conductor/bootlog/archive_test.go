package bootlog

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
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

// TestCollect: what an agent has collected is read like any other log, harmless to
// terminals, and a log that is there is left as it is.
func TestCollect(t *testing.T) {
	k := open(t, t.TempDir(), Limits{})
	if k.Has(aNode, key(1)) {
		t.Error("there is a log before anything came")
	}
	archive := pack(t, file{"journal", "boot\r\n\x1b[2Jwiped\n\nlast"}, file{"ps", ""}, file{"../../etc/\x07passwd", "x\n"})
	kept, err := k.Collect(aNode, key(1), archive)
	if err != nil || kept != "3 files, 5 lines" || !k.Has(aNode, key(1)) {
		t.Errorf("%q, %v", kept, err)
	}
	want := "==> journal <==\nboot\n\ufffd[2Jwiped\n\nlast\n==> ps <==\n==> ../../etc/\ufffdpasswd <==\nx\n"
	if diff := cmp.Diff(want, text(t, k, nodeapi.LogQuery{})); diff != "" {
		t.Error(diff)
	}
	if kept, err := k.Collect(aNode, key(1), pack(t, file{"journal", "other"})); err != nil || !strings.Contains(kept, "already") {
		t.Errorf("%q, %v", kept, err)
	}
	if diff := cmp.Diff(want, text(t, k, nodeapi.LogQuery{})); diff != "" {
		t.Error(diff)
	}
}

// TestCollectBounds: of what is too long the end is kept, of what is no archive
// nothing, and of a broken one what could be read.
func TestCollectBounds(t *testing.T) {
	var noise strings.Builder
	for i := range 2000 {
		fmt.Fprintln(&noise, i*i*7919)
	}
	whole := pack(t, file{"ps", "1 init\n"}, file{"journal", noise.String()})
	raw, err := base64.StdEncoding.DecodeString(whole)
	if err != nil {
		t.Fatal(err)
	}
	var many []file
	for i := range maxFiles + 1 {
		many = append(many, file{fmt.Sprint(i), "line\n"})
	}
	line := strings.Repeat("x", 99) + "\n"
	for name, c := range map[string]struct {
		archive string
		says    []string // in the log; none for an error
	}{
		"no base64":        {"%%%", nil},
		"no gzip":          {base64.StdEncoding.EncodeToString([]byte("plain")), nil},
		"nothing":          {"", nil},
		"cut off":          {base64.StdEncoding.EncodeToString(raw[:len(raw)/2]), []string{"==> ps <==\n1 init\n", "the rest cannot be read"}},
		"a long file":      {pack(t, file{"journal", strings.Repeat(line, maxFile/50) + "the end\n"}), []string{"(older lines are dropped)\n", "the end\n"}},
		"many long files":  {pack(t, file{"a", strings.Repeat(line, 40000)}, file{"b", strings.Repeat(line, 40000)}, file{"c", "the last\n"}), []string{"==> b <==\n(older lines are dropped)\n", "the last\n"}},
		"too many files":   {pack(t, many...), []string{"the rest cannot be read: it has more than 64 MiB or 256 files"}},
		"too many bytes":   {pack(t, file{"first", "seen\n"}, file{"bomb", strings.Repeat("\x00", maxUnpacked)}), []string{"==> first <==\nseen\n", "the rest cannot be read"}},
		"a bomb of a line": {pack(t, file{"one", strings.Repeat("y", maxFile-1)}), []string{"==> one <==\n", "(cut)\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t, t.TempDir(), Limits{})
			kept, err := k.Collect(aNode, key(1), c.archive)
			if len(c.says) == 0 {
				if err == nil || k.Has(aNode, key(1)) {
					t.Errorf("taken: %q", kept)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			log := text(t, k, nodeapi.LogQuery{})
			for _, s := range c.says {
				if !strings.Contains(log, s) {
					t.Errorf("the log of %d bytes does not say %q, but ends with %q", len(log), s, log[max(len(log)-200, 0):])
				}
			}
			if int64(len(log)) > 4<<20 {
				t.Errorf("the log has %d bytes", len(log))
			}
		})
	}
	if _, err := open(t, t.TempDir(), Limits{}).Collect(aNode, "../x", whole); err == nil {
		t.Error("a boot that is a path is taken")
	}
}

// FuzzUnpack: whatever a machine sends, no more is kept than is to be.
func FuzzUnpack(f *testing.F) {
	for _, archive := range []string{pack(f, file{"journal", "a\nb\n"}, file{"ps", ""}), pack(f), "", "H4sI"} {
		raw, err := base64.StdEncoding.DecodeString(archive)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		lines, files, _ := unpack(base64.StdEncoding.EncodeToString(raw))
		size := 0
		for _, l := range lines {
			size += len(l)
		}
		if files > maxFiles || size > maxKept+files*(1<<20) { // names are as long as tar lets them be
			t.Errorf("%d files, %d bytes", files, size)
		}
	})
}
