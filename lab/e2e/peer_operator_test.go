//go:build peers

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// Metal3's operator, of which apis and pkg/hardwareutils are modules of their own.
const (
	operatorModule  = "github.com/metal3-io/baremetal-operator"
	operatorVersion = "@v0.13.2"
)

// operator is a machine's life by the operator's reconcilers.
type operator struct {
	program string // testdata/metal3, compiled inside the operator's module
	passed  int    // parts of the life
}

// buildOperator compiles the life in a copy of the operator's module: its reconcilers are internal. OPERATOR names a
// checkout of the operator's repository to use in the place of the module.
func buildOperator(t *testing.T) (program string, err error) {
	t.Helper()
	dir := t.TempDir()
	run := func(at, name string, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = at, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
		}
		return out, err
	}
	from, module := os.Getenv("OPERATOR"), filepath.Join(dir, "operator")
	if from == "" {
		out, err := run(dir, "go", "mod", "download", "-json", operatorModule+operatorVersion)
		if err != nil {
			return "", err
		}
		if found := regexp.MustCompile(`"Dir": "(.*)"`).FindSubmatch(out); found != nil {
			from = string(found[1])
		}
	}
	if err := os.CopyFS(module, os.DirFS(from)); err != nil {
		return "", fmt.Errorf("copy the operator from %q: %w", from, err)
	}
	life, err := os.ReadFile("testdata/metal3/life_test.go")
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.Mkdir(filepath.Join(module, "life"), 0o755),
		os.WriteFile(filepath.Join(module, "life", "life_test.go"), life, 0o600)); err != nil {
		return "", err
	}
	if os.Getenv("OPERATOR") == "" { // its go.mod names both by folders, which its zip lacks
		args := []string{"mod", "edit"}
		for _, part := range []string{"/apis", "/pkg/hardwareutils"} {
			args = append(args, "-replace="+operatorModule+part+"="+operatorModule+part+operatorVersion)
		}
		if _, err = run(module, "go", args...); err != nil {
			return "", err
		}
	}
	program = filepath.Join(dir, "life.test")
	_, err = run(module, "go", "test", "-mod=mod", "-c", "-o", program, "./life")
	return program, err
}

// life has the operator take a machine from enrollment to deletion, beside the conductor.
func (o *operator) life(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m, i, asked := s.Machines[0], image(s, b.tiny, b.tiny.Raw), time.Now()
	mark := filepath.Join(b.dir, "reported") // made when the system of the image has reported
	cmd := s.Network.Command(ctx, o.program, "-test.v", "-test.run", "^TestLife$", "-test.timeout", "40m")
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "IRONIC_ENDPOINT="+s.URL+"/v1/", "METAL3_AUTH_ROOT_DIR="+b.dir,
		"LIFE_BMC=redfish+"+m.URL+"/redfish/v1/Systems/1", "LIFE_MAC="+m.Spec().NICs[0].MAC, "LIFE_USER="+m.Username,
		"LIFE_PASSWORD="+m.Password, "LIFE_IMAGE="+i.URL, "LIFE_SHA256="+i.SHA256, "LIFE_EVENTS="+s.PhoneHomeURL,
		"LIFE_REPORTED="+mark, "LIFE_USER_DATA=#cloud-config\nphone_home:\n  url: "+s.PhoneHomeURL+"\n")
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	waiting, cancel := context.WithCancel(ctx)
	reported := make(chan error, 1)
	go func() {
		_, err := s.WaitPhoneHome(waiting, func(r lab.Report) bool {
			return r.Time.After(asked) && r.Form.Get("image") == b.tiny.ID
		})
		if err == nil {
			err = os.WriteFile(mark, nil, 0o600)
		}
		reported <- err
	}()
	err = cmd.Run()
	cancel()
	if err := os.WriteFile(filepath.Join(b.dir, "operator.log"), log.Bytes(), 0o600); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("the operator: %w\n%s", err, out.Bytes())
	}
	o.passed = len(regexp.MustCompile(`(?m)^ +--- PASS: TestLife/`).FindAll(out.Bytes(), -1))
	if err := <-reported; err != nil {
		return fmt.Errorf("the system of the image did not report: %w", err)
	}
	return nil
}
