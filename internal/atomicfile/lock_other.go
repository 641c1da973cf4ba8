//go:build !unix

package atomicfile

import (
	"errors"
	"os"
)

func lock(*os.File) error { return errors.ErrUnsupported }

func openUnfollowed(string) (*os.File, error) { return nil, errors.ErrUnsupported }
