package main

import (
	"fmt"
	"os"

	"github.com/weftcrawl/weft/warc"
)

// openArchive opens a file of a command. Standard input is read from where it stands.
func openArchive(command, path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, usage("warc %s: %.128q: a folder, expected WARC files, such as those in archive of a job", command, path)
	}
	return openFile("warc "+command, path, fileArgument)
}

// reportDamage prints what of an archive cannot be read.
func reportDamage(path string, d *warc.DamageError) {
	fmt.Fprintf(os.Stderr, "weft: %s\n", printable(fmt.Sprintf("%s: %v", path, d)))
}
