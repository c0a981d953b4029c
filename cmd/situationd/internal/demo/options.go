package demo

import (
	"io"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
)

// Options of a demo. Out is required.
type Options struct {
	// Rules is a rule file, "" for examples/rules.yaml.
	Rules string
	// Speed divides every duration; 0 is 1.
	Speed float64
	// Hurry lets the demo choose a higher speed for rules whose interval nobody would wait for.
	Hurry bool
	// Keep leaves the cluster running until ctx ends.
	Keep bool
	// JSONL prints the timeline as JSON lines.
	JSONL   bool
	Out     io.Writer
	Version app.Version
	// Program is how the commands to try are called.
	Program string
}

// The cast of the article.
const (
	queueName   = "DCQ1"
	clusterName = "C1"
	putterQM    = "QM1"
	deadQM      = "QM2" // whose reader stops
	servedQM    = "QM3"
	batch       = 100 // messages of each of the two batches
)

// MaxSpeed is the highest Speed.
const MaxSpeed = 1000

// longWait is the longest sample interval that the demo plays at its own pace.
const longWait = 5 * time.Second

// patience bounds a stage that does not depend on the rules.
const patience = 15 * time.Second
