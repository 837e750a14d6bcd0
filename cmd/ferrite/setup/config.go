package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// config is the text of ferrite.yaml, with the files of a folder. A certificate that was given stays where it is.
func (o *options) config(dir string) []byte {
	var out bytes.Buffer
	out.WriteString("# Every flag of `ferrite serve` is a key here; `ferrite docs configuration` lists them.\n" +
		"# Check a change with: ferrite serve --check --config " + o.path(configFile) + "\n")
	line := func(key string, value any) {
		raw, err := yaml.Marshal(map[string]any{key: value})
		if err != nil {
			panic(err) // of a string, a bool or a list of strings
		}
		out.Write(raw)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	line("data-dir", o.DataDir)
	line("api-address", o.APIAddress)
	line("auth", []string{"basic", "token"})
	line("htpasswd-file", in(htpasswdFile))
	line("users-file", in(usersFile))
	switch o.Certificate {
	case noCertificate:
	case makeCertificate:
		line("tls-cert", in(certificateFile))
		line("tls-key", in(keyFile))
	default:
		line("tls-cert", o.Certificate)
		line("tls-key", o.CertificateKey)
	}
	line("boot", o.Interface != "")
	for _, e := range []struct{ key, value string }{
		{"boot-interface", o.Interface}, {"boot-pool", o.Pool}, {"boot-router", o.Router}, {"dhcp", o.DHCP},
		{"ramdisk-kernel", o.Kernel}, {"ramdisk-initrd", o.Initrd},
	} {
		if e.value != "" && (o.Interface != "" || !strings.HasPrefix(e.key, "ramdisk")) {
			line(e.key, e.value)
		}
	}
	if len(o.DNS) > 0 {
		line("boot-dns", o.DNS)
	}
	return out.Bytes()
}

// refuseExisting refuses to replace a configuration without a flag. It accepts the unchanged configuration from the
// installation of a package, since that has no settings of an operator.
func (o *options) refuseExisting() error {
	was, err := os.ReadFile(o.path(configFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && o.overwrite:
		return nil
	case err != nil:
		return err
	}
	packaged := options{configDir: o.configDir, answers: answers{DataDir: o.DataDir, APIAddress: "127.0.0.1:" + apiPort,
		Certificate: noCertificate}}
	if bytes.Equal(was, packaged.config(o.configDir)) {
		return nil
	}
	return fmt.Errorf("%s is there, and nothing was changed: --overwrite replaces it, and keeps it as %s.old",
		o.path(configFile), configFile)
}
