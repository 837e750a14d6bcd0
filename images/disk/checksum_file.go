package disk

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf16"
)

// checksumLine is one sum found in a checksum file; name is empty for a bare sum.
type checksumLine struct {
	sum  Checksum
	name string
}

// checksumForms are the lines that hold a sum, by the programs that write them. The first form that fits decides.
var checksumForms = []*regexp.Regexp{
	// BSD and coreutils --tag: "SHA256 (name) = sum"; OpenSSL: "SHA2-256(name)= sum", of a pipe "(stdin)= sum".
	regexp.MustCompile(`^\\?(?P<algorithm>[\w/-]*) ?\((?P<name>.+)\) ?= ?(?P<sum>[[:xdigit:]]+)$`),
	// coreutils: "sum  name", "sum *name"; Debian's Release: "sum size name"; a bare sum; "sha256:sum name"; "sum;name".
	regexp.MustCompile(`^\\?(?:(?P<algorithm>[\w-]+):)?(?P<sum>[[:xdigit:]]{32,})(?:[\s;,]+[*?^]?(?P<name>.+))?$`),
	// PowerShell's Get-FileHash: "SHA256  SUM  C:\folder\name".
	regexp.MustCompile(`^(?P<algorithm>[\w-]+)\s+(?P<sum>[[:xdigit:]]{32,})\s+(?P<name>.+)$`),
	// Lists made by hand: "name sum", "name: sum", "name,sum".
	regexp.MustCompile(`^(?P<name>[^#;].*?)(?::?\s|[;,])\s*(?P<sum>[[:xdigit:]]{32,})$`),
}

// parseChecksumFile finds the sum of the image at a path in the text of a checksum file, signed or not. A file that
// has no more than one bare sum needs no name. Names are compared from their ends, folder by folder. When an image has
// several sums the strongest is taken; two different ones by the same algorithm are refused.
func parseChecksumFile(text []byte, image string) (Checksum, error) {
	lines, err := checksumLines(text)
	if err != nil {
		return Checksum{}, err
	}
	best, found := 1, map[Algorithm]string{}
	var strongest Checksum
	for _, l := range lines {
		fits := commonEnd(l.name, image)
		if len(lines) == 1 && l.name == "" {
			fits = best
		}
		switch {
		case fits < best:
			continue
		case fits > best:
			best, strongest = fits, Checksum{}
			clear(found)
		}
		if other := found[l.sum.Algorithm]; other != "" && other != l.sum.Sum {
			return Checksum{}, fmt.Errorf("%w: file has two different %s sums for %q, %s and %s: give the sum itself",
				ErrChecksum, l.sum.Algorithm, clip(path.Base(image)), other, l.sum.Sum)
		}
		found[l.sum.Algorithm] = l.sum.Sum
		if len(l.sum.Sum) > len(strongest.Sum) {
			strongest = l.sum
		}
	}
	if strongest.Sum == "" {
		return Checksum{}, fmt.Errorf("%w: file has %d sums but none for %q: expected a line with "+
			"sum and name, as of sha256sum; else give the sum itself", ErrChecksum, len(lines), clip(path.Base(image)))
	}
	return strongest, nil
}

// commonEnd is how many parts at their ends a name in a checksum file and an image's path have in common.
func commonEnd(name, image string) int {
	most := 0
	unsized := strings.TrimLeft(strings.TrimLeft(name, "0123456789"), " \t") // Debian's Release: "size name"
	for _, name := range []string{name, unsized} {
		a, b := strings.Split(name, "/"), strings.Split(path.Clean(image), "/")
		n := 0
		for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] && a[len(a)-1-n] != "" {
			n++
		}
		most = max(most, n)
	}
	return most
}

// checksumLines reads every sum of a checksum file; lines of other kinds (signatures, comments, other algorithms) are
// passed over.
func checksumLines(text []byte) ([]checksumLine, error) {
	var lines []checksumLine
	s := bufio.NewScanner(bytes.NewReader(plainText(text)))
	for s.Scan() {
		if l, ok := parseChecksumLine(strings.TrimSpace(s.Text())); ok {
			lines = append(lines, l)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%w: file is not text: %w", ErrChecksum, err)
	}
	return lines, nil
}

// parseChecksumLine reads one line in any of the forms.
func parseChecksumLine(line string) (checksumLine, bool) {
	for _, form := range checksumForms {
		parts := form.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		part := func(name string) string {
			if i := form.SubexpIndex(name); i >= 0 {
				return parts[i]
			}
			return ""
		}
		value := part("sum")
		if a := part("algorithm"); a != "" {
			value = a + ":" + value
		}
		c, err := parseChecksum(value)
		return checksumLine{c, plainName(part("name"))}, err == nil
	}
	return checksumLine{}, false
}

// plainName is a name with slashes between its folders, "" for the name of a pipe.
func plainName(name string) string {
	name = strings.ReplaceAll(strings.Trim(strings.TrimSpace(name), `"`), `\`, "/")
	if name == "" || name == "-" || name == "stdin" {
		return ""
	}
	return path.Clean(name)
}

// plainText is a text in UTF-8 without its byte order mark. Windows' editors write one, and PowerShell's > UTF-16.
func plainText(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return text[3:]
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return text
	}
	var units []uint16
	for rest := text[2:]; len(rest) >= 2; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return []byte(string(utf16.Decode(units)))
}
