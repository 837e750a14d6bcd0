package tour

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/osimage"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// lifeTime bounds the tour: a lab that is slower than this is broken.
const lifeTime = 15 * time.Minute

// hostname is the machine's name in the config drive.
const hostname = "iron"

// life takes the first machine from enroll to its own operating system, and
// enrolls the second for the visitor.
func (t *tour) life(ctx context.Context, img osimage.Image) error {
	ctx, cancel := context.WithTimeout(ctx, lifeTime)
	defer cancel()
	m := t.site.Machines[0]
	began := time.Now()
	t.stage("enroll", "%s is off and its disk is empty; its BMC is %s", m.Name, m.URL)
	if _, err := t.site.Enroll(ctx, m, visited()); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	for _, v := range [][2]string{{"manage", "manageable"}, {"inspect", "manageable"}, {"provide", "available"}} {
		if err := t.follow(ctx, m.Name, v[0], v[1], nil); err != nil {
			return err
		}
	}
	t.image = site.Image{URL: t.site.ImagesURL + "/" + filepath.Base(img.Qcow2), SHA256: img.SHA256[img.Qcow2],
		Format: "qcow2"}
	if err := t.site.SetImage(ctx, m.Name, t.image); err != nil {
		return err
	}
	drive := map[string]any{
		"meta_data": map[string]any{"hostname": hostname},
		"user_data": "#cloud-config\nphone_home:\n  url: " + t.site.PhoneHomeURL + "\n  post: [instance_id, hostname]\n",
	}
	if err := t.follow(ctx, m.Name, "active", "active", drive); err != nil {
		return err
	}
	t.stage("boot", "waiting for the operating system on the disk to say hello")
	t.line.Set("console: %v", t.console.Load()) // until there is a new one
	t.waiting.Store(true)
	r, err := t.site.WaitPhoneHome(ctx, func(r lab.Report) bool { return r.Hostname() == hostname })
	t.waiting.Store(false)
	if err != nil {
		return fmt.Errorf("the operating system never reported: %w", err)
	}
	t.stage("booted", "%s reports: hostname %q, from its config drive", m.Name, r.Hostname())
	t.stage("done", "from enroll to a booted operating system: %.1f s", time.Since(began).Seconds())
	_, err = t.site.Enroll(ctx, t.site.Machines[1], visited())
	return err
}

// visited has a visitor's ferrite node rescue and the console of the web interface work, which the driver's defaults do
// not.
func visited() map[string]any {
	return map[string]any{"rescue_interface": "agent", "console_interface": "redfish-serial"}
}

// follow requests a verb and shows the progress until the node rests.
func (t *tour) follow(ctx context.Context, name, verb, state string, configDrive any) error {
	t.stage(verb, "ferrite node %s %s", cliVerb[verb], name)
	before, err := t.site.Status(ctx, name)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	if err := t.site.Provision(ctx, name, verb, configDrive); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		t.watch(watching, name, before)
	}()
	n, err := t.site.Until(ctx, name, state)
	stop()
	<-watched
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	t.stage("", "%s is %s", name, n.ProvisionState)
	return nil
}

// cliVerb is the command of a verb.
var cliVerb = map[string]string{"manage": "manage", "inspect": "inspect", "provide": "provide", "active": "deploy"}

// watch prints each boot stage and each step that was not there before.
func (t *tour) watch(ctx context.Context, name string, seen nodeapi.Status) {
	for ctx.Err() == nil {
		st, err := t.site.Status(ctx, name)
		if err == nil {
			t.news(seen, st)
			seen = st
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// worthShowing is how many bytes a stage must have to be shown.
const worthShowing = 1 << 20

// news prints the changes from one status to the next.
func (t *tour) news(old, st nodeapi.Status) {
	if st.Step != old.Step && st.Step != "" {
		t.stage("", "  %s", st.Step)
	}
	for _, s := range st.BootStages {
		if s.At.After(t.shown) { // at the end of an activity the stages of those before come back
			t.shown = s.At
			t.stage("", "    %s", s.Name)
		}
	}
	p := st.Progress
	if p != nil && p.Total >= worthShowing && (old.Progress == nil || p.Done != old.Progress.Done) {
		rate := ""
		if p.Rate >= 1 { // of the first bytes it is not known
			rate = fmt.Sprintf(", %.0f MB/s", p.Rate/1e6)
		}
		t.line.Set("%s: %3.0f %% of %.0f MB%s", p.Stage, 100*float64(p.Done)/float64(p.Total),
			float64(p.Total)/1e6, rate)
	}
}

// farewell prints commands to try next, and the command to stop.
func (t *tour) farewell(url string) {
	m, bin := t.site.Machines[1], t.Bin
	if full, err := filepath.Abs(bin); err == nil {
		bin = full
	}
	fmt.Fprintf(t.Out, `
The lab stays up. In a browser of this computer, without a login:

  %[1]s/ui/

In another terminal:

  export FERRITE_URL=%[1]s PATH=%[2]s:$PATH
  ferrite node list
  ferrite node show metal-1
  ferrite node manage %[3]s --wait            # the second machine is yours
  ferrite node provide %[3]s --wait
  ferrite node deploy %[3]s --wait --image %[5]s --checksum %[6]s
  ferrite host import %[3]s > %[3]s.yaml     # or have it as a host: %[7]s is the password of its BMC, /dev/vda its disk
  ferrite node undeploy metal-1 --wait         # wipe the first one again
  tail -f %[4]s/console/metal-1.log

To stop: Ctrl-C here, or make lab-down.
`, url, bin, m.Name, t.Dir, t.image.URL, t.image.SHA256, m.Password)
}
