package debian

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// release is the signed description of a suite: its file InRelease.
type release struct {
	components []string
	byHash     bool           // files can be fetched by their hash, so that a mirror under update stays consistent
	files      map[string]sum // by path below the suite
}

// sum identifies a file's content.
type sum struct {
	sha256 string // in hex
	size   int64  // in bytes
}

// openRelease checks the signature of an InRelease, and that it is the suite's and still valid. Nothing outside of
// the signed text is read.
func openRelease(signed []byte, ring Keyring, suite string, now time.Time) (release, error) {
	block := decodeSigned(signed)
	if block == nil || block.ArmoredSignature == nil {
		return release{}, fmt.Errorf("expected a text signed with OpenPGP, found %.40q", signed)
	}
	signature, err := io.ReadAll(block.ArmoredSignature.Body)
	if err != nil {
		return release{}, fmt.Errorf("the signature is damaged: %w", err)
	}
	if err := ring.verify(block.Bytes, signature, now); err != nil {
		return release{}, err
	}
	var found release
	paragraphs := 0
	err = readParagraphs(bytes.NewReader(block.Plaintext), func(p paragraph) (err error) {
		if paragraphs++; paragraphs > 1 {
			return errors.New("expected one paragraph, found more")
		}
		found, err = parseRelease(p, suite, now)
		return err
	})
	if err == nil && paragraphs == 0 {
		err = errors.New("it is empty")
	}
	return found, err
}

// decodeSigned returns nil for a text that is not signed. clearsign panics on an empty one (version 1.4.1).
func decodeSigned(signed []byte) (block *clearsign.Block) {
	defer func() {
		if recover() != nil {
			block = nil
		}
	}()
	block, _ = clearsign.Decode(signed)
	return block
}

// verify wants one good signature. Debian signs with the keys of several releases, of which a keyring may know one.
func (k Keyring) verify(text, signature []byte, now time.Time) error {
	config := &packet.Config{Time: func() time.Time { return now }}
	var bad error
	for _, key := range k.keys {
		_, err := openpgp.CheckDetachedSignature(openpgp.EntityList{key}, bytes.NewReader(text),
			bytes.NewReader(signature), config)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, pgperrors.ErrUnknownIssuer):
			bad = errors.Join(bad, fmt.Errorf("signature of key %X: %w", key.PrimaryKey.KeyId, err))
		}
	}
	if bad == nil {
		return fmt.Errorf("none of %s has signed it: give the archive's keys with --keyring", k.origin)
	}
	return fmt.Errorf("it is not as it was signed, or the clock of this machine is wrong: %w", bad)
}

func parseRelease(p paragraph, suite string, now time.Time) (release, error) {
	if p["suite"] != suite && p["codename"] != suite {
		return release{}, fmt.Errorf("expected suite %s, found %q with code name %q", suite, p["suite"], p["codename"])
	}
	if until := p["valid-until"]; until != "" {
		end, err := time.Parse(time.RFC1123, until)
		if err != nil {
			return release{}, fmt.Errorf("Valid-Until: %w", err)
		}
		if now.After(end) {
			return release{}, fmt.Errorf("it was valid until %s: the mirror is out of date, or the clock of this machine is "+
				"wrong", until)
		}
	}
	r := release{byHash: p["acquire-by-hash"] == "yes", files: map[string]sum{}}
	for _, component := range strings.Fields(p["components"]) {
		// The archive of security updates writes "updates/main" for main.
		r.components = append(r.components, component[strings.LastIndexByte(component, '/')+1:])
	}
	for line := range strings.Lines(p["sha256"]) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		s, err := parseSum(fields)
		if err != nil {
			return release{}, err
		}
		r.files[fields[2]] = s
	}
	return r, nil
}

func parseSum(fields []string) (sum, error) {
	if len(fields) != 3 || !isSHA256(fields[0]) {
		return sum{}, fmt.Errorf("SHA256: expected `hash size name`, found %.80q", strings.Join(fields, " "))
	}
	size, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || size < 0 {
		return sum{}, fmt.Errorf("SHA256: size %q of %.60q: expected a count of bytes", fields[1], fields[2])
	}
	return sum{sha256: fields[0], size: size}, nil
}

func isSHA256(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }
