//go:build cluster

package history

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// memberVariable makes `ferrite serve` of the test binary.
const memberVariable = "HISTORY_MEMBER"

func TestMain(m *testing.M) {
	if os.Getenv(memberVariable) == "" {
		os.Exit(postgrestest.Main(m))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := serve.Command()
	c.SetArgs(os.Args[1:])
	if err := c.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // the process ends here
	}
	os.Exit(0)
}
