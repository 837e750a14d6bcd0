package imagestore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// Source is an image elsewhere, and the checksum by which it is known to be the right one.
type Source struct {
	URLs   []string    // of the image and its mirrors, tried in this order
	Header http.Header // for the host of the first URL
	Client *http.Client
	Sum    disk.Checksum
	Size   int64  // bytes that it must have; 0 for any
	Called string // its name in errors, where the URL is not for everybody; "" for the URL
	// Authorized: Client shows credentials that Header does not have.
	Authorized bool
	// Stored: it is an operator's image, which another conductor has. It is kept until it is removed; its checksum is
	// its sha256.
	Stored bool
	// Owner is the project of the node that the image is for, "" for the system.
	Owner string
}

// Key is the key of the image in a Store. For a pulled image it includes the URL with its credentials: knowledge of a
// checksum must not give access to an image that another user had credentials for. An authorized image has another key
// than an unauthorized one at the same URL.
func (src Source) Key() string {
	if src.Stored {
		return src.Sum.Sum
	}
	text := string(src.Sum.Algorithm) + ":" + src.Sum.Sum + " " + src.URLs[0]
	if src.Authorized || src.Header.Get("Authorization") != "" {
		text += " authorized"
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// name is the first URL without credentials, for people.
func (src Source) name() string { return Redacted(src.URLs[0]) }

// called is the name of the image in errors, which others than operators read.
func (src Source) called() string { return cmp.Or(src.Called, src.name()) }

// OtherSizeError says that an image at a URL has another size than it must have.
type OtherSizeError struct {
	At        string
	Want, Got int64
}

func (e *OtherSizeError) Error() string {
	return fmt.Sprintf("the image at %s has %d bytes, expected %d: it is another one than was asked for", e.At, e.Got,
		e.Want)
}

// Permanent says that trying again does not help.
func (*OtherSizeError) Permanent() bool { return true }

// ChangedError says that an image at a URL has another checksum than expected. It does not contain the checksum found.
// A user that deploys may have no access to that URL, and with the checksum could get its bytes.
type ChangedError struct {
	At  string
	Sum disk.ChecksumError
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("the image at %s is another one than was asked for, or damaged: its %s is not %s; no machine "+
		"was given it; restore the image, or correct the checksum", e.At, e.Sum.Want.Algorithm, e.Sum.Want.Sum)
}

// Unwrap is the error about the sums.
func (e *ChangedError) Unwrap() error { return &e.Sum }

// Permanent says that trying again does not help.
func (*ChangedError) Permanent() bool { return true }
