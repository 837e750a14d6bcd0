package ramdisk

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// BootWord is the one-time token for the boot script of a node; "" when there is none to give. Its hash is saved before
// it is returned. A script that is requested again in the same boot holds the same word, until an agent has used it.
func (e *Ramdisks) BootWord(ctx context.Context, uuid string) (string, error) {
	if !e.RamdiskAuth.Words {
		return "", nil
	}
	for range core.MaxTries {
		n, err := e.Node(ctx, uuid)
		if err != nil {
			return "", err
		}
		if !plan.WantsRamdisk(n) || n.Agent.TokenSent {
			return "", nil
		}
		if word := e.makeWord(n); n.Agent.IsWord(word) {
			return word, nil
		}
		n = n.Clone()
		var salt [16]byte
		rand.Read(salt[:]) // never fails: it ends the program instead
		n.Agent.WordSalt = hex.EncodeToString(salt[:])
		word := e.makeWord(n)
		n.Agent.WordHash, n.Agent.Unproven = node.WordHash(word), false
		if _, err = e.commitHeld(ctx, n); errors.Is(err, node.ErrStale) {
			continue
		}
		return word, err
	}
	return "", e.Locked(uuid)
}

// ScriptAsked notes that the machine of a node asks for its boot script, from the address that DHCP lent to it at a
// time. It refuses an address that was not lent in this boot: any machine may take the address of a machine that is
// off. If the machine was already proven in this boot, it has restarted. Then its run ends, because the agent it would
// wait for is gone.
func (e *Ramdisks) ScriptAsked(ctx context.Context, n node.Node, from netip.Addr, lent time.Time) (node.Node, error) {
	if !e.RamdiskAuth.Leases {
		return n, nil
	}
	if lent.Before(n.Agent.Since) && plan.WantsRamdisk(n) {
		return n, e.turnAway(ctx, n, node.Caller{From: from}, "boot script", notLent)
	}
	if !plan.Proven(n) {
		return n, nil
	}
	return e.Act(ctx, n.UUID, plan.ScriptAsked{From: from})
}

// makeWord derives the word of a boot from its salt. So the word is stored nowhere, and a restarted conductor can
// repeat it. It has the length that ironic-python-agent requires of tokens.
func (e *Ramdisks) makeWord(n node.Node) string {
	mac := hmac.New(sha256.New, e.RamdiskAuth.Key)
	mac.Write([]byte("boot word\x00" + n.UUID + "\x00" + n.Agent.WordSalt))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Whether a lookup is answered, and how.
type verdict int

const (
	refuse   verdict = iota
	issue            // with the token
	acquaint         // with the token masked: the caller holds it, or its boot's word
)

// Why lookups and inspection data are refused: for the log, the node's history
// and its boot stages.
const (
	askedTwice = "its token was given out before"
	wrongWord  = "the caller does not know the one-time token of this boot"
	notLent    = "the machine has no lease of this boot: another machine has the address of an earlier boot"
	noScript   = "no boot script was requested in this boot"
	oldRamdisk = "the ramdisk was built before boots had one-time tokens; rebuild the ramdisk with ferrite ramdisk build"
)

// verdictOnLookup decides on a caller with a correct address.
func (e *Ramdisks) verdictOnLookup(n node.Node, c node.Caller) (verdict, string) {
	a := n.Agent
	switch {
	case a.Token != "" && core.SameToken(a.Token, c.Word):
		return acquaint, ""
	case a.TokenSent && (a.URL != "" || e.Memory.WasIssued(n.UUID) && !heldBy(a, c)):
		if calledFrom(a, c.From) { // ironic-python-agent does so before it writes an image
			return acquaint, ""
		}
		return refuse, askedTwice
	case !e.RamdiskAuth.Words || a.Unproven:
		return issue, ""
	case c.Old:
		return refuse, oldRamdisk
	case a.WordHash == "" && e.RamdiskAuth.Leases && plan.ByLeaseAlone(n): // the caller has the machine's lease
		return issue, ""
	case a.WordHash == "":
		return refuse, noScript
	case a.IsWord(c.Word):
		return issue, ""
	case c.Word == "": // ironic-python-agent, to which the word is its token (ipa-agent-token)
		return acquaint, ""
	}
	return refuse, wrongWord
}

// heldBy reports whether this boot's token was given to this caller's address, and no agent has used it yet. The answer
// may have been lost with the conductor or proxy that passed it on, while the leader lives. It is given again, because
// otherwise the machine asks until its run times out. A caller must still show the word. If there is none, the address
// decides, as for the first call: docs/boot-identity.md says why.
func heldBy(a node.Agent, c node.Caller) bool {
	return a.Token != "" && a.URL == "" && a.Caller == c.From.Unmap().String()
}

// verdictOnData decides on a sender of inspection data.
func (e *Ramdisks) verdictOnData(n node.Node, c node.Caller) (verdict, string) {
	switch a := n.Agent; {
	case !e.RamdiskAuth.Words || a.Unproven || !c.Old && a.IsWord(c.Word),
		!c.Old && a.WordHash == "" && e.RamdiskAuth.Leases && plan.ByLeaseAlone(n):
		return acquaint, ""
	case c.Old:
		return refuse, oldRamdisk
	case a.WordHash == "":
		return refuse, noScript
	}
	return refuse, wrongWord
}

// turnAway refuses a ramdisk: the caller learns nothing, the operator all, once
// for each boot and reason.
func (e *Ramdisks) turnAway(ctx context.Context, n node.Node, c node.Caller, what, why string) error {
	e.warnOf(ctx, what+" refused", n.UUID, "from", c.From, "err", why)
	// The leased address shows that the machine's own ramdisk is too old, and it asks until
	// it is refused no more.
	proven := why == oldRamdisk && e.RamdiskAuth.Leases && n.ProvisionState.Class() == node.Waiting
	first := e.Memory.First(n.UUID, what+why)
	if !first && !proven {
		return unknownRamdisk()
	}
	e.Memory.Stage(n.UUID, core.BootStage{Name: what + " refused", Detail: why + " (from " + c.From.String() + ")",
		At: e.Now()}, false)
	if _, err := e.Act(ctx, n.UUID, plan.RamdiskRefused{Reason: what + " from " + c.From.String() + " refused: " + why,
		Proven: proven, Recorded: !first}); err != nil {
		e.Log.Error("a refused ramdisk is not in the history", "node", n.UUID, "err", err)
	}
	return unknownRamdisk()
}
