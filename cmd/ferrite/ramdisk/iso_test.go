package ramdisk

import "testing"

// TestISOLine: the operator's words come last, where the kernel lets them win.
func TestISOLine(t *testing.T) {
	o := isoOptions{api: "http://192.0.2.1:6385/", mac: "52:54:00:00:00:01", extra: "panic=0"}
	want := "ipa-api-url=http://192.0.2.1:6385 boot_method=vmedia ferrite.media=0 panic=10 " +
		"BOOTIF=52:54:00:00:00:01 panic=0"
	if got, err := o.cmdline(); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}
