// Package erasetest holds a drive without erase commands, for tests.
//
// Only tests may import it.
package erasetest

import (
	"errors"
	"fmt"
	"time"
)

// Plain is a disk without any erase command: it can only be read and written.
type Plain struct{}

var errPlain = fmt.Errorf("a plain disk: %w", errors.ErrUnsupported)

// Discard is not there.
func (Plain) Discard(int64, int64) error { return errPlain }

// SecureDiscard is not there.
func (Plain) SecureDiscard(int64, int64) error { return errPlain }

// ZeroOut is not there.
func (Plain) ZeroOut(int64, int64) error { return errPlain }

// NVMeAdmin is not there.
func (Plain) NVMeAdmin(uint8, uint32, [6]uint32, []byte, time.Duration) error { return errPlain }

// SCSI is not there.
func (Plain) SCSI([]byte, []byte, []byte, time.Duration) (uint8, []byte, error) {
	return 0, nil, errPlain
}
