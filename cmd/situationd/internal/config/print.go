package config

import (
	"fmt"
	"io"
	"strconv"

	"gopkg.in/yaml.v3"
)

// effective is the shape of a daemon file with everything said.
type effective struct {
	QueueManager  effectiveQMgr    `yaml:"queue_manager"`
	Rules         []string         `yaml:"rules"`
	Data          string           `yaml:"data,omitempty"`
	HTTP          *effectiveHTTP   `yaml:"http,omitempty"`
	Alertmanagers []effectiveURL   `yaml:"alertmanagers"`
	Peers         []effectiveURL   `yaml:"peers"`
	Journal       effectiveJournal `yaml:"journal"`
	Exec          effectiveAllow   `yaml:"exec"`
	MQSC          effectiveAllow   `yaml:"mqsc"`
	Limits        effectiveLimits  `yaml:"limits"`
	StartupGrace  string           `yaml:"startup_grace,omitempty"`
	Log           effectiveLog     `yaml:"log"`
}

type (
	effectiveQMgr struct {
		Name    string           `yaml:"name"`
		Connect string           `yaml:"connect"`
		Hosted  *effectiveHosted `yaml:"hosted,omitempty"`
	}
	effectiveHosted struct {
		Listen   string   `yaml:"listen"`
		MQSC     []string `yaml:"mqsc"`
		Workload string   `yaml:"workload"`
	}
	effectiveHTTP struct {
		Listen    string `yaml:"listen"`
		WebConfig string `yaml:"web_config"`
	}
	effectiveURL struct {
		URL string `yaml:"url"`
	}
	effectiveJournal struct {
		Path      string `yaml:"path"`
		OnFailure string `yaml:"on_failure"`
	}
	effectiveAllow struct {
		Allow []string `yaml:"allow"`
	}
	effectiveLimits struct {
		Budget    int    `yaml:"budget"`
		Breaker   string `yaml:"breaker"`
		LedgerTTL string `yaml:"ledger_ttl"`
	}
	effectiveLog struct {
		Level  string `yaml:"level"`
		Format string `yaml:"format"`
	}
)

// Print writes the file as the daemon understands it, defaults included. What
// it prints can be read again and means the same.
func (c *Config) Print(w io.Writer) error {
	out := effective{
		QueueManager: effectiveQMgr{Name: c.QueueManager.Name, Connect: string(c.QueueManager.Connect)},
		Rules:        orEmpty(c.RulePatterns),
		Data:         c.Data,
		Journal:      effectiveJournal(c.Journal),
		Exec:         effectiveAllow{orEmpty(c.ExecAllow)},
		MQSC:         effectiveAllow{orEmpty(c.MQSCAllow)},
		Limits:       effectiveLimits{c.Limits.Budget, breakerText(c.Limits.Breaker), c.Limits.LedgerTTL.String()},
		Log:          effectiveLog(c.Log),
	}
	if c.GraceSet { // unset it depends on the samples, which a written value would not
		out.StartupGrace = c.StartupGrace.String()
	}
	out.Alertmanagers = []effectiveURL{}
	for _, address := range c.Alertmanagers {
		out.Alertmanagers = append(out.Alertmanagers, effectiveURL{address})
	}
	out.Peers = []effectiveURL{}
	for _, address := range c.Peers {
		out.Peers = append(out.Peers, effectiveURL{address})
	}
	if c.QueueManager.Connect == Hosted {
		h := c.QueueManager.Hosted
		listen := h.Listen
		if listen == "" {
			listen = "none"
		}
		out.QueueManager.Hosted = &effectiveHosted{Listen: listen, MQSC: orEmpty(h.MQSC), Workload: h.Workload}
	}
	if c.HTTP != nil {
		h := effectiveHTTP(*c.HTTP)
		out.HTTP = &h
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("print the daemon file: %w", err)
	}
	return encoder.Close()
}

func breakerText(share int) string {
	if share == 0 {
		return "off"
	}
	return strconv.Itoa(share) + "%"
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
