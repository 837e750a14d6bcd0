//go:build e2e

package clients

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/bcrypt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
)

// kubectlPath is Debian's, of its package kubernetes-client, unless another is to
// be tried.
func kubectlPath() string { return cmp.Or(os.Getenv("KUBECTL"), "/usr/bin/kubectl") }

// TestE2EKubectl runs testdata/kubectl/*.txt: kubectl, unmodified, against a
// conductor, one to each script.
func TestE2EKubectl(t *testing.T) {
	installed(t, kubectlPath(), "kubernetes-client")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/kubectl", ContinueOnError: true, // the further failures are worth a look
		Setup: func(env *testscript.Env) error {
			tb, ok := env.T().(testing.TB)
			if !ok {
				return fmt.Errorf("%T is no testing.TB", env.T())
			}
			bin := filepath.Join(env.WorkDir, "bin")
			if err := os.Mkdir(bin, 0o755); err != nil {
				return err
			}
			if err := os.Symlink(kubectlPath(), filepath.Join(bin, "kubectl")); err != nil {
				return err
			}
			c := &servetest.Conductor{}
			args, config, err := kubectlAccess(tb, c, env.WorkDir, filepath.Base(tb.Name()) == "roles")
			if err != nil {
				return err
			}
			servetest.StartFor(tb, c, serve.Command(), filepath.Join(tb.TempDir(), "data"), args...)
			env.Defer(func() { c.End(tb) })
			if err := os.WriteFile(filepath.Join(env.WorkDir, "kubeconfig"), fmt.Appendf(nil, config, c.URL),
				0o600); err != nil {
				return err
			}
			env.Setenv("PATH", bin+":"+env.Getenv("PATH"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("KUBECONFIG", filepath.Join(env.WorkDir, "kubeconfig"))
			env.Setenv("URL", c.URL)
			env.Values["conductor"], env.Values["followers"], env.Values["test"] = c, map[string]*follower{}, tb
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": putStatus, "follow": follow,
			"sees": sees, "unfollow": unfollow, "halt": halt, "churn": churn, "machine": startMachine},
		Condition: kubectlKnows,
	})
}

// kubectlAccess is the arguments of a conductor and the configuration of a
// kubectl, which has one user for each role where a script is about roles. That
// is over TLS: kubectl sends no password without.
func kubectlAccess(t testing.TB, c *servetest.Conductor, dir string, roles bool) (args []string, config string,
	err error) {
	const open = `{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "%s"}}], contexts: [{name: c, context: {cluster: c, namespace: metal3}}], current-context: c}`
	if !roles {
		return nil, open, nil
	}
	users, passwords := filepath.Join(dir, "users.yaml"), filepath.Join(dir, "passwords")
	sum, err := bcrypt.GenerateFromPassword([]byte("open sesame"), bcrypt.MinCost)
	if err != nil {
		return nil, "", err
	}
	if err := os.WriteFile(passwords, fmt.Appendf(nil, "olga:%s\nrita:%s\n", sum, sum), 0o600); err != nil {
		return nil, "", err
	}
	if err := os.WriteFile(users, []byte("users:\n- {name: olga, role: operator}\n- {name: rita, role: reader}\n"),
		0o600); err != nil {
		return nil, "", err
	}
	authority := certtest.New(t)
	chain, key := authority.Server("127.0.0.1")
	certFile, keyFile := certtest.Write(t, dir, chain, key)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM())
	c.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	t.Cleanup(c.HTTP.CloseIdleConnections)
	c.Sign = func(r *http.Request) { r.SetBasicAuth("olga", "open sesame") }
	closed := `{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "%s", certificate-authority-data: ` +
		base64.StdEncoding.EncodeToString(authority.PEM()) + `}}], current-context: olga,
 users: [{name: olga, user: {username: olga, password: open sesame}}
 , {name: rita, user: {username: rita, password: open sesame}}, {name: nobody, user: {}}],
 contexts: [{name: olga, context: {cluster: c, user: olga, namespace: metal3}}, {name: rita, context: {cluster: c, user: rita, namespace: metal3}}, {name: nobody, context: {cluster: c, user: nobody}}]}`
	return []string{"--auth", "basic", "--htpasswd-file", passwords, "--users-file", users, "--tls-cert", certFile,
		"--tls-key", keyFile}, closed, nil
}

// putStatus is the command "status NAMESPACE/NAME JSON": it writes a host's status in place of a reconciler.
func putStatus(ts *testscript.TestScript, neg bool, args []string) {
	c, ok := ts.Value("conductor").(*servetest.Conductor)
	if !ok || neg || len(args) != 2 {
		ts.Fatalf("usage: status NAMESPACE/NAME JSON")
	}
	namespace, name := filepath.Split(args[0])
	r, err := http.NewRequest(http.MethodPatch, c.URL+"/apis/metal3.io/v1alpha1/namespaces/"+filepath.Clean(namespace)+
		"/baremetalhosts/"+name+"/status", bytes.NewBufferString(args[1]))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/merge-patch+json")
	res, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		ts.Fatalf("the status is answered with %s", res.Status)
	}
}

// follower is a program that runs beside a script, and its output.
type follower struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

func (f *follower) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(p)
}

func (f *follower) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.String()
}

func followers(ts *testscript.TestScript) map[string]*follower {
	all, ok := ts.Value("followers").(map[string]*follower)
	if !ok {
		ts.Fatalf("nobody follows in this script")
	}
	return all
}

// follow is the command "follow NAME PROGRAM ARGUMENTS": it runs until unfollow,
// or until the script ends.
func follow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: follow NAME PROGRAM [ARGUMENTS]")
	}
	f := &follower{cmd: exec.Command(filepath.Join(ts.Getenv("WORK"), "bin", args[1]), args[2:]...)}
	f.cmd.Stdout, f.cmd.Stderr = f, f
	f.cmd.Dir = ts.MkAbs(".")
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its children are halted with it
	f.cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "KUBECONFIG="+ts.Getenv("KUBECONFIG"))
	ts.Check(f.cmd.Start())
	followers(ts)[args[0]] = f
	ts.Defer(func() { _ = f.cmd.Process.Kill(); _ = f.cmd.Wait() })
}

// sees is the command "sees NAME PATTERN": it waits until a follower has said it.
func sees(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sees NAME PATTERN")
	}
	f, pattern := followers(ts)[args[0]], regexp.MustCompile("(?m)"+args[1])
	for end := time.Now().Add(servetest.Patience); !pattern.MatchString(f.said()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s has not said %q, but:\n%s", args[0], args[1], f.said())
		}
	}
}

// unfollow is the command "unfollow NAME": it waits until a follower ends well,
// or with "!" ends it.
func unfollow(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: unfollow NAME")
	}
	f := followers(ts)[args[0]]
	if neg {
		_ = f.cmd.Process.Kill()
	}
	if err := f.cmd.Wait(); err != nil && !neg {
		ts.Fatalf("%s ended with %v:\n%s", args[0], err, f.said())
	}
}
