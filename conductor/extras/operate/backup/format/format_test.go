package format

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

const passphrase = "correct horse battery"

// made is a backup of two files.
func made(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	h := Header{Release: "1.2.3", Taken: time.Unix(1_800_000_000, 0).UTC(), Schema: 17, KDF: kdf{N: 1 << 14}}
	w, err := NewWriter(&out, h, passphrase, map[string][]byte{"secrets-key.pem": []byte("a key")})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"ferrite.db": strings.Repeat("pages", 1000), "logs/a/1": "booted"} {
		if err := w.Add(name, int64(len(text)), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(text []byte, with string) (Contents, map[string]string, error) {
	files := map[string]string{}
	c, err := Read(bytes.NewReader(text), with, func(name string, _ int64, r io.Reader) error {
		all, err := io.ReadAll(r)
		files[name] = string(all)
		return err
	})
	return c, files, err
}

func TestBackup(t *testing.T) {
	text := made(t)
	c, files, err := read(text, passphrase)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"ferrite.db": strings.Repeat("pages", 1000), "logs/a/1": "booted"}
	if diff := cmp.Diff(want, files); diff != "" || string(c.Keys["secrets-key.pem"]) != "a key" || c.Header.Schema != 17 {
		t.Errorf("%s, %+v", diff, c)
	}
	h, err := ReadHeader(bytes.NewReader(text))
	if err != nil || h.Release != "1.2.3" {
		t.Errorf("header %+v, %v", h, err)
	}
	plain, err := zstd.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if all, err := io.ReadAll(plain); err != nil || bytes.Contains(all, []byte("a key")) {
		t.Errorf("the key is in the file in clear (%v)", err)
	}
}

// TestRefused: a changed backup is refused, and so is a passphrase that can be guessed.
func TestRefused(t *testing.T) {
	text := made(t)
	if _, _, err := read(text, passphrase+"!"); !errors.Is(err, ErrPassphrase) {
		t.Errorf("another passphrase: %v", err)
	}
	for _, cut := range []int{0, 10, len(text) / 2, len(text) - 40} {
		if _, _, err := read(text[:cut], passphrase); err == nil {
			t.Errorf("cut off after %d of %d bytes, and accepted", cut, len(text))
		}
	}
	if _, err := NewWriter(io.Discard, Header{}, "short", nil); err == nil {
		t.Error("a short passphrase is accepted")
	}
	for _, name := range []string{"../out", "/etc/passwd", "a/../b", ""} {
		if err := checkName(name); !errors.Is(err, ErrDamaged) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
}

// TestChanged: a changed file is noticed by its sum, which only the passphrase could have sealed.
func TestChanged(t *testing.T) {
	plain, err := zstd.NewReader(bytes.NewReader(made(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	all, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer packer.Close()
	for was, is := range map[string]string{"booted": "boosts", "1.2.3": "1.2.4"} {
		changed := bytes.Replace(all, []byte(was), []byte(is), 1)
		if _, _, err := read(packer.EncodeAll(changed, nil), passphrase); err == nil {
			t.Errorf("%q became %q, and nobody noticed", was, is)
		}
	}
}

// TestManyFiles: a backup of many boot logs can be restored.
func TestManyFiles(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{KDF: kdf{N: 1 << 14}}, passphrase, nil)
	if err != nil {
		t.Fatal(err)
	}
	const many = 10_000
	for i := range many {
		name := fmt.Sprintf("logs/5d0ee12c-cb9d-4a4d-a2d5-000000000000/%d", i)
		if err := w.Add(name, 0, strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, files, err := read(out.Bytes(), passphrase); err != nil || len(files) != many {
		t.Errorf("%d of %d files, %v", len(files), many, err)
	}
}

// TestLarger: whoever knows no passphrase, and has a backup, makes none that fills a disk: no file is given out that
// is not of its sealed name and size. Files of format 1, which have none, are read as before.
func TestLarger(t *testing.T) {
	for _, format := range []int{1, 2} {
		entries := entriesOf(t, made(t))
		if format == 1 {
			entries = formatOne(t, entries)
		}
		if _, files, err := read(packed(t, entries), passphrase); err != nil || len(files) != 2 {
			t.Errorf("format %d: %d files, %v", format, len(files), err)
		}
		bomb := slices.Clone(entries)
		for i, e := range bomb {
			if e.name == "ferrite.db" {
				bomb[i].text = make([]byte, 64<<20)
			}
		}
		text := packed(t, bomb)
		given := int64(0)
		_, err := Read(bytes.NewReader(text), passphrase, func(_ string, _ int64, r io.Reader) error {
			n, err := io.Copy(io.Discard, r)
			given += n
			return err
		})
		if !errors.Is(err, ErrDamaged) || format > 1 && given > 6 {
			t.Errorf("format %d: %d bytes made of %d were given out, %v", format, given, len(text), err)
		}
	}
}

type entry struct {
	name string
	text []byte
}

func entriesOf(t *testing.T, backup []byte) (all []entry) {
	t.Helper()
	plain, err := zstd.NewReader(bytes.NewReader(backup))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{h.Name, text})
	}
}

func packed(t *testing.T, all []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, e := range all {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: 0o600, Size: int64(len(e.text))})
		if _, failed := w.Write(e.text); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// formatOne makes a backup of format 1 of one of format 2: its sealed entries belong to another header.
func formatOne(t *testing.T, all []entry) (older []entry) {
	t.Helper()
	var h Header
	if err := json.Unmarshal(all[0].text, &h); err != nil {
		t.Fatal(err)
	}
	aead, err := h.KDF.aead(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	was, n := all[0].text, aead.NonceSize()
	is := bytes.Replace(was, []byte(`"format":2`), []byte(`"format":1`), 1)
	for i, e := range all {
		switch {
		case i == 0:
			e.text = is
		case e.name == nextName:
			continue
		case e.name == keysName || e.name == sumsName:
			plain, err := aead.Open(nil, e.text[:n], e.text[n:], additional(e.name, was))
			if err != nil {
				t.Fatal(err)
			}
			e.text = aead.Seal(e.text[:n:n], e.text[:n], plain, additional(e.name, is))
		}
		older = append(older, e)
	}
	return older
}

// FuzzRead: no bytes make a reader fail otherwise than by an error, nor give out a path that leads elsewhere.
func FuzzRead(f *testing.F) {
	plain, err := zstd.NewReader(bytes.NewReader(made(f)))
	if err != nil {
		f.Fatal(err)
	}
	defer plain.Close()
	seed, err := io.ReadAll(plain)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(seed[:600])
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		each := func(name string, _ int64, r io.Reader) error {
			if checkName(name) != nil {
				t.Errorf("given out: %q", name)
			}
			_, err := io.Copy(io.Discard, r)
			return err
		}
		_, err := Read(bytes.NewReader(packer.EncodeAll(text, nil)), passphrase, each)
		if err == nil && !bytes.HasPrefix(text, seed[:100]) {
			t.Errorf("accepted %d bytes that nobody sealed", len(text))
		}
	})
}
