package ipmi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Bus sends a command to the machine's own BMC and returns the answer after the completion code. A refusal is an error
// with a method CompletionCode() uint8.
type Bus interface {
	IPMI(netfn, command uint8, data []byte, timeout time.Duration) ([]byte, error)
}

// User is to be an administrator of the BMC.
type User struct {
	Channel  byte // the LAN channel over which it logs in
	Name     string
	Password string
}

// Made is how a user was made.
type Made struct {
	Slot byte // its user ID
	// NoSOL is why it may not use serial over LAN; nil where it may.
	NoSOL error
}

// One command may take this long: BMCs hash and store a password in seconds. A busy one is asked again.
const (
	commandTimeout = 10 * time.Second
	busyPause      = 500 * time.Millisecond
	busyTries      = 6
)

// firstSlot is the first user ID that can have a name: 1 is the nameless user (IPMI 2.0, 6.9).
const firstSlot = 2

// maker makes one user.
type maker struct {
	bus   Bus
	pause func(ctx context.Context, d time.Duration) bool // false when ctx ended first
	user  User
}

// Make makes the user in the slot that has its name, or else in the first free one, and checks that its password is
// stored. A slot with another name is never changed. If the user cannot be completed, a slot that was free is cleared
// again, and a slot that had the name before is left as it is. pause waits, and answers false when ctx has ended.
func Make(ctx context.Context, bus Bus, u User, pause func(context.Context, time.Duration) bool) (Made, error) {
	if u.Name == "" || len(u.Name) > nameLength || len(u.Password) > longPassword {
		return Made{}, fmt.Errorf("BMC user %q: expected a name of 1 to %d characters and a password of at most %d", u.Name,
			nameLength, longPassword)
	}
	m := &maker{bus, pause, u}
	slot, ours, err := m.findSlot(ctx)
	if err != nil {
		return Made{}, fmt.Errorf("find a place for BMC user %s: %w", u.Name, err)
	}
	if err := m.fill(ctx, slot, ours); err != nil {
		err = fmt.Errorf("make BMC user %s in slot %d: %w", u.Name, slot, err)
		if ours {
			return Made{}, err
		}
		if undone := m.clear(context.WithoutCancel(ctx), slot); undone != nil {
			err = fmt.Errorf("%w; the slot could not be cleared: %w", err, undone)
		}
		return Made{}, err
	}
	return Made{Slot: slot, NoSOL: m.allowSOL(ctx, slot)}, nil
}

// Present reports whether the machine's BMC answers. The error says why it does not.
func Present(ctx context.Context, bus Bus, pause func(context.Context, time.Duration) bool) error {
	m := &maker{bus: bus, pause: pause}
	_, err := m.send(ctx, getDeviceID, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("this machine shows no BMC to its kernel: /dev/ipmi0 does not exist")
	}
	return err
}

// findSlot returns the slot that has the name already, else the first that is free.
func (m *maker) findSlot(ctx context.Context) (slot byte, ours bool, err error) {
	first, err := m.access(ctx, 1)
	if err != nil {
		return 0, false, err
	}
	free := byte(0)
	for s := byte(firstSlot); s <= first.slots; s++ {
		name, err := m.name(ctx, s)
		switch {
		case codeOf(err) == codeNotPresent:
			continue // the BMC has fewer than it says
		case err != nil:
			return 0, false, err
		case name == m.user.Name:
			return s, true, nil
		case name != "" || free != 0 || s <= first.fixed:
			continue
		}
		a, err := m.access(ctx, s)
		if err != nil {
			return 0, false, err
		}
		if !a.inUse() {
			free = s
		}
	}
	if free == 0 {
		return 0, false, fmt.Errorf("the BMC has %d users, and none of them is free: delete an unused one",
			first.slots)
	}
	return free, false, nil
}

func (m *maker) access(ctx context.Context, slot byte) (access, error) {
	answer, err := m.send(ctx, getUserAccess, []byte{m.user.Channel & channelMask, slot})
	if err != nil {
		return access{}, err
	}
	return decodeAccess(answer)
}

// name is "" for a slot without one. Dell's BMCs refuse to name an empty slot with 0xcc.
func (m *maker) name(ctx context.Context, slot byte) (string, error) {
	answer, err := m.send(ctx, getUserName, []byte{slot})
	if codeOf(err) == codeInvalidField {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return decodeName(answer)
}

// fill makes the user: the name first, since BMCs with accounts of their own (OpenBMC) create the account by it. Only
// then has a password something to belong to. The user is enabled last.
func (m *maker) fill(ctx context.Context, slot byte, ours bool) error {
	if !ours { // OpenBMC refuses a name that exists, also in the same slot
		if _, err := m.send(ctx, setUserName, encodeName(slot, m.user.Name)); err != nil {
			return err
		}
	}
	length, err := m.setPassword(ctx, slot)
	if err != nil {
		return err
	}
	if _, err := m.send(ctx, setUserAccess, encodeAccess(m.user.Channel, slot, administrator)); err != nil {
		return err
	}
	if err := m.switchUser(ctx, slot, enableUser); err != nil {
		return fmt.Errorf("enable: %w", err)
	}
	if _, err := m.send(ctx, setUserPassword, encodePassword(slot, testPassword, m.user.Password, length)); err != nil {
		return fmt.Errorf("test the password: %w", err)
	}
	return nil
}

// setPassword sets the password in the form of 16 bytes, or of 20 where the BMC takes no other or it is longer.
func (m *maker) setPassword(ctx context.Context, slot byte) (length int, err error) {
	for _, length := range []int{shortPassword, longPassword} {
		if len(m.user.Password) > length {
			continue
		}
		_, err = m.send(ctx, setUserPassword, encodePassword(slot, setPassword, m.user.Password, length))
		switch codeOf(err) {
		case codeLengthInvalid, codeTooLong, codeInvalidField, codeWrongSize:
			continue
		}
		return length, err
	}
	return 0, err
}

// switchUser enables or disables a user. Older BMCs want the bytes of a password even then (IPMI 1.5, 18.25).
func (m *maker) switchUser(ctx context.Context, slot, operation byte) error {
	_, err := m.send(ctx, setUserPassword, encodePassword(slot, operation, "", 0))
	if codeOf(err) == codeLengthInvalid {
		_, err = m.send(ctx, setUserPassword, encodePassword(slot, operation, "", shortPassword))
	}
	return err
}

// clear takes access, the ability to log in, and the name from a user that could not be completed.
func (m *maker) clear(ctx context.Context, slot byte) error {
	_, access := m.send(ctx, setUserAccess, encodeAccess(m.user.Channel, slot, noAccess))
	disabled := m.switchUser(ctx, slot, disableUser)
	_, name := m.send(ctx, setUserName, encodeName(slot, ""))
	return errors.Join(access, disabled, name)
}

// allowSOL lets the user use serial over LAN. A BMC that does not offer it is none to complain about, so the error is
// the caller's to show.
func (m *maker) allowSOL(ctx context.Context, slot byte) error {
	answer, err := m.send(ctx, getUserPayloadAccess, []byte{m.user.Channel & channelMask, slot})
	if err != nil {
		return err
	}
	if allowed, err := decodePayloads(answer); err != nil || allowed {
		return err
	}
	_, err = m.send(ctx, setUserPayloadAccess, encodeSOL(m.user.Channel, slot))
	return err
}

// send sends a command, again while the BMC is busy.
func (m *maker) send(ctx context.Context, command byte, data []byte) ([]byte, error) {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%s: not sent: %w", commandNames[command], err)
		}
		answer, err := m.bus.IPMI(netfnApp, command, data, commandTimeout)
		if err == nil {
			return answer, nil
		}
		switch codeOf(err) {
		case codeBusy, codeTimeout, codeInitializing:
			if try < busyTries && m.pause(ctx, busyPause) {
				continue
			}
		}
		return nil, explained(command, err)
	}
}
