# What CI runs, one word each. `make help` lists the words.
export CGO_ENABLED ?= 0
GO ?= go
BIN := bin
LINT_VERSION := v2.15.0
FUZZTIME ?= 20s
SEEDS ?= 200
ROUNDS ?= 50

.PHONY: help build test race integration lint fuzz sim daemons faults kill bench microbench demo

help: ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/'

build: ## the static binary in bin/
	$(GO) build -trimpath -o $(BIN)/situationd ./cmd/situationd

test: ## the tests that need nothing but Go
	$(GO) test ./...

race: ## the same under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race ./...

integration: ## the tests that need Debian's prometheus and prometheus-alertmanager
	$(GO) test -tags integration ./...

lint: $(BIN)/golangci-lint ## vet, format and linter
	$(GO) vet ./...
	test -z "$$(gofmt -l actions bench cmd mqengine redistribute situations)"
	$(BIN)/golangci-lint run ./...

$(BIN)/golangci-lint:
	GOBIN=$(CURDIR)/$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

fuzz: ## every fuzz target for FUZZTIME
	.ci/fuzz $(FUZZTIME)

sim: ## SEEDS seeds of the simulated cluster
	$(GO) test ./mqengine/enginetest -count=1 -v -run "Simulation$$" -sim.seeds=$(SEEDS) -timeout 0

daemons: ## SEEDS seeds of simulated clusters with their daemons
	$(GO) test ./cmd/situationd/internal/simtest -count=1 -v -run "Daemons$$" -daemons.seeds=$(SEEDS) -timeout 0

faults: ## plant every fault of testdata/faults: the tests must go red
	.ci/faults

kill: ## ROUNDS kills per test of real processes under load
	$(GO) test ./cmd/situationd/internal/killtest -count=1 -v -kill.rounds=$(ROUNDS) -timeout 30m

bench: ## everything measured beside the peers (NATS=path of nats-server; see docs/performance.md)
	bench/run.sh

microbench: ## the benchmarks of single packages
	$(GO) test -run '^$$' -bench . -benchmem ./...

demo: build ## the main job, start to end
	$(BIN)/situationd demo
