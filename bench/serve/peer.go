//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
)

// peer serves pages as a program of a page would: net/http fetches, readability takes the article
// out, and JSON carries its markup and text. It knows no limit, no cache and no private address.
func peer() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			return
		}
		var ask struct {
			URL string `json:"url"`
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := article(client, ask.URL)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // who asked may have left
	}))
}

func article(client *http.Client, address string) (any, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	resp, err := client.Get(address)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a, err := readability.FromReader(resp.Body, u)
	if err != nil {
		return nil, err
	}
	var markup, text strings.Builder
	if err := a.RenderHTML(&markup); err != nil {
		return nil, err
	}
	if err := a.RenderText(&text); err != nil {
		return nil, err
	}
	return map[string]any{"url": address, "status": resp.StatusCode, "title": a.Title(), "html": markup.String(), "text": text.String()}, nil
}
