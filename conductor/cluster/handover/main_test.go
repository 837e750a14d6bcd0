package handover

import (
	"os"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }
