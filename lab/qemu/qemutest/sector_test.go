package qemutest

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestBootSector(t *testing.T) {
	sector, err := BootSector("hello", PowerOff())
	if err != nil {
		t.Fatal(err)
	}
	if len(sector) != 512 || sector[510] != 0x55 || sector[511] != 0xaa {
		t.Errorf("not a boot sector: %d octets, ends in % x", len(sector), sector[510:])
	}
	// As GNU as assembles it: the message's address is the address after the code.
	want := "31c08ed8be287cac84c0741288c4bafd03eca82074f888e0baf803eeebe9ba0406b80020eff4ebfd" +
		hex.EncodeToString([]byte("hello\r\n\x00"))
	if got := hex.EncodeToString(sector); !strings.HasPrefix(got, want) {
		t.Errorf("code\n%s, expected\n%s", got[:len(want)], want)
	}
	if _, err := BootSector(strings.Repeat("x", 500), Halt()); err == nil {
		t.Error("a line that does not fit was accepted")
	}
}
