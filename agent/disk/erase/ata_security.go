package erase

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/agent/disk"
)

// canEraseATA: a frozen drive takes no security command until it has lost its
// power. Most BIOSes freeze all they see at boot.
func canEraseATA(enhanced bool) func(Facts, Options) verdict {
	return func(f Facts, o Options) verdict {
		switch {
		case f.ata == nil:
			return lacks("not an ATA drive")
		case !o.ATA:
			return lacks("switched off by agent_enable_ata_secure_erase")
		case !f.ata.security:
			return lacks("the drive has no security feature set")
		case enhanced && !f.ata.enhanced:
			return lacks("the drive has no enhanced erase")
		case f.ata.frozen:
			return verdict{blocked: true, reason: "the drive's security is frozen, by the firmware as a rule: " +
				"suspend and wake the machine, plug the drive out and in, " +
				"or switch the freeze lock off in the BIOS setup"}
		}
		return verdict{}
	}
}

// eraseATA sets a password, erases with it, and wants the password gone.
func eraseATA(enhanced bool) func(context.Context, job) error {
	return func(_ context.Context, j job) error {
		if err := sendPassword(j, ataSetPassword); err != nil {
			return together(fmt.Errorf("set a password: %w", err), unlockATA(j))
		}
		err := eraseUnit(j, enhanced)
		now, askErr := identifyATA(j)
		if err == nil && askErr == nil && !now.enabled {
			return nil
		}
		if err == nil && askErr == nil {
			err = errors.New("the drive took the erase, but its password is still set: it was not carried out")
		}
		return together(err, askErr, unlockATA(j))
	}
}

// openATA unlocks a drive that an interrupted erase has left locked, by Ferrite or by hdparm: the password is the
// same. Nothing could be read before, so obstacles to an erase are checked now.
func openATA(d Drive, o Options) error {
	if err := sendPassword(d, ataUnlock); err != nil {
		return fmt.Errorf("it is locked by an ATA password that Ferrite did not set: unlock it with that password: %w", err)
	}
	if err := sendPassword(d, ataDisablePassword); err != nil {
		return fmt.Errorf("take off the ATA password, of 32 zero bytes: %w", err)
	}
	if err := disk.Guard(d); err != nil && (!o.Shared || !errors.Is(err, disk.ErrProtected)) {
		return err
	}
	return nil
}

// eraseUnit is the erase itself, which returns when it is done and cannot be
// aborted.
func eraseUnit(j job, enhanced bool) error {
	bits, timeout := uint16(0), j.facts.ata.normalTime
	if enhanced {
		bits, timeout = ataEnhanced, j.facts.ata.enhancedTime
	}
	if err := ataPrepareCommand().sendATA(j, nil, askTimeout); err != nil {
		return fmt.Errorf("prepare the erase: %w", err)
	}
	if err := ataPasswordCommand(ataEraseUnit).sendATA(j, securityData(bits), timeout); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	return nil
}

// sendPassword sends a command with the password as its only data.
func sendPassword(d Drive, command byte) error {
	return ataPasswordCommand(command).sendATA(d, securityData(0), askTimeout)
}

// unlockATA removes a drive's password and verifies it.
func unlockATA(d Drive) error {
	f, err := identifyATA(d)
	if err == nil && !f.enabled {
		return nil
	}
	var steps []error
	for _, c := range []byte{ataUnlock, ataDisablePassword} {
		if err := sendPassword(d, c); err != nil && (c != ataUnlock || f.locked) {
			steps = append(steps, err)
		}
	}
	f, err = identifyATA(d)
	if err == nil && !f.enabled {
		return nil
	}
	return together(errors.New("AND THE DRIVE KEEPS ITS PASSWORD, of 32 zero bytes: "+
		"cut its power, then unlock it by hdparm --security-unlock NULL and --security-disable NULL"), append(steps, err)...)
}
