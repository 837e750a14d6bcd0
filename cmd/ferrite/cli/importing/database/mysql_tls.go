package database

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// mode is how far TLS goes, as MySQL's own client names it.
type mode int

const (
	disabled  mode = iota
	preferred      // the default: TLS where the server offers it
	required
	verifyCA
	verifyIdentity
)

var modes = []string{"DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"}

func (m mode) String() string { return modes[m] }

// demand is the range of modes that an option allows.
type demand struct {
	option, value string // "": any value, as of files
	least, most   mode
}

// demands is THE table of options about TLS: of the Python drivers PyMySQL and mysqlclient.
var demands = []demand{
	{"ssl_mode", "DISABLED", disabled, disabled},
	{"ssl_mode", "PREFERRED", preferred, verifyIdentity},
	{"ssl_mode", "REQUIRED", required, verifyIdentity},
	{"ssl_mode", "VERIFY_CA", verifyCA, verifyIdentity},
	{"ssl_mode", "VERIFY_IDENTITY", verifyIdentity, verifyIdentity},
	{"ssl_disabled", "true", disabled, disabled},
	{"ssl_disabled", "false", disabled, verifyIdentity},
	{"ssl", "true", required, verifyIdentity},
	{"ssl", "false", disabled, disabled},
	{"ssl_ca", "", verifyCA, verifyIdentity},
	{"ssl_cert", "", required, verifyIdentity},
	{"ssl_key", "", required, verifyIdentity},
	{"ssl_verify_cert", "true", verifyCA, verifyIdentity},
	{"ssl_verify_cert", "false", required, required},
	{"ssl_verify_identity", "true", verifyIdentity, verifyIdentity},
	{"ssl_verify_identity", "false", disabled, verifyCA},
	{"ssl_check_hostname", "true", verifyIdentity, verifyIdentity},
	{"ssl_check_hostname", "false", disabled, verifyCA},
}

// tlsMode is the mode that options ask for together. The strongest demand counts; contradictions are refused, since
// either way something that was asked for would not happen.
func tlsMode(of url.Values) (mode, error) {
	low, high := demand{least: disabled}, demand{most: verifyIdentity}
	for _, d := range demands {
		if of.Get(d.option) == "" {
			continue
		}
		value, err := spelt(d.option, of.Get(d.option))
		if err != nil {
			return 0, err
		}
		if d.value != "" && d.value != value {
			continue
		}
		if d.least > low.least {
			low = d
		}
		if d.most < high.most {
			high = d
		}
	}
	switch {
	case low.least > high.most:
		return 0, fmt.Errorf("the option %s=%s contradicts %s=%s: leave one of them out", low.option,
			of.Get(low.option), high.option, of.Get(high.option))
	case low.option == "":
		return min(preferred, high.most), nil
	case low.least == verifyCA && of.Get("ssl_mode") == "": // for the drivers of Python this includes the name
		return high.most, nil
	}
	return low.least, nil
}

// spelt is a value as the table spells it.
func spelt(option, value string) (string, error) {
	switch option {
	case "ssl_ca", "ssl_cert", "ssl_key":
		return value, nil
	case "ssl_mode":
		if m := strings.ToUpper(value); slices.Contains(modes, m) {
			return m, nil
		}
		return "", fmt.Errorf("the option ssl_mode is %q: expected one of %s", value, strings.Join(modes, ", "))
	}
	switch strings.ToLower(value) {
	case "true", "1", "yes", "on":
		return "true", nil
	case "false", "0", "no", "off":
		return "false", nil
	}
	return "", fmt.Errorf("the option %s is %q: expected true or false", option, value)
}

func tlsConfig(mode mode, of url.Values) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: mode != verifyIdentity}
	if file := of.Get("ssl_ca"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("the option ssl_ca: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the option ssl_ca: %s: expected a certificate in PEM, found none", file)
		}
	}
	if cert, key := of.Get("ssl_cert"), of.Get("ssl_key"); cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("the options ssl_cert and ssl_key: %w", err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	if mode == verifyCA {
		conf.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, conf.RootCAs) }
	}
	return conf, nil
}

// verifyChain checks a certificate for any name.
func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the server shows no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	return err
}
