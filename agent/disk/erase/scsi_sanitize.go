package erase

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// canSanitizeSCSI asks REPORT SUPPORTED OPERATION CODES's answer.
func canSanitizeSCSI(action byte) func(Facts, Options) verdict {
	return func(f Facts, _ Options) verdict {
		switch {
		case f.scsi == nil:
			return lacks("not a SCSI disk")
		case !f.scsi.sanitize[action]:
			return lacks("the disk does not have it (REPORT SUPPORTED OPERATION CODES)")
		}
		return verdict{}
	}
}

// sanitizeSCSI begins the operation and asks how it is doing until it is over.
// A disk that failed is let out of the failure, so that another method can be
// tried.
func sanitizeSCSI(action byte) func(context.Context, job) error {
	return func(ctx context.Context, j job) error {
		var params []byte
		if action == scsiOverwrite {
			params = overwriteParams()
		}
		if err := scsiSanitizeCommand(action, uint16(len(params))).send(j, nil, params, askTimeout); err != nil {
			return err
		}
		for {
			b := make([]byte, senseBytes)
			if err := requestSenseCommand().ask(j, b); err != nil {
				return fmt.Errorf("ask for the progress: %w", err)
			}
			s, err := parseSense(b)
			switch {
			case err != nil:
				return err
			case s.sanitizing():
				j.progress(max(s.progress, 0))
			case s.key == keyNone || s.key == keyRecovered:
				return nil
			default:
				return together(errors.New("the disk says that its sanitize operation failed: "+s.String()),
					scsiSanitizeCommand(scsiExitFailure, 0).send(j, nil, nil, askTimeout))
			}
			if !sys.Sleep(ctx, pollEvery) {
				return goesOn(ctx, "a sanitize operation")
			}
		}
	}
}
