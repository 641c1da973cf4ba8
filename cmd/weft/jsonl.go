package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxAsked bounds a line of --jsonl, in bytes: a page of 16 MiB has 22 in base64.
const maxAsked = 32 << 20

// A refusal is why a line of --jsonl can't be answered.
type refusal struct {
	kind string // what is wrong: json, or the name of a field
	text string
}

func (r *refusal) Error() string { return r.text }

func refuse(kind, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

// fromBase64 reads a field of a line. One that is missing is refused.
func fromBase64(field string, value *string) ([]byte, error) {
	if value == nil {
		return nil, refuse(field, "no %s, expected bytes in base64", field)
	}
	b, err := base64.StdEncoding.DecodeString(*value)
	if err != nil {
		return nil, refuse(field, "%s: %v", field, err)
	}
	return b, nil
}

// answerLines reads each line of a file (args, or standard input) into a Q and prints
// what answer makes of it, an object, with the line's id as its first member; or the
// refusal that is its error. It does so before it reads the next line, so that a program
// can ask one thing at a time. Empty lines ask nothing.
func answerLines[Q any](command string, args []string, answer func(Q) (any, error)) error {
	f := os.Stdin
	if len(args) > 0 && args[0] != "-" {
		var err error
		if f, err = os.Open(args[0]); err != nil {
			return usage("%s: %.128q: %w, expected a file or - for standard input", command, args[0], reason(err))
		}
		defer f.Close()
	}
	in := bufio.NewReaderSize(f, maxAsked)
	out := terminal(os.Stdout)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		long := false
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return &exit{exitError, fmt.Errorf("%s: %w", command, reason(err))}
		}
		var told []byte
		switch {
		case long:
			told = appendAnswer(nil, number, nil, refuse("json", "longer than %d bytes", maxAsked))
		case len(bytes.TrimSpace(line)) > 0:
			told = answerLine(command, number, line, answer)
		}
		if len(told) > 0 {
			if _, err := out.Write(told); err != nil {
				return standardOutput(err)
			}
		}
		if err != nil {
			return nil
		}
	}
}

func answerLine[Q any](command string, number int, line []byte, answer func(Q) (any, error)) []byte {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	var q Q
	err := json.Unmarshal(line, &asked)
	if err == nil {
		err = json.Unmarshal(line, &q)
	}
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil && string(bytes.TrimSpace(line)) == "null":
		err = errors.New("null")
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return appendAnswer(asked.ID, number, nil, refuse("json", "%s: a %s, expected a %v", mistyped.Field, mistyped.Value, mistyped.Type))
	case mistyped != nil:
		err = errors.New(mistyped.Value)
	}
	if err != nil {
		return appendAnswer(asked.ID, number, nil, refuse("json", "%v, expected an object as weft %s --help tells", err, command))
	}
	told, err := answer(q)
	return appendAnswer(asked.ID, number, told, err)
}

// appendAnswer is the line that answers line number. Errors have a kind if they are
// refusals.
func appendAnswer(id json.RawMessage, number int, told any, err error) []byte {
	if err != nil {
		failed := struct {
			Error string `json:"error"`
			Kind  string `json:"kind"`
		}{Error: fmt.Sprintf("line %d: %v", number, err), Kind: "error"}
		var r *refusal
		if errors.As(err, &r) {
			failed.Kind = r.kind
		}
		told = failed
	}
	var object bytes.Buffer
	enc := json.NewEncoder(&object)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(told); err != nil {
		panic("weft: an answer that is no JSON: " + err.Error()) // strings and numbers cannot cause it
	}
	if len(id) == 0 {
		return object.Bytes()
	}
	line := append([]byte(`{"id":`), id...)
	if object.Len() > len("{}\n") {
		line = append(line, ',')
	}
	return append(line, object.Bytes()[1:]...)
}
