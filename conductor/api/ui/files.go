package ui

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io"
	"io/fs"
	"path"
	"strings"
)

// built holds each file as NAME.gz and NAME.br, as `make ui` left them.
//
//go:embed all:built
var built embed.FS

//go:embed not_built.html
var notBuilt []byte

// index is the page of the interface.
const index = "index.html"

// file is one file, in the forms it is sent in.
type file struct {
	kind   string // media type
	etag   string
	gzip   []byte
	brotli []byte
	fixed  bool // its name has a hash of its content: it never changes
}

// load reads the files of a build. Without a page among them it serves a page that explains how to build the interface.
// The files are embedded in the program, so that reading never fails.
func load(from fs.FS) map[string]*file {
	files := map[string]*file{}
	_ = fs.WalkDir(from, ".", func(name string, _ fs.DirEntry, err error) error {
		plain, isGzip := strings.CutSuffix(name, ".gz")
		if err != nil || !isGzip {
			return err
		}
		f := &file{kind: kindOf(plain), fixed: strings.HasPrefix(plain, "assets/")}
		f.gzip, _ = fs.ReadFile(from, name)
		f.brotli, _ = fs.ReadFile(from, plain+".br")
		f.etag = etag(f.gzip)
		files[plain] = f
		return nil
	})
	if files[index] == nil {
		files = map[string]*file{index: packed(notBuilt, "text/html; charset=utf-8")}
	}
	return files
}

// kinds are the media types of the files of interface and documentation. The answers of mime.TypeByExtension differ
// between hosts.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".json": "application/json", ".yml": "text/plain; charset=utf-8",
}

func kindOf(name string) string { return cmp.Or(kinds[path.Ext(name)], "application/octet-stream") }

// packed is a file of plain text.
func packed(text []byte, kind string) *file {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return &file{kind: kind, etag: etag(text), gzip: b.Bytes()}
}

// plain is the file for a client that takes no compressed one.
func (f *file) plain() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(f.gzip))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func etag(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// builtFiles are the files that `make ui` has built.
func builtFiles() fs.FS {
	sub, err := fs.Sub(built, "built")
	if err != nil { // the name is a constant
		panic(err)
	}
	return sub
}
