package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
)

// listenOption is --listen of a command that serves to this machine.
func listenOption(addr *netip.AddrPort, usual string) option {
	*addr = netip.MustParseAddrPort(usual)
	return option{name: "listen", arg: "IP:PORT", def: usual, Value: to(addr, atLoopback),
		help: "serve at this loopback address",
		more: "Port 0 takes any that is free."}
}

// atLoopback reads an address that only this machine can reach.
func atLoopback(s string) (netip.AddrPort, error) {
	addr, err := netip.ParseAddrPort(strings.Replace(s, "localhost:", "127.0.0.1:", 1))
	if err != nil || !addr.Addr().IsLoopback() {
		return addr, errors.New("expected an address of loopback and a port, such as 127.0.0.1:8080")
	}
	return addr, nil
}

// listen listens for a command at an address that --listen names.
func listen(command string, at netip.AddrPort) (net.Listener, error) {
	listener, err := listenAt("--listen", at)
	if err != nil {
		return nil, &exit{exitError, fmt.Errorf("%s: %w", command, err)}
	}
	return listener, nil
}

// listenAt listens at an address that a flag names.
func listenAt(flag string, at netip.AddrPort) (net.Listener, error) {
	listener, err := net.Listen("tcp", at.String())
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%s is in use by another program: %s names another address, such as %s:0 for any free port", at, flag, at.Addr())
	}
	return listener, err
}
