package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// BMCSession is a session of a leader at a BMC, of a user.
type BMCSession struct {
	Address, User string
	Path, Token   string // secret
}

// id names a session without telling it.
func (b BMCSession) id() string {
	sum := sha256.Sum256([]byte(b.Path))
	return hex.EncodeToString(sum[:])
}

// keepSessions is how long an open session is remembered: BMCs end sessions by themselves within minutes or hours.
const keepSessions = 7 * 24 * time.Hour

// PutBMCSession remembers a session of this term.
func (s *Database) PutBMCSession(ctx context.Context, b BMCSession) error {
	secret, err := json.Marshal([]string{b.Path, b.Token})
	if err != nil {
		return err
	}
	group, epoch := s.lead.term()
	if s.seal.ring != nil {
		if secret, err = s.seal.ring.Seal(sealContext("bmc_sessions", b.Address+" "+b.id()), secret); err != nil {
			return fmt.Errorf("seal a session of a BMC: %w", err)
		}
	}
	return s.sessions(ctx, "INSERT INTO bmc_sessions (conductor_group, address, account, session, epoch, opened, sealed) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conductor_group, address, account, session) "+
		"DO UPDATE SET epoch = excluded.epoch, opened = excluded.opened, sealed = excluded.sealed",
		group, b.Address, b.User, b.id(), epoch, micros(time.Now()), secret)
}

// DeleteBMCSession forgets a session.
func (s *Database) DeleteBMCSession(ctx context.Context, b BMCSession) error {
	group, _ := s.lead.term()
	return s.sessions(ctx,
		"DELETE FROM bmc_sessions WHERE conductor_group = ? AND address = ? AND account = ? AND session = ?",
		group, b.Address, b.User, b.id())
}

// ForgetOldBMCSessions forgets sessions of earlier terms that must have run out. Their BMCs were not asked since.
func (s *Database) ForgetOldBMCSessions(ctx context.Context, now time.Time) error {
	group, epoch := s.lead.term()
	return s.sessions(ctx, "DELETE FROM bmc_sessions WHERE conductor_group = ? AND epoch < ? AND opened < ?", group, epoch,
		micros(now.Add(-keepSessions)))
}

func (s *Database) sessions(ctx context.Context, text string, args ...any) error {
	err := s.w.do(ctx, func(t *tx) error {
		_, err := t.exec(text, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("remember a session of a BMC: %w", err)
	}
	return nil
}

// LeftBMCSessions lists a user's sessions at a BMC from earlier terms. A session that does not open is left out: its
// key was lost, and it runs out by itself.
func (s *Database) LeftBMCSessions(ctx context.Context, address, user string) (left []BMCSession, err error) {
	group, epoch := s.lead.term()
	err = s.read.each(ctx, func(rows *sql.Rows) error {
		var id string
		var secret []byte
		if err := rows.Scan(&id, &secret); err != nil {
			return err
		}
		if s.seal.ring != nil {
			if secret, err = s.seal.ring.Open(sealContext("bmc_sessions", address+" "+id), secret); err != nil {
				return nil //nolint:nilerr // see above
			}
		}
		var parts []string
		if err := json.Unmarshal(secret, &parts); err != nil || len(parts) != 2 {
			return fmt.Errorf("the session %s at %s cannot be read: %w", id, address, err)
		}
		left = append(left, BMCSession{Address: address, User: user, Path: parts[0], Token: parts[1]})
		return nil
	}, "SELECT session, sealed FROM bmc_sessions WHERE conductor_group = ? AND address = ? AND account = ? AND epoch < ? "+
		"ORDER BY opened", group, address, user, epoch)
	if err != nil {
		return nil, fmt.Errorf("read the sessions of a BMC: %w", err)
	}
	return left, nil
}
