package debian

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadParagraphs(t *testing.T) {
	text := "# note\nPackage: a\nDescription: one\n two\n\tthree\n\n\nPackage:b\r\nSHA256:\n 00 1 x\n"
	var got []paragraph
	err := readParagraphs(strings.NewReader(text), func(p paragraph) error { got = append(got, p); return nil })
	want := []paragraph{{"package": "a", "description": "one\ntwo\nthree"}, {"package": "b", "sha256": "\n00 1 x"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for text, want := range map[string]string{
		" a": "found a continued line without one", "a": "expected `Field: value`", "A: 1\na: 2": "twice", ": x": "expected",
		"A: " + strings.Repeat("x", maxLine):                           "too long",
		strings.Repeat("A: "+strings.Repeat("x", maxLine/2)+"\n ", 20): "more than 8 MiB",
	} {
		if err := readParagraphs(strings.NewReader(text), func(paragraph) error { return nil }); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: error %v, want %q in it", text, err, want)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	ordered := []string{"0.9", "1.0~~", "1.0~rc1-1", "1.0~rc1-1+b1", "1.0", "1.0-0.1", "1.0-1~bpo12+1", "1.0-1",
		"1.0-1+deb12u1",
		"1.0-1+deb12u10", "1.0a", "1.0+x", "1.9", "1.10", "6.1.176-1", "6.1.192-2", "1:0.1"}
	for i, a := range ordered {
		for j, b := range ordered {
			got := compareVersions(a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("compare %s with %s: %d", a, b, got)
			}
		}
	}
	if compareVersions("1.00", "1.0") != 0 || compareVersions("0:1", "1") != 0 {
		t.Error("zeroes in front and epoch 0 mean nothing")
	}
}

// TestArchiveKeys: the keys are those that Debian publishes at https://ftp-master.debian.org/keys.html.
func TestArchiveKeys(t *testing.T) {
	ring, err := ArchiveKeyring()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, key := range ring.keys {
		got = append(got, fmt.Sprintf("%X", key.PrimaryKey.Fingerprint))
	}
	slices.Sort(got)
	want := []string{
		"04B54C3CDCA79751B16BC6B5225629DF75B188BD", "05AB90340C0C5E797F44A8C8254CF3B5AEC0A8F0",
		"41587F7DB8C774BCCF131416762F67A0B2C39DE4", "4D64FEC119C2029067D6E791F8D2585B8783D481",
		"5E04A1E3223A19A20706E20F9904613D4CCE68C6", "B8B80B5B623EAB6AD8775C45B7C5D7D6350947F8",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadKeyringRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	for _, text := range []string{
		"", "no keys", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKeyring(file); err == nil || !strings.Contains(err.Error(), "OpenPGP") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestAptLine(t *testing.T) {
	release := filepath.Join(t.TempDir(), "os-release")
	if err := os.WriteFile(release, []byte("ID=debian\nVERSION_CODENAME=trixie\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := codename(release); got != "trixie" {
		t.Errorf("code name %q", got)
	}
	if got := new(Apt).Missing(); !strings.Contains(got, "deb http://deb.debian.org/debian ") ||
		!strings.Contains(got, " non-free-firmware` to /etc/apt/sources.list") {
		t.Errorf("%q names no line to add", got)
	}
}

func FuzzControl(f *testing.F) {
	f.Add([]byte("Package: a\nVersion: 1\nFilename: pool/a.deb\nSize: 3\nSHA256: " + strings.Repeat("0", 64) +
		"\n\nB: c\n d\n"))
	f.Add([]byte("Suite: s\nComponents: updates/main\nSHA256:\n 00 1 x\nValid-Until: Sat, 11 Jul 2026 10:16:37 UTC\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = readParagraphs(bytes.NewReader(text), func(p paragraph) error {
			if found, err := packageOf(p); err == nil {
				if found.Size <= 0 || len(found.SHA256) != 64 || strings.HasPrefix(found.Filename, "..") {
					t.Errorf("accepted %+v", found)
				}
			}
			_, _ = parseRelease(p, "s", time.Unix(0, 0))
			return nil
		})
	})
}

func FuzzAr(f *testing.F) {
	f.Add([]byte("!<arch>\n" + fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n", "data.tar", 0, 0, 0, "644", 3) + "abc\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read := 0
		_ = readAr(bytes.NewReader(text), func(_ string, body *io.LimitedReader) error {
			n, err := io.Copy(io.Discard, body)
			read += int(n)
			return err
		})
		if read > len(text) {
			t.Errorf("read %d bytes of members out of %d", read, len(text))
		}
	})
}

func FuzzInRelease(f *testing.F) {
	ring, err := ArchiveKeyring()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSuite: s\n-----BEGIN PGP SIGNATURE-----\n\n" +
		"iQEzBAEBCAAdFiEE\n-----END PGP SIGNATURE-----\n"))
	f.Add([]byte("-----BEGIN PGP SIGNED MESSAGE-----\n\n-----BEGIN PGP SIGNATURE-----")) // the library panics
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := openRelease(text, ring, "s", time.Unix(1790000000, 0)); err == nil {
			t.Error("accepted what Debian has not signed")
		}
	})
}
