// Package cacert reads the CA certificates in a node's settings: PEM text, or a file or folder inside the one folder
// that the operator has opened for that (--ca-folder). Any editor of a node can write such a setting, so a path
// anywhere else is refused unread. It could be a device, a pipe, or a question whether a file of this host exists.
//
// It must not know which peer the certificates are for.
package cacert

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
)

// Limits for reading one setting. The bundle of all public authorities is 220 KB.
const (
	MaxText  = 64 << 10 // of PEM in the setting itself
	maxFile  = 1 << 20
	maxFiles = 64 // of a folder
)

// ErrNotOpen is the one answer for a path that is missing, outside the folder, or not readable. A more exact answer
// would reveal files of this host.
var ErrNotOpen = errors.New("names nothing that is open to nodes: put the PEM itself into the setting, " +
	"or a regular file into the folder of --ca-folder and name that")

// errNoCertificate is about text or files that were read.
var errNoCertificate = errors.New("holds no PEM certificate (-----BEGIN CERTIFICATE-----)")

// Inline reports whether a setting is PEM text rather than a path.
func Inline(setting string) bool { return strings.Contains(setting, "-----BEGIN ") }

// Check refuses a setting that is wrong regardless of the files.
func Check(setting string) error {
	switch {
	case len(setting) > MaxText:
		return fmt.Errorf("is %d bytes long, at most %d are taken: name a file in --ca-folder instead", len(setting), MaxText)
	case Inline(setting):
		_, err := pool([][]byte{[]byte(setting)})
		return err
	case setting == "" || strings.ContainsFunc(setting, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("must be true, false, PEM text, or the path of a file in --ca-folder")
	}
	return nil
}

// pool is the certificates of several texts.
func pool(texts [][]byte) (*x509.CertPool, error) {
	p, found := x509.NewCertPool(), false
	for _, text := range texts {
		found = p.AppendCertsFromPEM(text) || found
	}
	if !found {
		return nil, errNoCertificate
	}
	return p, nil
}
