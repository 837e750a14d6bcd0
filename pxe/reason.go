package pxe

import "strings"

// Reason is why a request on the boot network is not answered, or why its machine boots nothing.
type Reason string

// The reasons. Each has a row in reasons.
const (
	ReasonNoSubnet       Reason = "no-subnet"
	ReasonUnknown        Reason = "unknown-mac"
	ReasonNoRamdisk      Reason = "no-ramdisk"
	ReasonNotToBoot      Reason = "not-to-boot"
	ReasonOtherPort      Reason = "other-port"
	ReasonMedium         Reason = "virtual-media"
	ReasonNoLoader       Reason = "no-loader"
	ReasonPoolEmpty      Reason = "pool-empty"
	ReasonStrangers      Reason = "strangers-half"
	ReasonNoPool         Reason = "no-pool"
	ReasonReservation    Reason = "reservation"
	ReasonOtherServer    Reason = "other-server"
	ReasonNoRecord       Reason = "no-record"
	ReasonNoAddress      Reason = "no-address"
	ReasonWrongAddress   Reason = "wrong-address"
	ReasonWrongNetwork   Reason = "wrong-network"
	ReasonNotSaved       Reason = "not-saved"
	ReasonPolicy         Reason = "policy"
	ReasonSystem         Reason = "system"
	ReasonNotSent        Reason = "not-sent"
	ReasonMalformed      Reason = "malformed"
	ReasonBusy           Reason = "busy"
	ReasonNoFile         Reason = "no-file"
	ReasonUnreadable     Reason = "unreadable"
	ReasonReadOnly       Reason = "read-only"
	ReasonNotLent        Reason = "not-lent"
	ReasonBadPath        Reason = "bad-path"
	ReasonExpired        Reason = "expired"
	ReasonTicket         Reason = "no-ticket"
	ReasonFailed         Reason = "boot-failed"
	ReasonUnexpectedDHCP Reason = "unexpected-dhcp"
	ReasonHeld           Reason = "held"
)

// Explanation is a reason in words. Each is short: both fit a line of a terminal, beside the
// request. {server} in them stands for the other DHCP server, {detail} for the event's detail.
type Explanation struct{ Why, Try string }

var reasons = map[Reason]Explanation{
	ReasonNoSubnet:       {"no such subnet", "add it to boot-subnets"},
	ReasonUnknown:        {"unknown MAC", "enrol it, or set --discovery"},
	ReasonNoRamdisk:      {"no ramdisk is configured", "set --ramdisk"},
	ReasonNotToBoot:      {"not to boot now", "ferrite node status NODE"},
	ReasonOtherPort:      {"pxe_enabled false", "change port or boot order"},
	ReasonMedium:         {"by virtual media", "ferrite node status NODE"},
	ReasonNoLoader:       {"no boot loader for it", "use x64 or BIOS"},
	ReasonPoolEmpty:      {"the pool is empty", "widen it"},
	ReasonStrangers:      {"strangers have half the pool", "enrol them"},
	ReasonNoPool:         {"no pool there", "ferrite lease reserve MAC IP"},
	ReasonReservation:    {"reserved in another subnet", "reserve anew"},
	ReasonOtherServer:    {"it chose {server}", "stop that server"},
	ReasonNoRecord:       {"no record of its address", "it asks anew"},
	ReasonNoAddress:      {"it names no address", "update its firmware"},
	ReasonWrongAddress:   {"the address is another's", "it asks anew"},
	ReasonWrongNetwork:   {"address of another network", "it asks anew"},
	ReasonNotSaved:       {"lease not on record", "conductor's log"},
	ReasonPolicy:         {"boot policy failed", "conductor's log"},
	ReasonSystem:         {"no firmware, no boot file", "nothing"},
	ReasonNotSent:        {"the answer was not sent", "conductor's log"},
	ReasonMalformed:      {"malformed", "look at it with tcpdump"},
	ReasonBusy:           {"too many transfers", "it asks again"},
	ReasonNoFile:         {"no such file", "use the name DHCP gives"},
	ReasonUnreadable:     {"file cannot be read", "conductor's log"},
	ReasonReadOnly:       {"not a read request", "only reading is served"},
	ReasonNotLent:        {"its IP is not lent to the MAC", "--other-dhcp?"},
	ReasonBadPath:        {"nothing there", "ferrite boot snippet SERVER"},
	ReasonExpired:        {"the path has expired", "start it again"},
	ReasonTicket:         {"no ticket for this file", "deploy anew"},
	ReasonFailed:         {"boot failed", "{detail}"},
	ReasonUnexpectedDHCP: {"unexpected server", "stop it, or --dhcp"},
	ReasonHeld:           {"restored, not resumed", "ferrite server resume"},
}

// Why explains the reason, and how to mend it; both are "" without a reason.
func (e Event) Why() (why, try string) {
	is := reasons[e.Reason]
	fill := strings.NewReplacer("{server}", e.Server.String(), "{detail}", e.Detail)
	return fill.Replace(is.Why), fill.Replace(is.Try)
}

// Reasons are all there are, with their texts.
func Reasons() map[Reason]Explanation {
	all := make(map[Reason]Explanation, len(reasons))
	for r, text := range reasons {
		all[r] = text
	}
	return all
}
