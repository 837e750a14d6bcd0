package setup

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/user"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ferrite": func() {
			server := &cobra.Command{Use: "server"}
			server.AddCommand(Command())
			os.Exit(cli.Run(context.Background(), cli.New("1.2.3-test", server, serve.Command(), user.Command())))
		},
	})
}

// TestScripts runs testdata/*.txt.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", Setup: func(env *testscript.Env) error {
		env.Setenv("GORACE", "atexit_sleep_ms=0")
		return nil
	}})
}

// TestCertificate: the certificate that is made is good for its names by its authority alone, and for servers alone.
func TestCertificate(t *testing.T) {
	now := time.Now()
	p, err := makeCertificates([]string{"10.0.0.1", "conductor.example.com"}, now)
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(p.cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if string(rest) != string(p.authority) {
		t.Error("the authority does not follow the certificate: agents could not be given its pin")
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(p.authority)
	for _, c := range []struct {
		name string
		at   time.Time
		good bool
	}{
		{"10.0.0.1", now, true}, {"conductor.example.com", now.AddDate(0, 0, certificateDays-1), true},
		{"10.0.0.2", now, false}, {"conductor.example.com", now.AddDate(0, 0, certificateDays+1), false},
	} {
		_, err := cert.Verify(x509.VerifyOptions{DNSName: c.name, Roots: trusted, CurrentTime: c.at})
		if (err == nil) != c.good {
			t.Errorf("%s at %s: %v; good expected: %v", c.name, c.at, err, c.good)
		}
	}
	if cert.IsCA {
		t.Error("a server's certificate can sign others")
	}
}
