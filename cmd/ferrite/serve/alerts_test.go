package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// prometheus scrapes as Prometheus does, a tick for each of its minutes, and has promtool evaluate the alert rules of
// docs/monitoring over the samples.
type prometheus struct {
	t       *testing.T
	targets map[string]string // URL of the metrics, by instance
	ticks   int
	series  map[string][]string // values by name and labels; "_" for none
	said    []map[string]any
}

// tickTime is how long a minute of Prometheus takes.
const tickTime = 120 * time.Millisecond

func newPrometheus(t *testing.T) *prometheus {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not installed (Debian's package prometheus)")
	}
	return &prometheus{t: t, targets: map[string]string{}, series: map[string][]string{}}
}

// scrape passes some minutes.
func (p *prometheus) scrape(minutes int) {
	p.t.Helper()
	for range minutes {
		time.Sleep(tickTime)
		for instance, url := range p.targets {
			up := "0"
			if page, ok := p.page(url); ok {
				up = "1"
				p.add(instance, page)
			}
			p.put(fmt.Sprintf("up{job=\"ferrite\",instance=%q}", instance), up)
		}
		p.ticks++
	}
}

// page is the answer of a target; false for a target that gives none.
func (p *prometheus) page(url string) (string, bool) {
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", false
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", false
	}
	_, page := fetch(p.t, url)
	return page, true
}

func (p *prometheus) add(instance, page string) {
	for line := range strings.Lines(page) {
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 || strings.Contains(line, "_bucket{") ||
			!strings.HasPrefix(line, "ferrite_") && !strings.HasPrefix(line, "baremetal_") ||
			strings.HasPrefix(line, "ferrite_data_free_ratio") { // of this machine's disk; alerts_test.yml has its alert
			continue
		}
		name, labels, _ := strings.Cut(line[:at], "{")
		if labels = strings.TrimSuffix(labels, "}"); labels != "" {
			labels += ","
		}
		p.put(fmt.Sprintf("%s{%sjob=\"ferrite\",instance=%q}", name, labels, instance), strings.TrimSpace(line[at:]))
	}
}

func (p *prometheus) put(series, value string) {
	all := p.series[series]
	for len(all) < p.ticks {
		all = append(all, "_")
	}
	p.series[series] = append(all, value)
}

// firing expects the alerts that have fired within the last minutes, each by its name and the labels that identify its
// source.
func (p *prometheus) firing(minutes int, want ...string) {
	slices.Sort(want)
	samples := []map[string]any{}
	for _, alert := range want {
		samples = append(samples, map[string]any{"labels": alert, "value": 1})
	}
	p.said = append(p.said, map[string]any{
		"expr": fmt.Sprintf(`sort_desc(group by (alertname, driver, state, resource_class, reason, group, node_name) `+
			`(max_over_time(ALERTS{alertstate="firing"}[%dm])))`, minutes),
		"eval_time": fmt.Sprintf("%dm", p.ticks-1), "exp_samples": samples,
	})
}

// judge has promtool say whether all that was expected is so.
func (p *prometheus) judge() {
	p.t.Helper()
	rules, err := filepath.Abs("../../../docs/monitoring/alerts.yml")
	if err != nil {
		p.t.Fatal(err)
	}
	input := []map[string]string{}
	for series, values := range p.series {
		input = append(input, map[string]string{"series": series, "values": strings.Join(values, " ")})
	}
	text, err := json.Marshal(map[string]any{"rule_files": []string{rules}, "evaluation_interval": "1m",
		"tests": []any{map[string]any{"interval": "1m", "input_series": input, "promql_expr_test": p.said}}})
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(p.t.TempDir(), "scraped.yml") // JSON is YAML
	if err := os.WriteFile(file, text, 0o600); err != nil {
		p.t.Fatal(err)
	}
	if out, err := exec.CommandContext(p.t.Context(), "promtool", "test", "rules", file).CombinedOutput(); err != nil {
		p.t.Errorf("%v:\n%s", err, out)
	}
	p.t.Logf("%d minutes, %d series", p.ticks, len(p.series))
	for _, one := range p.said {
		p.t.Logf("at %s: %v", one["eval_time"], one["exp_samples"])
	}
}

// alert is an alert by its name and the labels that identify its source.
func alert(name string, labels ...string) string {
	return fmt.Sprintf("{%s}", strings.Join(append([]string{fmt.Sprintf("alertname=%q", name)}, labels...), ", "))
}
