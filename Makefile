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

## bench: the event loop beside its peers, into docs/bench/aio.md (about 15 minutes; COUNT=5)
.PHONY: bench
bench:
	go test -run '^$$' -bench . -cpu 1,2 -count $(or $(COUNT),5) -timeout 60m ./internal/bench | tee /dev/stderr | go run ./internal/bench/table -o docs/bench/aio.md
