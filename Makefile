# make help lists what there is.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test check race fuzz sabotage golden gen bench drills sim bench-peers lab peers lab-llm clean fmt-check vet lint gen-check static fuzz-short

GOLANGCI_VERSION := v2.15.0
GOLANGCI := bin/golangci-lint-$(GOLANGCI_VERSION)
T ?= 60s
FUZZTIME ?= $(T)
# The rooms in which more than one goroutine meets.
CONCURRENT := ./robot/... ./transport/... ./body/guard/...

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## four requests, scripted models, gate on and off: claims beside facts
	go run ./cmd/interlock demo

test: ## all tests
	go test ./...

check: fmt-check vet lint gen-check static fuzz-short race ## everything a change must pass besides test

race: ## the concurrent rooms under the race detector
	@if command -v "$$(go env CC)" >/dev/null; then echo "go test -race -short $(CONCURRENT)"; CGO_ENABLED=1 go test -race -short $(CONCURRENT); \
	else echo "race: skipped, the race detector needs a C compiler and there is none"; fi

fuzz: ## every fuzz target for T each (make fuzz T=60s)
	.ci/fuzz $(FUZZTIME)

sabotage: ## play all sabotaged versions of the deciding rooms; their tests must catch each
	go run ./internal/sabotage

golden: ## rewrite the golden files; review the diff
	go test -count=1 $$(grep -rlE --include='*_test.go' 'internal/golden"|flag\.Bool\("update"' . | xargs -n1 dirname | sort -u) -update

gen: ## regenerate the generated code
	go generate ./contract/v1 ./reject

bench: ## all benchmarks
	go test -run '^$$' -bench . -benchmem ./...

drills: ## kill, freeze, flood and stop real processes at length; writes docs/experiments/drills.md (about 25 minutes)
	.ci/drills

sim: ## the promises that simulated time can show, over all their seeds; writes docs/experiments/sim.md (about 6 minutes)
	.ci/sim

bench-peers: ## decisions and kinematics beside Python and Node peers, report to docs/experiments/bench.md (2 minutes)
	bench/peers/run

peers: ## Python, curl and Go drive a robot, a Python body and broken ones meet the suite, and a real small model (downloads 150 MB once, about 4 minutes)
	tools/peers/run
	tools/llm/peers

lab-llm: ## suites/seven.yaml on two real models, rows to docs/experiments/models.md (downloads 1.5 GB once)
	tools/llm/lab

lab: ## the shipped suites in full; writes docs/experiments (minutes)
	.ci/lab

clean: ## remove what was built or recorded here
	rm -rf bin runs

fmt-check:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not formatted by gofmt:"; echo "$$files"; exit 1; fi

vet:
	go vet ./...

lint: $(GOLANGCI)
	$(GOLANGCI) run ./...

$(GOLANGCI):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv bin/golangci-lint $@

gen-check:
	go test -count=1 ./contract/v1/gen ./reject/gen

static:
	CGO_ENABLED=0 go build ./...

fuzz-short:
	.ci/fuzz 3s
