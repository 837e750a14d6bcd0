package netswitch

import "time"

// Times of LACP (802.1AX-2020, 6.4.4): between two PDUs, and until one is missed. The
// switch asks for the fast ones.
const (
	fastPeriod = time.Second
	slowPeriod = 30 * time.Second
	shortWait  = 3 * fastPeriod
)

// member is a port of an aggregate: the switch's end of LACP.
type member struct {
	actor   End
	partner End
	heard   time.Time // zero: never, or too long ago
	sent    time.Time
}

// receive takes a PDU. others are the aggregate's other ports. It returns true when the
// partner has to learn something new.
func (m *member) receive(now time.Time, p PDU, others []*member) (send bool) {
	m.partner, m.heard = p.Actor, now
	before := m.actor.State
	m.actor.State = Active | ShortTimeout | Aggregation
	if p.Actor.State&Aggregation != 0 && m.fits(others) {
		m.actor.State |= Synchronization
		if p.Actor.State&Synchronization != 0 && p.Partner.same(m.actor) {
			m.actor.State |= Collecting | Distributing
		}
	}
	return m.actor.State != before || !p.Partner.same(m.actor) || p.Partner.State != m.actor.State
}

// fits reports whether the partner is also the partner of the aggregate's other ports: all lead to one bond of one
// machine.
func (m *member) fits(others []*member) bool {
	for _, o := range others {
		if o != m && o.actor.State&Synchronization != 0 &&
			(o.partner.System != m.partner.System || o.partner.Key != m.partner.Key) {
			return false
		}
	}
	return true
}

// tick takes note of a partner that has fallen silent. It returns true when a PDU is due.
func (m *member) tick(now time.Time) (send bool) {
	if !m.heard.IsZero() && now.Sub(m.heard) > shortWait {
		m.forget()
		return true
	}
	period := slowPeriod
	if m.heard.IsZero() || m.partner.State&ShortTimeout != 0 {
		period = fastPeriod
	}
	return now.Sub(m.sent) >= period
}

// forget goes back to a link without partner.
func (m *member) forget() {
	m.partner, m.heard = End{}, time.Time{}
	m.actor.State = Active | ShortTimeout | Aggregation | Defaulted
}

// pdu is the LACPDU that the port sends now.
func (m *member) pdu(now time.Time) PDU {
	m.sent = now
	return PDU{Actor: m.actor, Partner: m.partner}
}

// carries reports whether frames go through the port.
func (m *member) carries() bool {
	return m.actor.State&(Collecting|Distributing) == Collecting|Distributing
}
