package bootlog

import (
	"archive/tar"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// bounds limit the reading of an archive, which any machine may have made.
type bounds struct {
	unpacked int64 // bytes of the archive
	files    int
	each     int64 // bytes that are kept of a file: the last
	all      int64 // and of all of them
	lines    int   // of all of them: a line takes more memory than its bytes
}

// archiveBounds exceed the logs of any machine.
var archiveBounds = bounds{unpacked: 64 << 20, files: 256, each: 1 << 20, all: 8 << 20, lines: 100_000}

// Collect makes the log of a boot from an agent's archive: the base64 of a tar.gz of texts, as ironic-python-agent
// answers log.collect_system_logs. A line with its name precedes each file. kept describes the amount for the user. A
// boot that has a log keeps it unchanged.
func (k *Keeper) Collect(node, boot, archive string) (kept string, err error) {
	if !validBoot(boot) {
		return "", fmt.Errorf("boot log of %s: boot %q is not 16 hexadecimal digits", node, boot)
	}
	lines, files, err := unpack(archive, archiveBounds)
	if files == 0 && err != nil {
		return "", fmt.Errorf("boot log of %s: the collected data is no base64 of a tar.gz: %w", node, err)
	}
	if err != nil {
		lines = append(lines, fmt.Sprintf("(the rest cannot be read: %v)", err))
	}
	if k.Has(node, boot) {
		return "there is a log of this boot already", nil
	}
	s, err := k.shelf(node)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d files, %d lines", files, len(lines)-files), s.add(boot, 0, lines, nil)
}

// Has reports whether there is a log of a boot.
func (k *Keeper) Has(node, boot string) bool {
	s, err := k.shelf(node)
	return err == nil && s.has(boot)
}

func (s *shelf) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.boots {
		if b.Name == name {
			return true
		}
	}
	return false
}

// unpack reads the files of an archive as lines. Lines read before an error are returned
// with it.
func unpack(archive string, most bounds) (lines []string, files int, err error) {
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(archive)))
	if err != nil {
		return nil, 0, err
	}
	left := &io.LimitedReader{R: z, N: most.unpacked}
	for t, room := tar.NewReader(left), most.all; ; {
		header, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) && left.N > 0:
			return lines, files, nil
		case left.N <= 0 || files == most.files || err == nil && header.Size > left.N:
			return lines, files, fmt.Errorf("it has more than %d bytes or %d files", most.unpacked, most.files)
		case err != nil:
			return lines, files, err
		case header.Typeflag != tar.TypeReg:
			continue
		}
		before := left.N
		text, err := last(t, header.Size, min(most.each, room))
		left.N = min(left.N, before-header.Size) // a sparse file's holes count too: there is no end to them
		files++
		room -= int64(len(text))
		lines = append(append(lines, "==> "+header.Name+" <=="), split(text, max(most.lines-len(lines), 0))...)
		if err != nil {
			return lines, files, err
		}
	}
}

// last reads the last bytes of a text of size bytes. If it leaves any out, it begins with a full line, and adds a line
// that notes the loss.
func last(r io.Reader, size, keep int64) (text string, err error) {
	passed := max(size-keep, 0)
	if _, err := io.CopyN(io.Discard, r, passed); err != nil {
		return "", err
	}
	raw, err := io.ReadAll(r)
	text = string(raw)
	if passed > 0 {
		_, text, _ = strings.Cut(text, "\n")
		text = "(older lines are dropped)\n" + text
	}
	return text, err
}

// split divides a text into lines. It keeps the last most lines, and adds a line that notes a loss.
func split(text string, most int) []string {
	if text = strings.TrimRight(text, "\r\n"); text == "" {
		return nil
	}
	if over := strings.Count(text, "\n") + 1 - most; over > 0 {
		for range over {
			_, text, _ = strings.Cut(text, "\n")
		}
		text = strings.TrimRight("(older lines are dropped)\n"+text, "\n")
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, "\r")
	}
	return lines
}
