package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
)

// login holds the caller's identity at the conductor, and the means to verify the conductor's own.
type login struct {
	user, passwordFile, tokenFile string
	caFile                        string
	insecure                      bool

	password, token string // from the files or the environment, once opened
}

// Add declares the flags. Secrets have none: a command line is everybody's to see.
func (l *login) Add(f *pflag.FlagSet) {
	f.StringVar(&l.user, "user", os.Getenv("FERRITE_USER"),
		"log in as this `user`, also $FERRITE_USER; the password is in $FERRITE_PASSWORD or --user-password-file")
	f.StringVar(&l.passwordFile, "user-password-file", "",
		"`file` whose first line is the user's password; - is standard input")
	f.StringVar(&l.tokenFile, "token-file", "",
		"`file` whose first line is a token to log in with; - is standard input; $FERRITE_TOKEN is a token itself")
	f.StringVar(&l.caFile, "ca-file", os.Getenv("FERRITE_CACERT"),
		"PEM `file` of certificates to trust for https, also $FERRITE_CACERT")
	f.BoolVar(&l.insecure, "insecure", false,
		"do not check the conductor's certificate: any server that answers gets passwords and tokens")
}

// open gathers the secrets.
func (l *login) open(stdin io.Reader) error {
	l.password, l.token = os.Getenv("FERRITE_PASSWORD"), os.Getenv("FERRITE_TOKEN")
	for _, f := range []struct {
		flag, path string
		to         *string
	}{{"--user-password-file", l.passwordFile, &l.password}, {"--token-file", l.tokenFile, &l.token}} {
		if f.path == "" {
			continue
		}
		var err error
		if *f.to, err = secret.FirstLine(stdin, f.flag, f.path); err != nil {
			return err
		}
	}
	if l.user == "" && l.passwordFile != "" {
		return errors.New("--user-password-file needs --user")
	}
	if l.user != "" && l.password == "" && l.token == "" {
		return fmt.Errorf("the password of user %s is missing: set FERRITE_PASSWORD or --user-password-file",
			l.user)
	}
	return nil
}

// authorize puts the credentials on a request: a token, or else a name and its
// password.
func (l *login) authorize(r *http.Request) {
	switch {
	case l.token != "":
		r.Header.Set("X-Auth-Token", l.token)
	case l.user != "":
		r.SetBasicAuth(l.user, l.password)
	}
}

// transport makes connections that verify the conductor's certificate.
func (l *login) transport() (http.RoundTripper, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: l.insecure}
	if l.caFile != "" {
		pem, err := os.ReadFile(l.caFile)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--ca-file %s: expected a certificate in PEM, found none", l.caFile)
		}
	}
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("the HTTP client is a %T, expected *http.Transport", http.DefaultTransport)
	}
	t = t.Clone()
	t.TLSClientConfig = conf
	// All commands share few connections and keep them: a server gives an address 64, and others may be behind the same.
	t.MaxConnsPerHost, t.MaxIdleConnsPerHost = maxConnections, maxConnections
	return t, nil
}
