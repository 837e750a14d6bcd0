package debian

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// arMagic begins an ar archive, the outer form of a .deb (deb(5)).
const arMagic = "!<arch>\n"

// arHeader is the size of a member's header: name 16, time 12, owner 6, group 6, mode 8, size 10, end 2.
const arHeader = 60

// readAr hands the members of an ar archive to each, in their order. The part of a body that each leaves is skipped.
// errStop from each ends the reading without an error.
func readAr(r io.Reader, each func(name string, body *io.LimitedReader) error) error {
	head := make([]byte, arHeader)
	if _, err := io.ReadFull(r, head[:len(arMagic)]); err != nil || string(head[:len(arMagic)]) != arMagic {
		return fmt.Errorf("expected an ar archive, which begins %q, found %q", arMagic, head[:len(arMagic)])
	}
	for {
		if _, err := io.ReadFull(r, head); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("ar archive: read the head of a member: %w", err)
		}
		name := strings.TrimSuffix(strings.TrimRight(string(head[:16]), " "), "/")
		size, err := strconv.ParseInt(strings.TrimRight(string(head[48:58]), " "), 10, 64)
		if err != nil || size < 0 || string(head[58:]) != "`\n" {
			return fmt.Errorf("ar archive: the head of member %.16q is damaged", name)
		}
		body := &io.LimitedReader{R: r, N: size}
		if err := each(name, body); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
		if err := skip(r, body.N, size); err != nil {
			return fmt.Errorf("ar archive: member %q is cut short: %w", name, err)
		}
	}
}

// skip passes over the rest of a member, and the byte that pads odd sizes. The last member may lack it.
func skip(r io.Reader, left, size int64) error {
	if _, err := io.CopyN(io.Discard, r, left); err != nil {
		return err
	}
	if size%2 == 0 {
		return nil
	}
	if _, err := io.CopyN(io.Discard, r, 1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// errStop ends readAr early.
var errStop = errors.New("stop")
