package erase

import (
	"context"
	"errors"
	"fmt"
)

// Method is one way to erase a disk.
type Method struct {
	Name string
	// Firmware: the drive does it by itself, as Ironic's "secure erase". If it
	// fails the next is tried only if the operator allows it.
	Firmware bool
	// can reports whether a disk has it.
	can func(f Facts, o Options) verdict
	// erase returns when the disk says that it is done.
	erase func(ctx context.Context, j job) error
	// zeroes reports whether the disk must read as zeroes afterwards; nil for never.
	zeroes func(f Facts, o Options) bool
}

// verdict is why a method is not for a disk: the zero value says that it is.
// blocked: the disk has it, but is in a state in which it cannot do it, which
// counts as a failure.
type verdict struct {
	reason  string
	blocked bool
}

func lacks(format string, args ...any) verdict {
	return verdict{reason: fmt.Sprintf(format, args...)}
}

// job is one disk being erased by one method.
type job struct {
	Drive
	facts    Facts
	options  Options
	progress func(share float64) // 0 to 1
}

// Methods is the table, the best first. Methods that reach all cells of the drive,
// spare ones too, come before methods that reach addressable cells. Of these, instant
// methods come before methods that take hours.
func Methods() []Method {
	return []Method{
		{"nvme_sanitize_crypto", true, canSanitizeNVMe(sanCrypto), sanitizeNVMe(sanCrypto), nil},
		{"nvme_sanitize_block", true, canSanitizeNVMe(sanBlock), sanitizeNVMe(sanBlock), nil},
		{"nvme_format_crypto", true, canFormat(sesCrypto), format(sesCrypto), nil},
		{"nvme_format_user_data", true, canFormat(sesUserData), format(sesUserData), nil},
		{"ata_secure_erase_enhanced", true, canEraseATA(true), eraseATA(true), nil},
		{"ata_secure_erase", true, canEraseATA(false), eraseATA(false), nil},
		{"scsi_sanitize_crypto", true, canSanitizeSCSI(scsiCryptoErase), sanitizeSCSI(scsiCryptoErase), nil},
		{"scsi_sanitize_block", true, canSanitizeSCSI(scsiBlockErase), sanitizeSCSI(scsiBlockErase), nil},
		{"scsi_sanitize_overwrite", true, canSanitizeSCSI(scsiOverwrite), sanitizeSCSI(scsiOverwrite), nil},
		{"secure_discard", false, canSecureDiscard, secureDiscard, nil},
		{"discard", false, canDiscard, discard, discardZeroes},
		{"zero_out", false, canZeroOut, zeroOut, always},
		{"overwrite", false, canOverwrite, overwrite, overwriteZeroes},
	}
}

func always(Facts, Options) bool { return true }

// inChunks does something to the whole disk piece by piece, so that progress
// is seen and an abort is heeded.
func (j job) inChunks(ctx context.Context, size int64, do func(off, n int64) error) error {
	for off := int64(0); off < j.Size(); off += size {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("aborted at byte %d of %d: %w", off, j.Size(), err)
		}
		if err := do(off, min(size, j.Size()-off)); err != nil {
			return err
		}
		j.progress(float64(min(off+size, j.Size())) / float64(j.Size()))
	}
	return nil
}

// goesOn says that an abort came while the drive was at work by itself.
func goesOn(ctx context.Context, what string) error {
	return fmt.Errorf("aborted, but %s cannot be: the drive continues by itself, through a power cycle too: %w",
		what, ctx.Err())
}

// together joins the main error with errors of tidying up after it.
func together(err error, after ...error) error { return errors.Join(append([]error{err}, after...)...) }
