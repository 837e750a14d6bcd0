package serve

import (
	"os"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

func TestMain(m *testing.M) {
	os.Exit(servetest.Main(Command(), func() int { return postgrestest.Main(m) }))
}
