package nodeapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// AuditLine is one line of GET /ferrite/v1/audit: a recorded entry, and its place in its chain.
type AuditLine struct {
	ID     int64           `json:"id"`     // a reader continues with after=ID
	Chain  string          `json:"chain"`  // of one process of one conductor
	Number int64           `json:"number"` // from 1 on
	Hash   string          `json:"hash"`   // of the one before, and this one: see AuditHash
	Entry  json.RawMessage `json:"entry"`  // an AuditEntry
}

// AuditEntry records a request: its sender, its content and its result.
type AuditEntry struct {
	At        string        `json:"at"`
	Conductor string        `json:"conductor"`
	User      string        `json:"user,omitempty"`    // "" without authentication
	Project   string        `json:"project,omitempty"` // of the user
	Account   string        `json:"account,omitempty"` // that a refused login named
	From      string        `json:"from,omitempty"`    // address
	Method    string        `json:"method,omitempty"`
	Path      string        `json:"path,omitempty"`
	Status    int           `json:"status,omitempty"` // of the answer
	Request   string        `json:"request,omitempty"`
	Node      string        `json:"node,omitempty"` // UUID
	Name      string        `json:"name,omitempty"`
	Changes   []AuditChange `json:"changes,omitempty"`
	Omitted   int           `json:"omitted,omitempty"` // refused requests before it that have no entry of their own
	Previous  *AuditLink    `json:"previous,omitempty"`
	Note      string        `json:"note,omitempty"`
	// Pruned are the ends of the deleted parts of all chains up to now: this entry is the proof of the deletion.
	Pruned []AuditLink `json:"pruned,omitempty"`
}

// AuditChange is a field as it was and is; secrets are ******. Values are JSON, shortened.
type AuditChange struct {
	Field string `json:"field"`
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
}

// The bounds of an entry: characters of its texts, and bytes of its changes.
const (
	maxAuditText    = 256
	maxAuditChanges = 16 << 10
)

// Bound cuts an entry to some 20,000 bytes, the last changes first, and returns about how many it takes.
func (e *AuditEntry) Bound() int {
	size := 400 // of names of fields, times and hashes
	for _, text := range []*string{&e.User, &e.Project, &e.Account, &e.From, &e.Method, &e.Path, &e.Request, &e.Node,
		&e.Name, &e.Note} {
		*text = cutText(*text)
		size += len(*text)
	}
	changes := 0
	for i := range e.Changes {
		c := &e.Changes[i]
		c.Field = cutText(c.Field)
		if changes += len(c.Field) + len(c.Old) + len(c.New); changes > maxAuditChanges {
			e.Changes = append(e.Changes[:i:i], AuditChange{Field: fmt.Sprintf("%d more", len(e.Changes)-i)})
			break
		}
	}
	return size + min(changes, maxAuditChanges)
}

// cutText is the first characters of a text.
func cutText(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxAuditText {
			return text[:i] + "..."
		}
	}
	return text
}

// AuditLink is the end of the chain that the conductor wrote before.
type AuditLink struct {
	Chain  string `json:"chain"`
	Number int64  `json:"number"`
	Hash   string `json:"hash"`
}

// AuditLeastKept is the age below which entries cannot be deleted: a stolen login of an admin must not wipe its traces.
const AuditLeastKept = 30 * 24 * time.Hour

// AuditPruned is the answer of GET and POST /ferrite/v1/audit/pruned.
type AuditPruned struct {
	Pruned  []AuditLink `json:"pruned"`            // the last entry of each conductor that was deleted
	Entries int         `json:"entries,omitempty"` // that this request deleted
}

// AuditHash is the hash of an entry: SHA-256, in hex, over the hash of the one before ("" for the first of a chain),
// the chain, the number and the entry as it was written, each with its end of line.
func AuditHash(before, chain string, number int64, entry []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%d\n%s\n", before, chain, number, entry)
	return hex.EncodeToString(sum.Sum(nil))
}

// AuditCheck verifies the chains of an audit. The caller passes the lines in their order.
type AuditCheck struct {
	Count   int
	ends    map[string]AuditLink
	claimed map[AuditLink]bool // ends of deleted entries that no entry has named yet
}

// Begin has the chains go on after entries that were deleted. Done fails unless the audit names these.
func (c *AuditCheck) Begin(pruned []AuditLink) {
	c.ends, c.claimed = map[string]AuditLink{}, map[AuditLink]bool{}
	for _, l := range pruned {
		c.ends[l.Chain], c.claimed[l] = l, true
	}
}

// Done fails when entries were deleted, and no entry of the audit says so.
func (c *AuditCheck) Done() error {
	for l := range c.claimed {
		return fmt.Errorf("chain %s begins after entry %d, and no entry says why: entries are missing",
			l.Chain, l.Number)
	}
	return nil
}

// Add verifies one line. The error says which entry was changed, or that some before it are missing.
func (c *AuditCheck) Add(l AuditLine) error {
	if c.ends == nil {
		c.ends = map[string]AuditLink{}
	}
	end := c.ends[l.Chain]
	if l.Number != end.Number+1 {
		return fmt.Errorf("chain %s: after entry %d comes entry %d: entries are missing", l.Chain, end.Number, l.Number)
	}
	if want := AuditHash(end.Hash, l.Chain, l.Number, l.Entry); want != l.Hash {
		return fmt.Errorf("chain %s: entry %d was changed: its hash is %s, expected %s", l.Chain, l.Number, l.Hash, want)
	}
	var e AuditEntry
	if err := json.Unmarshal(l.Entry, &e); err != nil {
		return fmt.Errorf("chain %s: entry %d cannot be read: %w", l.Chain, l.Number, err)
	}
	if p := e.Previous; p != nil && c.ends[p.Chain] != *p {
		return fmt.Errorf("chain %s continues after entry %d of chain %s, which ends with entry %d: entries are missing",
			l.Chain,
			p.Number, p.Chain, c.ends[p.Chain].Number)
	}
	for _, p := range e.Pruned {
		delete(c.claimed, p)
	}
	c.ends[l.Chain] = AuditLink{l.Chain, l.Number, l.Hash}
	c.Count++
	return nil
}

// Ends are the last entries of all chains.
func (c *AuditCheck) Ends() (all []AuditLink) {
	for _, end := range c.ends {
		all = append(all, end)
	}
	return all
}
