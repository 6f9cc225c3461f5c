# `make test` is for every change, `make test-all` for what is merged; `make` alone lists
# the targets.

VERSION  ?= $(shell git describe --always --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 20s
SOAK     ?= 10m
SEED     ?= 0
REPORT   ?=
LOAD     ?= 30s
LIMIT    ?= 80m
FILINGS  ?= 300
OUTPUT   ?= bin/pregon
PREFIX   ?= /usr/local
DESTDIR  ?=

# The program is built without cgo. What needs no race detector is compiled so too, to
# compile every package once for all of it.
STATIC = CGO_ENABLED=0

# A larger heap, so that less time is spent on collecting garbage.
BIGHEAP = GOGC=200

# Packages whose tests start servers or whole programs, or take long; make quick leaves them out.
SLOW = cmd/pregon internal/source/ingest internal/store internal/server/ratelimit internal/document internal/push/webhook \
  internal/server/notices internal/discovery internal/search internal/sim internal/source/regulator internal/source/directory \
  internal/server/telemetry/alerttest scripts/release

.PHONY: help run build image release release-check install test test-all quick check lint generate notices bench corpus fuzz load scale soak summaries-eval clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build and serve the simulated market on http://127.0.0.1:8080, SQLite in ./data
	bin/pregon serve --source demo

# v2 is every x86-64 since 2009; it counts bits in one instruction.
build: ## build bin/pregon, one static binary
	CGO_ENABLED=0 GOAMD64=v2 go build -trimpath -buildvcs=false -ldflags '-X main.version=$(VERSION)' -o $(OUTPUT) ./cmd/pregon

install: build ## build and install PREFIX/bin/pregon (PREFIX=/usr/local, DESTDIR for packagers)
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 $(OUTPUT) '$(DESTDIR)$(PREFIX)/bin/pregon'

image: ## build the container image pregon with Podman, Docker or buildah: see docs/deploy.md
	deploy/container/build

# Unlike build, without symbols and debug data: see docs/release.md.
release: ## build the archives, checksums and SBOMs of a release in dist/, for linux, darwin and windows, and the clients
	go run ./scripts/release

release-check: ## build the release twice, the second time in a clone with an empty cache, and compare
	go run ./scripts/release -check

# See scripts/gate: it installs what is missing, and prints what it does and how long it
# took.
test: ## the checks and every test that needs only Go and PostgreSQL, which it installs: about 8 minutes on a fresh machine, 4 at most when repeated
	$(STATIC) go run ./scripts/gate

test-all: ## make test, then the race detector, browsers, proxies, faults, the release: about an hour on two cores, 80 minutes (LIMIT) at most
	$(STATIC) go run ./scripts/gate -all -limit $(LIMIT)

# Clients that others wrote, for the tests alone: see checkers/README.md. Some
# warn of a Node that is too old; those run with the one that is among them.
checkers/node_modules: checkers/package-lock.json
	cd checkers && npm ci --no-progress --loglevel error
	@touch $@

# The client for TypeScript, which is generated and compiled; make test-all tests it.
clients/typescript/node_modules: clients/typescript/package-lock.json
	cd clients/typescript && npm ci --no-progress --loglevel error
	@touch $@

clients/typescript/dist: clients/typescript/node_modules $(wildcard clients/typescript/src/*.ts) internal/rest/openapi.yaml
	cd clients/typescript && npm run --silent build
	@touch $@

quick: ## build, vet and the fast tests in under a minute: no race detector, no servers
	$(STATIC) go vet ./...
	$(STATIC) go test -vet=off -short $$(go list ./... | grep -vE '^pregon/($(subst $() ,|,$(strip $(SLOW))))(/|$$)')

check: lint ## formatting, vet, staticcheck, layering, generated files; no other tests
	$(STATIC) go test -vet=off ./internal/test/layering
	@$(STATIC) go test -vet=off ./cmd/pregon -run TestReference || { echo 'if docs/cli.md is out of date, run: make generate'; exit 1; }

lint:
	@files=$$(go tool gofumpt -l .) || exit 1; \
	  [ -z "$$files" ] || { echo 'not formatted; run: go tool gofumpt -w' $$files; exit 1; }
	$(STATIC) go vet ./...
	$(STATIC) $(BIGHEAP) go tool staticcheck ./...
	go mod tidy -diff

generate: ## write the generated files anew: docs/cli.md, docs/security.md, docs/metrics.md, docs/summaries.md, the table of docs/documents.md
	go test ./cmd/pregon -run TestReference -update
	go test ./internal/document -run TestSummaries -update
	go test ./internal/document/summary -run TestEvaluation -update

notices: ## write the licences of what is in the program anew: internal/server/notices/notices.txt
	go test ./internal/server/notices -run TestNotices -update

bench: ## run the benchmarks against peers, one `name value unit` line per figure
	@cd bench && go run .

corpus: ## compare our texts of real PDF files with those of pdftotext (downloads 150 MB of Debian packages)
	@$(MAKE) --no-print-directory build OUTPUT=bench/data/pregon
	scripts/get-corpus bench/data/corpus
	@cd bench && go run . corpus "$$PWD/data/pregon" data/corpus

fuzz: ## fuzz every Fuzz target, FUZZTIME=20s each
	@list=$$(go test -list '^Fuzz' ./...) || { echo "$$list"; exit 1; }; \
	  echo "$$list" | awk '/^Fuzz/ { name[n++] = $$1 } /^ok/ { while (n) print $$2, name[--n] }' | \
	  while read -r package target; do \
	    echo "fuzz: $$package $$target"; \
	    go test "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) </dev/null || exit 1; \
	  done

load: ## send a mixed load to one and three replicas for LOAD=30s each: throughput, latency, memory, and what each kind of work takes
	@cd bench && go run . load -for $(LOAD)

scale: ## compute from what make load measured which part of a fleet is full first: see docs/scale.md
	@cd bench && go run . scale

soak: ## a mixed load with random faults on both stores for SOAK=10m, then compare every surface; SEED= repeats the faults
	go test ./cmd/pregon -run TestSoak -count 1 -timeout 3h -v -args -soak $(SOAK) -seed $(SEED) -report '$(abspath $(REPORT))'

summaries-eval: ## measure the checks of summaries by a model on FILINGS=300 generated filings
	go test ./internal/document/summary -run TestEvaluation -count 1 -v -args -filings $(FILINGS)

clean: ## remove what build and release made; ./data stays
	rm -rf bin dist
