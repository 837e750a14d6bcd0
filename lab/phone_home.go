package lab

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"
)

// maxReport bounds one report; cloud-init's carries a few public keys.
const maxReport = 1 << 20

// Report is one machine's word that its operating system runs: a POST of a
// form, as cloud-init's phone_home module sends it.
type Report struct {
	Time   time.Time
	Remote string // the sender's IP address and port
	Path   string
	Form   url.Values
}

// Hostname is the machine's hostname by its own report.
func (r Report) Hostname() string { return r.Form.Get("hostname") }

// InstanceID is the instance id from its config drive.
func (r Report) InstanceID() string { return r.Form.Get("instance_id") }

// phoneHome receives reports.
type phoneHome struct {
	reports *history[Report]
	log     *slog.Logger
}

func newPhoneHome(log *slog.Logger) *phoneHome {
	return &phoneHome{reports: newHistory[Report](), log: log}
}

func (p *phoneHome) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		p.log.Warn("phone home: not a report", "remote", r.RemoteAddr, "method", r.Method, "path", r.URL.Path)
		w.Header().Set("Allow", "POST")
		http.Error(w, "expected POST of a form", http.StatusMethodNotAllowed)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxReport)
	if err := r.ParseForm(); err != nil {
		p.log.Warn("phone home: form not readable", "remote", r.RemoteAddr, "path", r.URL.Path, "err", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	report := Report{Time: time.Now(), Remote: r.RemoteAddr, Path: r.URL.Path, Form: r.Form}
	p.log.Info("phone home", "remote", report.Remote, "path", report.Path, "hostname", report.Hostname(), "instance",
		report.InstanceID())
	p.reports.add(report)
	w.WriteHeader(http.StatusNoContent)
}

// WaitPhoneHome waits for a report that match accepts; earlier reports count. A caller that wants only new reports
// looks at Report.Time.
func (l *Lab) WaitPhoneHome(ctx context.Context, match func(Report) bool) (Report, error) {
	report, err := l.phoneHome.reports.wait(ctx, match)
	if err != nil {
		return report, fmt.Errorf("wait for a machine to phone home (%d reports came, none of them this one): %w",
			len(l.PhoneHomes()), err)
	}
	return report, nil
}

// PhoneHomes lists the reports that came, oldest first.
func (l *Lab) PhoneHomes() []Report { return l.phoneHome.reports.all() }
