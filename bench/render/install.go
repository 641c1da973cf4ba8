//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// install copies the sites and the peers into a cache folder, has npm install what they need there,
// and builds them. The folder keeps the modules for later runs.
func install(source, cache string, pages []content) error {
	text, err := json.Marshal(pages)
	if err != nil {
		return err
	}
	for _, name := range []string{"sites", "peers"} {
		dir := filepath.Join(cache, name)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		installed, _ := os.ReadFile(filepath.Join(dir, "installed.json"))
		wanted, err := os.ReadFile(filepath.Join(source, name, "package.json"))
		if err != nil {
			return err
		}
		if err := command("", nil, "cp", "-r", filepath.Join(source, name)+"/.", dir); err != nil {
			return err
		}
		if bytes.Equal(installed, wanted) {
			continue
		}
		env := []string{"PUPPETEER_SKIP_DOWNLOAD=1", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1"}
		if err := command(dir, env, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent"); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "installed.json"), wanted, 0o666); err != nil {
			return err
		}
	}
	file := filepath.Join(cache, "content.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		return err
	}
	env := []string{"ASTRO_TELEMETRY_DISABLED=1", "WEFT_CONTENT=" + file}
	if err := command(filepath.Join(cache, "sites"), env, "node", "build.mjs", filepath.Join(cache, "built")); err != nil {
		return err
	}
	return command(filepath.Join(cache, "peers", "chromedp"), []string{"CGO_ENABLED=0"}, "go", "build", "-o", filepath.Join(cache, "chromedp-crawler"), ".")
}

func command(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}
