package dhcp

import (
	"flag"
	"testing"

	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	pxetest.UpdateFlag()
	flag.Parse()
	goleak.VerifyTestMain(m)
}
