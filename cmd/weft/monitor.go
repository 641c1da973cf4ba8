package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/live"
	"github.com/weftcrawl/weft/internal/loopback"
	"github.com/weftcrawl/weft/internal/metrics"
	"github.com/weftcrawl/weft/internal/traces"
)

// monitorFlags are about others that watch a crawl.
type monitorFlags struct {
	metrics netip.AddrPort // invalid: nobody
	web     netip.AddrPort // invalid: nobody
	traces  traces.Options // without a URL: none
}

func (m *monitorFlags) options() []option {
	return []option{
		{name: "metrics", arg: "IP:PORT", Value: to(&m.metrics, nearby), advanced: true,
			help: "serve series for Prometheus at this loopback address",
			more: "At /metrics, while the crawl runs. Port 0 takes any that is free. See docs/metrics.md."},
		{name: "web", arg: "IP:PORT", Value: to(&m.web, nearby), advanced: true,
			help: "show the crawl in a browser, at this loopback address",
			more: "As weft web does, while the crawl runs: it prints the address to open."},
		{name: "otlp", arg: "URL", Value: to(&m.traces.URL, traces.CheckURL), advanced: true,
			help: "send traces of fetches to an OpenTelemetry collector",
			more: "By OTLP over HTTP, such as http://127.0.0.1:4318; a path replaces /v1/traces."},
		{name: "trace-sample", arg: "PART", Value: to(&m.traces.Sample, part), advanced: true,
			help: "trace this part of the fetches, 0 to 1", def: "0.01"},
	}
}

// nearby reads an address that only this machine can reach.
func nearby(s string) (netip.AddrPort, error) {
	addr, err := atLoopback(s)
	if err != nil && addr.IsValid() {
		return addr, errors.New("expected an address of loopback, such as 127.0.0.1:9337: ssh -L or a reverse proxy takes it to other machines")
	}
	return addr, err
}

// part reads a part of a whole.
func part(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0 && n <= 1) {
		return 0, errors.New("expected a number above 0, at most 1, such as 0.01")
	}
	return n, nil
}

// check refuses flags that do nothing.
func (m *monitorFlags) check() error {
	if m.traces.Sample > 0 && m.traces.URL == "" {
		return usage("--trace-sample: expected together with --otlp")
	}
	return nil
}

// monitor shows a crawl to other programs. A nil one does nothing.
type monitor struct {
	listener net.Listener     // nil: no series are served
	page     net.Listener     // nil: no page is
	traces   *traces.Exporter // nil: none are sent
}

// start begins to show a crawl that is to come: what cannot be served ends the command.
func (m *monitorFlags) start(con *console, o *weft.Options) (*monitor, error) {
	if !m.metrics.IsValid() && !m.web.IsValid() && m.traces.URL == "" {
		return nil, nil
	}
	shows := new(monitor)
	var err error
	if m.metrics.IsValid() {
		if shows.listener, err = listenAt("--metrics", m.metrics); err != nil {
			return nil, &exit{exitError, err}
		}
	}
	if m.web.IsValid() {
		if shows.page, err = listenAt("--web", m.web); err != nil {
			shows.close()
			return nil, &exit{exitError, err}
		}
	}
	if m.traces.URL != "" {
		t := m.traces
		t.Sample, t.Version, t.Warn = cmp.Or(t.Sample, 0.01), weft.Version, func(err error) { con.warn(err.Error()) }
		if o.Job != "" {
			t.Crawl = filepath.Base(o.Job)
		}
		if shows.traces, err = traces.Start(t); err != nil {
			return nil, usage("--otlp: %w", err)
		}
		before := o.Hooks.OnRecord
		o.Hooks.OnRecord = func(r *weft.Record) {
			if before != nil {
				before(r)
			}
			shows.traces.Note(r)
		}
	}
	return shows, nil
}

// close ends it, when the crawl may never have begun.
func (m *monitor) close() {
	if m == nil {
		return
	}
	for _, l := range []net.Listener{m.listener, m.page} {
		if l != nil {
			_ = l.Close()
		}
	}
	if m.traces != nil {
		m.traces.Close()
	}
}

// watch serves the page and the series of a crawl until close.
func (m *monitor) watch(con *console, c crawler) {
	if m == nil {
		return
	}
	if m.page != nil {
		page := live.New(c.Job(), "")
		con.say("web: http://" + m.page.Addr().String() + page.Root())
		go func() { _ = loopback.Serve(context.Background(), m.page, page) }() // until close
	}
	if m.listener == nil {
		return
	}
	con.say("metrics: http://" + m.listener.Addr().String() + metrics.Path)
	server := metrics.New(func(ctx context.Context) ([]weft.Figures, error) {
		f, err := c.Figures(ctx)
		if m.traces != nil {
			sent := m.traces.Figures()
			f.Traces = &sent
		}
		return []weft.Figures{f}, err
	})
	go func() { _ = loopback.Serve(context.Background(), m.listener, server) }() // until close
}
