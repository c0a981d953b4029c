package httpapi

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Kind is a metric's type.
type Kind byte

// The kinds. Untyped is for IBM's names of growing values, which do not end as
// the names of counters should.
const (
	Gauge Kind = iota
	Counter
	Untyped
)

// Family is one metric with the points that are known.
type Family struct {
	Name   string
	Help   string
	Kind   Kind
	Labels []string
	Points []Point
}

// Point is one value; Labels in the order of the family's.
type Point struct {
	Labels []string
	Value  float64
}

// Add appends a value, its labels in the order of the family.
func (f *Family) Add(value float64, labels ...string) {
	f.Points = append(f.Points, Point{Labels: labels, Value: value})
}

// collector asks for all families when a scrape comes; nothing is kept between scrapes.
type collector struct{ families func() []Family }

// Describe sends nothing: which families there are depends on what is known.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

func (c *collector) Collect(out chan<- prometheus.Metric) {
	for _, f := range c.families() {
		desc := prometheus.NewDesc(f.Name, f.Help, f.Labels, nil)
		kind := prometheus.GaugeValue
		switch f.Kind {
		case Counter:
			kind = prometheus.CounterValue
		case Untyped:
			kind = prometheus.UntypedValue
		case Gauge:
		}
		for _, p := range f.Points {
			metric, err := prometheus.NewConstMetric(desc, kind, p.Value, p.Labels...)
			if err != nil {
				metric = prometheus.NewInvalidMetric(desc, err)
			}
			out <- metric
		}
	}
}

// NewMetrics is the handler of /metrics: the families that families gives at
// each scrape, and those of the process and the Go runtime, in a registry of its own.
func NewMetrics(families func() []Family) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		&collector{families: families},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, ErrorHandling: promhttp.ContinueOnError})
}
