# The weft command alone, with the certificates that it trusts: docs/ci.md shows its use.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags=-s -o /weft ./cmd/weft

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /weft /weft
# Jobs and temporary files go to the folder that is mounted here.
WORKDIR /data
ENV TMPDIR=/data
ENTRYPOINT ["/weft"]
