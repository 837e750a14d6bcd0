package debian

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// maxUnpacked bounds the unpacked size of one package, in bytes. A kernel has some 400 MB.
const maxUnpacked = 8 << 30

// Unpack writes the files of a .deb for which want is true below a folder that exists. Names in want have no leading
// slash. A name or a link that leads out of the folder is refused; so are devices. Owners and times are left out.
func Unpack(ctx context.Context, deb, folder string, want func(name string) bool) error {
	f, err := os.Open(deb)
	if err != nil {
		return fmt.Errorf("unpack package: %w", err)
	}
	defer f.Close()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("unpack package: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a descriptor
	u := unpacker{ctx: ctx, root: root, want: want}
	err = readAr(f, u.member)
	if err == nil && !u.found {
		err = errors.New("expected a member data.tar, found none")
	}
	if err != nil {
		return fmt.Errorf("package %s: %w", path.Base(deb), err)
	}
	return nil
}

type unpacker struct {
	ctx   context.Context
	root  *os.Root
	want  func(string) bool
	found bool
	size  int64
}

// member unpacks data.tar. Before it come the version of the format and the package's control files.
func (u *unpacker) member(name string, body *io.LimitedReader) error {
	packing, isData := strings.CutPrefix(name, "data.tar")
	if !isData {
		return nil
	}
	u.found = true
	plain, closer, err := decompress(packing, body)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer closer()
	archive := tar.NewReader(io.LimitReader(plain, maxUnpacked))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return errStop
		}
		if err == nil {
			err = errors.Join(u.ctx.Err(), u.entry(header, archive))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// decompress unpacks by the end of a name: "", ".gz", ".xz" or ".zst".
func decompress(suffix string, r io.Reader) (io.Reader, func(), error) {
	nothing := func() {}
	switch suffix {
	case "":
		return r, nothing, nil
	case ".gz":
		plain, err := gzip.NewReader(r)
		return plain, nothing, err
	case ".xz":
		plain, err := xz.NewReader(r, xz.DefaultDictMax)
		return plain, nothing, err
	case ".zst":
		plain, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			return nil, nothing, err
		}
		return plain, plain.Close, nil
	}
	return nil, nothing, fmt.Errorf("compression %q: expected .gz, .xz or .zst", suffix)
}

func (u *unpacker) entry(header *tar.Header, body io.Reader) error {
	name, err := cleanName(header.Name)
	if err != nil || name == "." || !u.want(name) {
		return err
	}
	if u.size += header.Size; u.size > maxUnpacked {
		return fmt.Errorf("it unpacks to more than %d GiB", maxUnpacked>>30)
	}
	if header.Typeflag == tar.TypeDir {
		return u.root.MkdirAll(name, 0o755)
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := u.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch header.Typeflag {
	case tar.TypeReg:
		return u.file(name, header, body)
	case tar.TypeSymlink:
		return u.root.Symlink(header.Linkname, name)
	case tar.TypeLink:
		target, err := cleanName(header.Linkname)
		if err != nil {
			return err
		}
		return u.root.Link(target, name)
	}
	return fmt.Errorf("%s is of kind %q: expected files, folders and links", name, header.Typeflag)
}

func (u *unpacker) file(name string, header *tar.Header, body io.Reader) error {
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644|fs.FileMode(header.Mode&0o111))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}

// cleanName refuses names that lead out of the folder. Debian's begin with "./".
func cleanName(name string) (string, error) {
	clean := path.Clean(name)
	if name == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("name %q leads out of the package", name)
	}
	return clean, nil
}
