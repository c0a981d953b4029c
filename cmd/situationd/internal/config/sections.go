package config

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

func (l *loader) http(n *yaml.Node) {
	h := &HTTP{}
	l.mapping(n, "http",
		key{"listen", func(v *yaml.Node) { l.address(v, "listen", &h.Listen) }},
		key{"web_config", func(v *yaml.Node) {
			if v.Kind == yaml.ScalarNode && v.Value == "" {
				return // the empty string is the documented way to say none
			}
			if file, ok := l.existing(v, "web_config"); ok {
				h.WebConfig = file
			}
		}},
	)
	if h.Listen == "" && n.Kind == yaml.MappingNode && !l.failed() {
		l.errorf(n, "missing", `write listen: "127.0.0.1:9420"`, "http has no listen address")
	}
	if host, _, err := net.SplitHostPort(h.Listen); err == nil && h.WebConfig == "" && !loopback(host) {
		l.warnf(n, "open", "name a web_config with users or certificates", "the port %s is open to other hosts without a web_config", h.Listen)
	}
	l.cfg.HTTP = h
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

func (l *loader) alertmanagers(n *yaml.Node) {
	l.list(n, "alertmanagers", func(item *yaml.Node) {
		var address string
		l.mapping(item, "an alertmanager", key{"url", func(v *yaml.Node) { address, _ = l.httpURL(v, "url") }})
		if address == "" {
			if !l.failed() {
				l.errorf(item, "missing", "", "an alertmanager has no url")
			}
			return
		}
		l.cfg.Alertmanagers = append(l.cfg.Alertmanagers, address)
	})
}

// maxPeers bounds who is asked before every lowering.
const maxPeers = 100

// peers are the other daemons that act on instances of the same queues.
func (l *loader) peers(n *yaml.Node) {
	l.list(n, "peers", func(item *yaml.Node) {
		var address string
		l.mapping(item, "a peer", key{"url", func(v *yaml.Node) { address, _ = l.httpURL(v, "url") }})
		switch {
		case address == "":
			if !l.failed() {
				l.errorf(item, "missing", `write - url: "http://127.0.0.1:9421"`, "a peer has no url")
			}
		case slices.Contains(l.cfg.Peers, address):
			l.errorf(item, "twice", "", "%s stands here twice", address)
		case len(l.cfg.Peers) >= maxPeers:
			l.errorf(item, "too-long", "", "there are more than %d peers", maxPeers)
		default:
			l.cfg.Peers = append(l.cfg.Peers, address)
		}
	})
	l.peersNode = n
}

// checkPeers warns of a daemon that asks others and cannot be asked.
func (l *loader) checkPeers() {
	if len(l.cfg.Peers) > 0 && l.cfg.HTTP == nil && !l.failed() {
		l.warnf(l.peersNode, "peers", `write http: {listen: "127.0.0.1:9420"}`, "this daemon asks its peers, and opens no port where they could ask it")
	}
}

func (l *loader) journal(n *yaml.Node) {
	l.mapping(n, "journal",
		key{"path", func(v *yaml.Node) {
			if path, ok := l.text(v, "path"); ok {
				l.cfg.Journal.Path = filepath.Clean(path)
			}
		}},
		key{"on_failure", func(v *yaml.Node) { l.choice(v, "on_failure", &l.cfg.Journal.OnFailure, "refuse", "warn") }},
	)
}

func (l *loader) exec(n *yaml.Node) {
	l.mapping(n, "exec", key{"allow", func(v *yaml.Node) {
		l.list(v, "allow", func(item *yaml.Node) {
			text, ok := l.text(item, "a program or folder")
			if !ok {
				return
			}
			path := l.abs(text)
			if _, err := os.Stat(path); err != nil {
				l.warnf(item, "file", "", "there is no file or folder %s", path)
			}
			l.cfg.ExecAllow = append(l.cfg.ExecAllow, path)
		})
	}})
}

func (l *loader) mqsc(n *yaml.Node) {
	l.mapping(n, "mqsc", key{"allow", func(v *yaml.Node) {
		l.list(v, "allow", func(item *yaml.Node) {
			if verb, ok := l.text(item, "an MQSC verb"); ok {
				l.cfg.MQSCAllow = append(l.cfg.MQSCAllow, strings.ToUpper(verb))
			}
		})
	}})
}

func (l *loader) limits(n *yaml.Node) {
	l.mapping(n, "limits",
		key{"budget", func(v *yaml.Node) { l.number(v, "budget", 1, 100000, &l.cfg.Limits.Budget) }},
		key{"breaker", func(v *yaml.Node) {
			if word, ok := l.text(v, "breaker"); ok {
				l.breaker(v, word)
			}
		}},
		key{"ledger_ttl", func(v *yaml.Node) { l.duration(v, "ledger_ttl", time.Second, &l.cfg.Limits.LedgerTTL) }},
	)
}

// breaker is a share of a situation's items, or off.
func (l *loader) breaker(n *yaml.Node, word string) {
	if word == "off" {
		l.cfg.Limits.Breaker = 0
		return
	}
	digits, percent := strings.CutSuffix(word, "%")
	share, err := strconv.Atoi(digits)
	if err != nil || !percent || share < 1 || share > 100 {
		l.errorf(n, "value", "write breaker: off, or breaker: 30%", "breaker is off, or a share of a situation's items from 1%% to 100%%, not %s", word)
		return
	}
	l.cfg.Limits.Breaker = share
}

func (l *loader) log(n *yaml.Node) {
	l.mapping(n, "log",
		key{"level", func(v *yaml.Node) {
			l.choice(v, "level", &l.cfg.Log.Level, "trace", "debug", "info", "warn", "error")
		}},
		key{"format", func(v *yaml.Node) { l.choice(v, "format", &l.cfg.Log.Format, "text", "json") }},
	)
}
