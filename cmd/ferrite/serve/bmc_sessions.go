package serve

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// bmcSessions are sessions at BMCs that the next leader ends.
type bmcSessions struct{ db *store.Database }

// Left are the sessions of a user that earlier leaders have left at a BMC.
func (b bmcSessions) Left(ctx context.Context, address, user string) (left []redfish.Session, err error) {
	found, err := b.db.LeftBMCSessions(ctx, address, user)
	for _, s := range found {
		left = append(left, redfish.Session{Path: s.Path, Token: s.Token})
	}
	return left, err
}

// Opened remembers a session.
func (b bmcSessions) Opened(ctx context.Context, address, user string, s redfish.Session) error {
	return b.db.PutBMCSession(ctx, store.BMCSession{Address: address, User: user, Path: s.Path, Token: s.Token})
}

// Closed forgets a session.
func (b bmcSessions) Closed(ctx context.Context, address, user string, s redfish.Session) error {
	return b.db.DeleteBMCSession(ctx, store.BMCSession{Address: address, User: user, Path: s.Path, Token: s.Token})
}
