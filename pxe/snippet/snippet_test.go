package snippet

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/pxe/pxetest"
)

func TestMain(m *testing.M) {
	pxetest.UpdateFlag()
	m.Run()
}

func TestText(t *testing.T) {
	for _, server := range Servers() {
		text, err := Text(server, "http://10.77.0.1:8088")
		if err != nil {
			t.Fatal(err)
		}
		pxetest.Golden(t, server+".txt", text)
	}
}

func TestRefused(t *testing.T) {
	for want, in := range map[string][2]string{
		"expected one of dnsmasq, isc, kea, windows": {"bind", "http://10.77.0.1:8088"},
		"expected http://ADDRESS:PORT":               {"kea", "https://10.77.0.1:8088"},
		"expected an IPv4 address":                   {"kea", "http://conductor:8088"},
		"of boot HTTP is \"\"":                       {"kea", ""},
	} {
		_, err := Text(in[0], in[1])
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", in, err, want)
		}
	}
}
