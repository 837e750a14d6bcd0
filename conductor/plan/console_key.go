package plan

// ConsoleKeySeen is the SSH host key that the BMC of a console has shown, and that was accepted. It is known from then
// on.
type ConsoleKeySeen struct {
	simple
	Address, Key string
}

func (e ConsoleKeySeen) handle(d *decision) error {
	if d.n.ConsoleKey(e.Address) != e.Key {
		d.n.SetConsoleKey(e.Address, e.Key)
		d.dirty = true
	}
	return nil
}
