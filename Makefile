.DEFAULT_GOAL := help

STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## build: the command, as ./weft
.PHONY: build
build:
	CGO_ENABLED=0 go build -trimpath -o weft ./cmd/weft

## test: installs what is missing, checks the code, runs every test with the race detector
.PHONY: test
test:
	@script/test

## check: formatting, vet (Linux and macOS), staticcheck
.PHONY: check
check:
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	go vet ./...
	GOOS=darwin go vet ./...
	$(STATICCHECK) ./...

## fuzz: every fuzz target for a few seconds (FUZZTIME=10s)
.PHONY: fuzz
fuzz:
	@script/fuzz $(or $(FUZZTIME),10s)

## torture: kills, crashes, failures and full disks, into docs/proof/torture.md (about 5 minutes, KILLS=300)
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

## bench-store: the frontier's store, into docs/bench/store.md (about 15 minutes; DISK=folder on a disk)
.PHONY: bench-store
bench-store:
	@disk=$$(mktemp -d $(or $(DISK),/var/tmp)/weft.XXXXXX) && trap 'rm -rf "$$disk"' EXIT && \
	go run ./internal/bench/store -o docs/bench/store.md -disk $$disk
