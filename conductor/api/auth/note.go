package auth

import "context"

// Note records the outcome of a login, for the audit and other records of the request.
type Note struct {
	Caller  *Caller // nil until a sender is identified
	Account string  // that a refused login named
	Known   bool    // there is such an account
	// Admit refuses a request of an identified caller; nil admits all.
	Admit func(*Caller) error
}

type noteKey struct{}

// WithNote has Authenticate write its result to the note.
func WithNote(ctx context.Context) (context.Context, *Note) {
	n := &Note{}
	return context.WithValue(ctx, noteKey{}, n), n
}

// Noted returns the caller that Authenticate identified; nil without one, or outside a request.
func Noted(ctx context.Context) *Caller {
	n, ok := ctx.Value(noteKey{}).(*Note)
	if !ok {
		return nil
	}
	return n.Caller
}

// note records the outcome of a login. It returns the error of Note.Admit.
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
