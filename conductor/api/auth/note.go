package auth

import "context"

// Note is who a request was found to come from, for those who keep records of it.
type Note struct {
	Caller  *Caller // nil while nobody was identified
	Account string  // that a refused login named
	Known   bool    // there is such an account
	// Admit refuses a request of a caller who was identified; nil for none.
	Admit func(*Caller) error
}

type noteKey struct{}

// WithNote has Authenticate note whom it finds.
func WithNote(ctx context.Context) (context.Context, *Note) {
	n := &Note{}
	return context.WithValue(ctx, noteKey{}, n), n
}

// Noted is who a request was found to come from; nil for nobody, or for what is no request.
func Noted(ctx context.Context) *Caller {
	n, ok := ctx.Value(noteKey{}).(*Note)
	if !ok {
		return nil
	}
	return n.Caller
}

// note takes note of the outcome of a login. The error is that of Note.Admit.
func (a *Authenticator) note(ctx context.Context, c *Caller, account string) error {
	n, ok := ctx.Value(noteKey{}).(*Note)
	if !ok {
		return nil
	}
	if n.Caller = c; c == nil {
		n.Account, n.Known = shortened(account), a.passwords != nil && a.passwords.Get().hashes[account] != nil
		return nil
	}
	if n.Admit != nil {
		return n.Admit(c)
	}
	return nil
}
