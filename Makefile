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
