package pxe_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/pxe"
)

// TestReasons: every reason has its words, and they fit a line beside the request.
func TestReasons(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[pxe.Reason]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Type != nil && len(v.Values) == 1 {
			if text, ok := v.Values[0].(*ast.BasicLit); ok {
				code, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				declared[pxe.Reason(code)] = true
			}
		}
		return true
	})
	explained := pxe.Reasons()
	if len(declared) < 20 || len(declared) != len(explained) {
		t.Errorf("%d reasons are declared, %d explained", len(declared), len(explained))
	}
	for reason := range declared {
		e := pxe.Event{Reason: reason, Server: netip.MustParseAddr("10.77.0.254"), Detail: "iPXE error 3e11623b"}
		why, try := e.Why()
		const room = 46 // of 120 columns, beside time, machine, address and request
		if why == "" || try == "" || strings.ContainsAny(why+try, "{}") || len(why+": "+try) > room {
			t.Errorf("%s: %d columns: %s: %s", reason, len(why+": "+try), why, try)
		}
	}
	if why, try := (pxe.Event{}).Why(); why+try != "" {
		t.Errorf("no reason is %q, %q", why, try)
	}
}

// TestAsked: requests in words.
func TestAsked(t *testing.T) {
	for want, e := range map[string]pxe.Event{
		"DISCOVER BIOS":         {Service: pxe.DHCP, Message: "DISCOVER", Firmware: pxe.BIOS},
		"DISCOVER UEFI x64":     {Service: pxe.DHCP, Message: "DISCOVER", Firmware: pxe.UEFI, Arch: 7},
		"REQUEST UEFI arm64":    {Service: pxe.ProxyDHCP, Message: "REQUEST", Firmware: pxe.UEFI, Arch: 11},
		"DISCOVER HTTP x64":     {Service: pxe.DHCP, Message: "DISCOVER", Firmware: pxe.UEFIHTTP, Arch: 16},
		"DISCOVER UEFI arch 99": {Service: pxe.DHCP, Message: "DISCOVER", Firmware: pxe.UEFI, Arch: 99},
		"DISCOVER iPXE":         {Service: pxe.DHCP, Message: "DISCOVER", Firmware: pxe.IPXE, Arch: 7},
		"REQUEST OS":            {Service: pxe.DHCP, Message: "REQUEST", Firmware: pxe.System},
		"packet":                {Service: pxe.DHCP, Message: "packet"},
		"TFTP snponly.efi":      {Service: pxe.TFTP, Message: "READ", File: "snponly.efi", Firmware: pxe.UEFI},
		"TFTP":                  {Service: pxe.TFTP, Message: "READ"},
		"GET /ipxe/start":       {Service: pxe.HTTP, Message: "GET", File: "/ipxe/start"},
		"GET script":            {Service: pxe.HTTP, Message: "GET", File: "/ipxe/52-54-00-77-00-01"},
		"GET kernel":            {Service: pxe.HTTP, Message: "GET", File: "/boot/52-54-00-77-00-01/kernel"},
		"GET snponly.efi":       {Service: pxe.HTTP, Message: "GET", File: "/loader/snponly.efi"},
		"GET /deploy/":          {Service: pxe.HTTP, Message: "GET", File: "/deploy/"},
		"OFFER heard":           {Service: pxe.Neighbour, Message: "OFFER"},
	} {
		if got := e.Asked(); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
}
