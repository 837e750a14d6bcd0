package erase

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// canSanitizeNVMe: Sanitize erases all namespaces of the drive, so it is for drives
// with one. Another namespace may hold data to keep.
func canSanitizeNVMe(action uint32) func(Facts, Options) verdict {
	return func(f Facts, o Options) verdict {
		switch {
		case f.nvme == nil:
			return lacks("not an NVMe drive")
		case !o.NVMe:
			return lacks("switched off by agent_enable_nvme_secure_erase")
		case action == sanCrypto && !f.nvme.controller.sanitizeCryp, action == sanBlock && !f.nvme.controller.sanitizeBl:
			return lacks("the drive does not have it (SANICAP)")
		case f.nvme.namespaces > 1:
			return lacks("it would take all %d namespaces of the drive", f.nvme.namespaces)
		}
		return verdict{}
	}
}

// sanitizeNVMe begins the operation and waits until the log page says that it
// is over. A drive that failed is let out of the failure, so that another
// method can be tried.
func sanitizeNVMe(action uint32) func(context.Context, job) error {
	return func(ctx context.Context, j job) error {
		if err := sanitizeCommand(action).send(j, nil, askTimeout); err != nil {
			return err
		}
		for {
			b := make([]byte, logSanitizeSize)
			if err := sanitizeLogCommand().send(j, b, askTimeout); err != nil {
				return fmt.Errorf("read the sanitize status: %w", err)
			}
			s, err := parseSanitizeStatus(b)
			if err != nil {
				return err
			}
			switch s.state {
			case sanDone, sanDoneDeallocated:
				return nil
			case sanInProgress:
				j.progress(s.progress)
			case sanFailed:
				return together(errors.New("the drive says that its sanitize operation failed"),
					sanitizeCommand(sanExitFailure).send(j, nil, askTimeout))
			default:
				return fmt.Errorf("the drive took the sanitize command, but says that none was begun (status %d)", s.state)
			}
			if !sys.Sleep(ctx, pollEvery) {
				return goesOn(ctx, "a sanitize operation")
			}
		}
	}
}
