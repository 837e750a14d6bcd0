package contact

import (
	"strings"
	"testing"
)

func TestBMCUserURL(t *testing.T) {
	const node = "7c56f0bb-608b-4e81-a390-78a61614de7c"
	const path = "/ferrite/v1/agents/" + node + "/bmc_user"
	for inspection, want := range map[string]string{
		"https://10.0.0.1:6385/v1/continue_inspection":                    "https://10.0.0.1:6385" + path,
		"https://proxy.example/ferrite/v1/continue_inspection/":           "https://proxy.example/ferrite" + path,
		"https://[2001:db8::1]/v1/continue_inspection?boot_word=the-word": "https://[2001:db8::1]" + path,
		"https://10.0.0.1:5050/v1/continue":                               "",
		"https://10.0.0.1:xx/":                                            "",
	} {
		got, err := bmcUserURL(inspection, node)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, expected %q", inspection, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "the-word") {
			t.Errorf("the error shows the word of the boot: %v", err)
		}
	}
}

func TestCheckBMCUser(t *testing.T) {
	secure := []string{"https://10.0.0.1/v1/continue_inspection"}
	for name, tc := range map[string]struct {
		options Options
		urls    []string
		want    string
	}{
		"pinned":                {Options{Pins: [][]byte{{1}}, Insecure: true}, secure, ""},
		"by the system's roots": {Options{}, secure, ""},
		"any certificate":       {Options{Insecure: true}, secure, "not checked"},
		"one of two in clear":   {Options{}, append(secure, "http://10.0.0.1/v1/continue_inspection"), "not called by https"},
	} {
		err := New(tc.options).CheckBMCUser(tc.urls)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
