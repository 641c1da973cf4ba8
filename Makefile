.DEFAULT_GOAL := help

# One program on every path, without C code: see cmd/weft/build_test.go. The race detector needs it.
export CGO_ENABLED = 0
BUILD = go build -trimpath -ldflags=-s

STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## build: the command, as ./weft
.PHONY: build
build:
	$(BUILD) -o weft ./cmd/weft

## man: the manual pages, into ./man
.PHONY: man
man:
	go run ./cmd/weft man man

## test: install missing packages and run every test (on two slow cores 14 minutes; the first time 18)
.PHONY: test
test:
	@script/test

## race: the tests of packages that start goroutines once more, with the race detector (minutes)
.PHONY: race
race:
	@script/test race

## test-long: the same with the long forms of slow tests (hours; one package: WEFT_LONG=1 go test ./x)
.PHONY: test-long
test-long:
	@WEFT_LONG=1 script/test

## test-bench: vet and tests of the benchmarks, the proofs and the lab, a module of their own (a minute)
.PHONY: test-bench
test-bench:
	cd bench && go vet ./... && go test -vet=off ./...

## check: formatting, vet, staticcheck, and whether other systems can compile it
.PHONY: check
check:
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	go vet ./...
	cd bench && go vet ./...
	$(STATICCHECK) ./...
	cd bench && $(STATICCHECK) ./...
	go test -vet=off -tags check -run '^TestOtherSystems$$' ./internal/archtest

## fuzz: every fuzz target for a few seconds (FUZZTIME=10s)
.PHONY: fuzz
fuzz:
	@script/fuzz $(or $(FUZZTIME),10s)

## mutants: small faults that tests of single packages must find, and which survive (ONLY=RE: of a file or a reason)
.PHONY: mutants
mutants:
	@go run ./internal/mutants -only '$(ONLY)'

## interop: warcio.js, ReplayWeb.page, DuckDB, and the clients of MCP and Firecrawl; needs npm, chromium
.PHONY: interop
interop:
	./script/interop

## torture: kills, crashes, failures and full disks, long forms, into docs/proof/torture.md (KILLS=300)
.PHONY: torture
torture:
	@script/torture

## bench: the two below (COUNT=5)
.PHONY: bench
bench: bench-aio bench-bytes

## bench-aio: the event loop beside its peers, into docs/bench/aio.md (about 12 minutes)
.PHONY: bench-aio
bench-aio:
	@script/bench aio

## bench-bytes: reading the Web's bytes beside its peers, into docs/bench/bytes.md (about 5 minutes)
.PHONY: bench-bytes
bench-bytes:
	@script/bench bytes

## bench-crawl: whole crawls beside wget2 and Colly, into docs/bench/crawl.md (COUNT=3)
.PHONY: bench-crawl
bench-crawl:
	@script/bench-crawl

## bench-frontier: the frontier and its store as a crawl grows, into docs/bench/frontier.md (URLS=1000000,10000000,100000000: an hour, 12 GB; DISK=folder)
.PHONY: bench-frontier
bench-frontier:
	@go -C bench run ./frontier -o ../docs/bench/frontier.md -dir $(or $(DISK),/var/tmp) -urls $(or $(URLS),1000000,2000000,5000000,10000000)

## bench-build: the README's first two commands where nothing is built, into docs/bench/build.md (15 minutes)
.PHONY: bench-build
bench-build:
	@go -C bench run ./build -o ../docs/bench/build.md

## costs: what each dependency costs: CPU time of compiling, MB, lines (3 minutes)
.PHONY: costs
costs:
	@go -C bench run ./build -costs

## bench-recrawl: visiting a site again beside its first crawl, into docs/bench/recrawl.md
.PHONY: bench-recrawl
bench-recrawl:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	go -C bench run ./recrawl -weft "$$bin/weft" -o ../docs/bench/recrawl.md

## bench-archive: crawls with and without an archive, writing and reading WARC, into docs/bench/archive.md
.PHONY: bench-archive
bench-archive:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	go -C bench run ./archive -weft "$$bin/weft" -o ../docs/bench/archive.md

## bench-serve: the server of crawls and pages beside a plain one, into docs/bench/serve.md (15 minutes)
.PHONY: bench-serve
bench-serve:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	go -C bench run ./serve -weft "$$bin/weft" -o ../docs/bench/serve.md

## bench-content: main content beside other extractors, into docs/bench/content.md (CORPORA=folder of aeb, wcxb, fundus)
.PHONY: bench-content
bench-content:
	@script/bench-content "$(CORPORA)"

## bench-jetstream: what NATS JetStream carries, into docs/bench/jetstream.md (2 minutes; RUNS=)
.PHONY: bench-jetstream
bench-jetstream:
	@go -C bench run ./jetstream -runs $(or $(RUNS),1) -o ../docs/bench/jetstream.md

## bench-takeover: how fast a node restores the partitions of a dead one, into docs/bench/takeover.md (8 minutes; RUNS=)
.PHONY: bench-takeover
bench-takeover:
	@go -C bench run ./takeover -runs $(or $(RUNS),1) -o ../docs/bench/takeover.md

## bench-check: weft check beside linkinator (npm) and linkchecker (Debian), into docs/bench/check.md
.PHONY: bench-check
bench-check:
	@script/bench-check

## bench-export: exports of a job of 10 million URLs, into docs/bench/export.md (20 minutes; 20 GB on DISK=/var/tmp; URLS=)
.PHONY: bench-export
bench-export:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	go -C bench run ./export -weft "$$bin/weft" -jobs $(or $(DISK),/var/tmp) -urls $(or $(URLS),10000000) -o ../docs/bench/export.md

## bench-read: what Markdown costs a crawl, into docs/bench/read.md (15 minutes; nginx, postgresql-doc-15, npm; RUNS=)
.PHONY: bench-read
bench-read:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	go -C bench run ./read -weft "$$bin/weft" -runs $(or $(RUNS),5) -o ../docs/bench/read.md
	WEFT_LONG=1 go test -count=1 -run TestSites ./markdown

## bench-render: crawls that render pages beside other crawlers that drive Chromium, into docs/bench/render.md (an hour; npm, Chromium; RUNS=, PAGES=, ARGS=)
.PHONY: bench-render
bench-render:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	go -C bench run ./render -weft "$$bin/weft" -runs $(or $(RUNS),3) -pages $(or $(PAGES),100) -o ../docs/bench/render.md $(ARGS)

## bench-tls: handshakes and requests over TLS beside net/http and OpenSSL, into docs/bench/tls.md (4 minutes; RUNS=)
.PHONY: bench-tls
bench-tls:
	@go -C bench run ./tls -runs $(or $(RUNS),5) -o ../docs/bench/tls.md

## bench-extract: what fields of pages cost, and a crawl with them, into docs/bench/extract.md (2 minutes; nginx; RUNS=)
.PHONY: bench-extract
bench-extract:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	go -C bench run ./extract -weft "$$bin/weft" -runs $(or $(RUNS),9) -o ../docs/bench/extract.md

## bench-mirror: weft mirror beside wget, wget2 and httrack, opened in Chromium, into docs/bench/mirror.md (5 minutes)
.PHONY: bench-mirror
bench-mirror:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	WEFT_MIRROR_COMMAND="$$bin/weft" WEFT_MIRROR_PAGE="$$PWD/docs/bench/mirror.md" go test ./mirror -run '^TestPeers$$' -count 1 -timeout 9m

## lab: every way to fetch many pages, measured side by side (ARGS='--connections 10000'; 30 seconds)
.PHONY: lab
lab:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && go build -C bench -o "$$bin/weft-lab" ./weft-lab && "$$bin/weft-lab" $(ARGS)

## proof-broad: 100,000 hosts, killed twice, into docs/proof/broad.md (about 25 minutes)
.PHONY: proof-broad
proof-broad:
	@go -C bench run ./prove -hosts 100000 -kills 2 -o ../docs/proof/broad.md

## proof-simulation: 1,000,000 hosts on virtual time, into docs/proof/simulation.md
.PHONY: proof-simulation
proof-simulation:
	@go -C bench run ./prove -simulate -hosts 1000000 -o ../docs/proof/simulation.md

## proof-cluster: 100 machines and 10,000,000 hosts on virtual time, into docs/proof/cluster.md (3 minutes)
.PHONY: proof-cluster
proof-cluster:
	@go -C bench run ./prove -nodes 100 -hosts 10000000 -o ../docs/proof/cluster.md

## proof-nodes: three nodes and three NATS servers in network namespaces, struck five times, into docs/proof/nodes.md (root; about 20 minutes)
.PHONY: proof-nodes
proof-nodes:
	@go -C bench run ./prove -machines 3 -hosts 100000 -delay 50ms -variants 500 -concurrency 300 -o ../docs/proof/nodes.md

## proof-memory: memory of whole crawls within budgets, into docs/proof/memory.md (about 8 minutes)
.PHONY: proof-memory
proof-memory:
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT && $(BUILD) -o "$$bin/weft" ./cmd/weft && \
	go -C bench run ./memory -command "make proof-memory" -o ../docs/proof/memory.md "$$bin/weft"

## stale: which figures of docs/bench and docs/proof are older than the code, and by how many commits
.PHONY: stale
stale:
	@script/stale

## proof-serve: a server killed while 1,000 crawls wait, into docs/proof/serve.md (KILLS=100, 10 minutes)
.PHONY: proof-serve
proof-serve:
	@script/proof-serve

## proof-neighbours: a healthy site beside sites that hurt, into docs/proof/neighbours.md (about 10 minutes)
.PHONY: proof-neighbours
proof-neighbours:
	@go -C bench run ./prove -neighbours -o ../docs/proof/neighbours.md

## proof-http2: a site over eight real servers and their quirks, into docs/proof/http2.md (a minute)
.PHONY: proof-http2
proof-http2:
	@go -C bench run ./prove -http2 /usr/share/doc/python3.11/html -o ../docs/proof/http2.md

## bench-store: the frontier's store, into docs/bench/store.md (about 15 minutes; DISK=folder on a disk)
.PHONY: bench-store
bench-store:
	@disk=$$(mktemp -d $(or $(DISK),/var/tmp)/weft.XXXXXX) && trap 'rm -rf "$$disk"' EXIT && \
	go -C bench run ./store -o ../docs/bench/store.md -disk $$disk
