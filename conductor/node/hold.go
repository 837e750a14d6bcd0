package node

import "time"

// RestoreHold says that a conductor acts on no machine: its database was restored from a backup, and may be older than
// the machines. It ends when an operator resumes. The zero value is none.
type RestoreHold struct {
	Since  time.Time // when it began
	Backup time.Time // when the backup was taken
}

// Held reports whether there is a hold.
func (h RestoreHold) Held() bool { return !h.Since.IsZero() }
